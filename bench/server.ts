import { setTimeout } from "node:timers/promises"
import { call, type Fault, type Reply, serve, shaped } from "../src/testing.ts"
import { ticks } from "./ticks.ts"

/**
 * A provider in its own process. What it says hangs on how a conversation begins:
 * `lead n k` starts n children that read k files each, `flow n k` n children that say k words at 50 a second, `hold n` n
 * forks; `read k` reads one small file a turn, k times, and `study k` a large one. All then report. `flowing` is told once, when the first child begins to say.
 */
const usage = { input: 1_000, output: 20 }
const tokensPerSecond = 50
const part = "take your part of the work"
let isFlowing = false

type Told = { numbers: number[]; turn: number; last: string; bytes: number }

/** Whoever has waited finds its caches cold. All turns of `study` wait as long, or the late ones would for the server's reading. */
const thinking = 3

const scripts: Record<string, (told: Told) => Reply | Fault | Promise<Reply>> = {
  lead: ({ numbers: [children = 0, files = 0], turn }) => led(children, `read ${files} files`, turn),
  flow: ({ numbers: [children = 0, words = 0], turn }) => led(children, `say ${words}`, turn),
  say: ({ numbers: [words = 0] }) => {
    if (!isFlowing) process.send?.("flowing")
    isFlowing = true
    return shaped({ text: prose(words), usage }, { tokensPerSecond })
  },
  hold: ({ numbers: [children = 0], turn, last }) => {
    if (last.includes(part)) return { text: "I read 1 part.", usage }
    if (turn > 0) return { text: `I led ${children} and they are all done.`, usage }
    const task = { description: "part", prompt: part, context: "fork" }
    return { calls: Array.from({ length: children }, () => call("task", task)), usage }
  },
  study: async ({ numbers: [files = 0], turn, bytes }) => {
    await setTimeout(thinking)
    if (turn >= files) return { text: `I read ${files} files, and all that came to ${bytes} bytes.`, usage }
    return { calls: [call("read", { file_path: `large-${turn}.txt` })], usage }
  },
  read: ({ numbers: [files = 0], turn }) => {
    if (turn >= files) return { text: `I read ${files} files and they are all alike.`, usage }
    return { text: "Next.", calls: [call("read", { file_path: `file-${turn % 20}.txt` })], usage }
  },
}

function led(children: number, prompt: string, turn: number): Reply {
  isFlowing = false
  if (turn > 0) return { text: `I led ${children} and they are all done.`, usage }
  const task = { description: prompt, prompt, subagent_type: "explore" }
  return { calls: Array.from({ length: children }, () => call("task", task)), usage }
}

/** Paragraphs of some forty words. */
const prose = (words: number): string =>
  Array.from({ length: words }, (_, n) => (n % 40 === 39 ? "whole.\n\n" : "legwork ")).join("")

const { url } = await serve(
  ({ messages, last, raw }) => {
    const [doing = "", ...numbers] = (messages[0]?.text ?? "").split(" ", 3)
    const turn = messages.filter(({ role }) => role === "assistant").length
    const script = scripts[doing]
    if (!script) throw new Error(`no script for ${doing}; there are ${Object.keys(scripts).join(", ")}`)
    return script({ numbers: numbers.map(Number), turn, last, bytes: raw.length })
  },
  { keep: 0, wait: ticks() },
)
process.send?.(url)
process.on("disconnect", () => process.exit())
