// A chat front end with two channels: what is asked on one of them is answered there.
import { open } from "legwork"

const session = await open({ cwd: process.argv[2] ?? "." })
const stop = new AbortController()
const serving = session.serve({ signal: stop.signal })

/** Shows the answers of one channel, as a real one would send them. */
async function show(channel: string, count: number): Promise<void> {
  for await (const { chatId, text } of session.bus.out.consume({ channel })) {
    console.log(`${channel}, to ${chatId}: ${text}`)
    if (--count === 0) return
  }
}

const shown = [show("web", 2), show("phone", 1)]
await session.bus.in.publish({ channel: "web", chatId: "anna", text: "How is it tested?" })
await session.bus.in.publish({ channel: "phone", chatId: "555-0100", text: "How is it configured?" })
await session.bus.in.publish({ channel: "web", chatId: "bert", text: "How is it documented?" })
await Promise.all(shown)
stop.abort()
await serving
await session.close()
