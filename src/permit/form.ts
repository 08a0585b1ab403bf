import { shells } from "./interpreter.ts"
import type { Part } from "./shell.ts"
import { type Pieces, piecesOf } from "./wildcard.ts"
import { baseOf, hole } from "./word.ts"

type Pair = { pieces: Pieces; text: string }

/** A pattern and a command in every way in which both may be meant: without quotes, wherever the program lies. */
export function pairsOf(pattern: string, part: Part): Pair[] {
  const even = evened(pattern)
  const sub = afterOptions(part, even)
  const flags = besideFlags(part, even)
  return [
    ...crossed(even, [...textsOf(part), ...(sub === undefined ? [] : [sub])]),
    ...(flags ? crossed(flags.pattern, [flags.text]) : []),
  ]
}

/** The program that a pattern is about; undefined if it may be any. */
export function programOf(pattern: string): string | undefined {
  const [first = ""] = unquoted(evened(pattern).replace(/:\*$/, "")).split(" ")
  return first.includes("*") || first === "" ? undefined : baseOf(first)
}

/** A star after a space may also stand for nothing; `:*` is another way to write it. */
export function endingsOf(pattern: string): string[] {
  const [, head] = /^(.+?)(?: \*|:\*)$/s.exec(pattern) ?? []
  return head === undefined ? [pattern] : [head, `${head} *`]
}

export const evened = (text: string): string => text.trim().replaceAll(/\s+/g, " ")

const unquoted = (text: string): string => text.replaceAll(/["']|\\(?!\*)/g, "")

/** With the program's plain name in front. */
function lowered(text: string): string {
  const [first = ""] = text.split(" ")
  return first.includes("*") ? text : baseOf(first) + text.slice(first.length)
}

function crossed(pattern: string, texts: readonly string[]): Pair[] {
  // The star of `npm run test:*` may have been meant for the rest of the word.
  const asIs = / .*:\*$/.test(pattern) ? [pattern] : []
  const patterns = [pattern, unquoted(pattern)].flatMap(endingsOf).concat(asIs)
  const spellings = [...new Set(patterns.flatMap((each) => [each, lowered(each)]))].map(piecesOf)
  const forms = [...new Set(texts.map(evened).flatMap((text) => [text, lowered(text)]))]
  return spellings.flatMap((pieces) => forms.map((text) => ({ pieces, text })))
}

/** What a command may be known by. */
function textsOf({ words, set }: Part): string[] {
  const texts = words.map(({ text }) => text)
  const rows = [texts, words.map(({ raw }) => raw)]
  if (words.some(({ raw }) => raw.startsWith("~")))
    rows.push(words.map(({ raw, text }) => (raw.startsWith("~") ? text.replace("~", hole) : text)))
  if (set.length > 0) rows.push([...set.map(({ name, value }) => `${name}=${value.text}`), ...texts])
  // Many programs run what stands after two dashes.
  if (texts.includes("--")) rows.push(texts.slice(texts.indexOf("--") + 1))
  // A shell that is given a file runs that.
  if (shells.has(baseOf(texts[0] ?? ""))) rows.push(texts.slice(1))
  return rows.map((row) => row.join(" "))
}

/** `git -C x push` is also `git push`. */
function afterOptions({ words }: Part, pattern: string): string | undefined {
  const [program = "", ...rest] = words.map(({ text }) => text)
  const sub = unquoted(pattern.replace(/:\*$/, "")).split(" ")[1] ?? "*"
  if (/^[*-]/.test(sub) || !rest[0]?.startsWith("-") || baseOf(program) !== programOf(pattern)) return undefined
  const at = rest.indexOf(sub)
  return at < 0 ? undefined : [program, ...rest.slice(at)].join(" ")
}

/** `rm -r -v -f x` is also `rm -rf x`: where all letters of a pattern's options are there, both are compared without. */
function besideFlags({ words }: Part, pattern: string): { pattern: string; text: string } | undefined {
  const wanted = parted(pattern.split(" "))
  const given = parted(words.map(({ text }) => text))
  if (wanted.letters.length === 0 || !wanted.letters.every((letter) => given.letters.includes(letter))) return undefined
  return { pattern: wanted.rest, text: given.rest }
}

function parted(words: readonly string[]): { letters: string[]; rest: string } {
  const isFlag = (word: string) => /^-[A-Za-z]+$/.test(word)
  return {
    letters: words.filter(isFlag).flatMap((word) => [...word.slice(1)]),
    rest: words.filter((word) => !isFlag(word)).join(" "),
  }
}
