import { call, serve } from "../src/testing.ts"

/** A provider in its own process: each conversation reads one file a turn, as often as its prompt says, then reports. */
const { url } = await serve(
  ({ messages }) => {
    const turns = Number(/\d+/.exec(messages[0]?.text ?? "")?.[0] ?? 0)
    const turn = messages.filter(({ role }) => role === "assistant").length
    if (turn >= turns)
      return { text: `I read ${turns} files and they are all alike.`, usage: { input: 1_000, output: 20 } }
    return {
      text: "Next.",
      calls: [call("read", { file_path: `file-${turn % 20}.txt` })],
      usage: { input: 1_000, output: 20 },
    }
  },
  { keep: 0 },
)
process.send?.(url)
process.on("disconnect", () => process.exit())
