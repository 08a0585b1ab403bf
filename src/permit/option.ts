import { type Word, wordOf } from "./word.ts"

/** What a program's options look like, as letters and long names. */
export type Options = { takes?: string; flags?: string }

/** The options before the first operand, and where that is. `odd`: one of them is not known, so it may take a value. */
export type Scan = { at: number; seen: string[]; values: Map<string, Word>; odd: boolean }

const listed = (text = "") => new Set(text.split(" "))

export function scan(words: readonly Word[], { takes, flags }: Options): Scan {
  const valued = listed(takes)
  const known = listed(flags)
  const seen: string[] = []
  const values = new Map<string, Word>()
  let at = 1
  const take = (name: string, attached: string | undefined) => {
    const value = attached === undefined ? words[++at] : wordOf(attached)
    if (value) values.set(name, value)
  }
  for (; at < words.length; at++) {
    const { text } = words[at]!
    if (!/^-./.test(text)) break
    if (text === "--") {
      at++
      break
    }
    const [, name, attached] = /^--([^=]+)(?:=(.*))?$/s.exec(text) ?? []
    if (name !== undefined) {
      seen.push(name)
      if (attached !== undefined || valued.has(name)) take(name, attached)
      continue
    }
    const letters = text.slice(1)
    const taker = [...letters].findIndex((letter) => valued.has(letter))
    seen.push(...(taker < 0 ? letters : letters.slice(0, taker + 1)))
    if (taker >= 0) take(letters[taker]!, letters.slice(taker + 1) || undefined)
  }
  return { at, seen, values, odd: seen.some((name) => !valued.has(name) && !known.has(name)) }
}
