import { has, listed, operandsOf } from "./args.ts"
import type { Part, Target } from "./shell.ts"
import { mayFit, piecesOf } from "./wildcard.ts"
import { baseOf, hole, isSure, type Word, wordOf } from "./word.ts"

/** A file that an argument names: surely, or perhaps. */
export type Named = Target & { by: "name" | "guess" }

/** Programs that print what is in the files they are given. */
const printers = new Set(
  listed(
    "cat head tail less more nl tac rev cut paste join comm sort uniq wc grep egrep fgrep zgrep rg ag sed awk jq yq diff cmp xxd od hexdump strings base64 bat cp source .",
  ),
)
/** Programs that change the files they are given, and those that only change the last. */
const writers = new Set(listed("tee rm unlink shred touch truncate mv ln"))
const copiers = new Set(listed("cp install rsync scp"))
/** Programs whose arguments are no files. */
const speakers = new Set(listed("echo printf test [ true false : exit return kill sleep export set unset cd"))

/** The files that a command's arguments name, as far as can be told. */
export function namedBy({ words: [program, ...args] }: Part): Named[] {
  const name = baseOf(program?.text ?? "")
  if (!program || speakers.has(name)) return []
  return [...written(name, args), ...args.flatMap((word) => readings(name, word))]
}

function written(name: string, args: readonly Word[]): Named[] {
  const texts = args.map(({ text }) => text)
  const operands = args.filter(({ text }) => operandsOf([text]).length > 0)
  const outputs = args.flatMap(({ text }) => (text.startsWith("of=") ? [wordOf(text.slice(3))] : []))
  const isEdit = name === "sed" && (has(texts, "-i") || has(texts, "--in-place"))
  const files = writers.has(name) || isEdit ? operands : copiers.has(name) ? operands.slice(-1) : []
  return [...files, ...(name === "dd" ? outputs : [])].map((word) => ({ way: "write", word, by: "name" }))
}

/** A word may be a name, or hold one behind an option or a sign. */
function readings(name: string, word: Word): Named[] {
  const by = printers.has(name) && isSure(word) ? "name" : "guess"
  const whole: Named[] = word.text.startsWith("-") ? [] : [{ way: "read", word, by }]
  const [, tail] = /^(?:-\w|-.*?=|[^=:@]*[=:@])([^-].*)$/s.exec(word.text) ?? []
  return tail === undefined ? whole : [...whole, { way: "read", word: wordOf(tail), by: "guess" }]
}

/**
 * Whether a word with holes may turn out to be what a pattern spells out last. A name that is all hole says nothing,
 * unless that stands in what fills it.
 */
export function mayName(pattern: string, { raw, text }: Word): boolean {
  const wanted = pattern
    .toLowerCase()
    .split("/")
    .findLast((name) => /[^*.~]/.test(name))
  if (wanted === undefined) return false
  if (raw.toLowerCase().includes(wanted)) return true
  const pieces = piecesOf(wanted.replaceAll(/\?|\[[^\]]*\]|\{[^}]*\}/g, "*"))
  const names = text.toLowerCase().split("/")
  return names.some((name) => name.replaceAll(hole, "") !== "" && mayFit(pieces, name))
}
