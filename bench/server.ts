import { call, serve } from "../src/testing.ts"

/**
 * A provider in its own process. A conversation that begins with `lead n k` starts n children that read k files each; one
 * that begins with `read k` reads one file a turn, k times. Both then report.
 */
const usage = { input: 1_000, output: 20 }
const { url } = await serve(
  ({ messages }) => {
    const [doing, ...numbers] = (messages[0]?.text ?? "").split(" ")
    const turn = messages.filter(({ role }) => role === "assistant").length
    if (doing === "lead") {
      const [children = 0, files = 0] = numbers.map(Number)
      if (turn > 0) return { text: `I led ${children} and they are all done.`, usage }
      const task = { description: "read", prompt: `read ${files} files`, subagent_type: "explore" }
      return { calls: Array.from({ length: children }, () => call("task", task)), usage }
    }
    const files = Number(numbers[0])
    if (turn >= files) return { text: `I read ${files} files and they are all alike.`, usage }
    return { text: "Next.", calls: [call("read", { file_path: `file-${turn % 20}.txt` })], usage }
  },
  { keep: 0 },
)
process.send?.(url)
process.on("disconnect", () => process.exit())
