import type { Interface } from "node:readline"
import { printable } from "../../core/one-line.ts"

/** One terminal that is written on and typed on. */
export type Paper = {
  /** More of a text that need not end with a line. */
  write(text: string): void
  /** A line of its own. What is being typed is put below it again. */
  line(text: string): void
  /** Waits for a line, after what was typed of it so far. */
  prompt(): void
  /** Waits for the answer to a question, with nothing typed yet. */
  ask(words: string): void
  /** Goes back to what was being typed when the question came. */
  answered(): void
  /** Somebody has ended a line. */
  entered(): void
  /** What was typed so far is not joined to the next line. */
  drop(): void
}

export function paper(rl: Interface, out: { write(text: string): unknown }): Paper {
  /** Whether a prompt is on show, and whether we are at the beginning of a line. */
  let [prompting, fresh] = [false, true]
  /** What was being typed when a question came. */
  let kept = ""
  const clear = () => {
    if (prompting) out.write("\r\u001b[J")
    if (prompting) fresh = true
    prompting = false
  }
  const show = () => {
    if (!fresh) out.write("\n")
    ;[prompting, fresh] = [true, false]
    rl.prompt(true)
  }
  const drop = () => {
    if (rl.line === "") return
    rl.write(null, { ctrl: true, name: "e" })
    rl.write(null, { ctrl: true, name: "u" })
    prompting = true // writing shows the prompt
    clear()
  }
  return {
    write(text) {
      const shown = printable(text)
      if (shown === "") return
      clear()
      out.write(shown)
      fresh = shown.endsWith("\n")
    },
    line(text) {
      const typing = prompting
      clear()
      out.write(`${fresh ? "" : "\n"}${printable(text)}\n`)
      fresh = true
      if (typing) show()
    },
    prompt() {
      clear()
      show()
    },
    ask(words) {
      // Words that were meant for the agent must not become an answer.
      kept ||= rl.line
      drop()
      clear()
      rl.setPrompt(words)
      show()
    },
    answered() {
      const typing = prompting
      rl.setPrompt("> ")
      drop()
      clear()
      if (typing || kept !== "") show()
      if (kept !== "") rl.write(kept)
      kept = ""
    },
    entered() {
      ;[prompting, fresh] = [false, true]
    },
    drop,
  }
}
