import { resolve } from "node:path"
import { isWithin } from "../core/within.ts"
import { scan } from "./option.ts"
import type { Part } from "./shell.ts"
import { isSure, type Word } from "./word.ts"

const harmless = new Set(
  "true false : exit return break continue shift wait pwd sleep echo printf test [ read unset trap".split(" "),
)
const declaring = new Set(["export", "declare", "typeset", "local", "readonly"])

type Filter = { takes?: string; opens?: string; operands?: number }

const grep: Filter = {
  takes: "A B C m after-context before-context context max-count",
  opens: "e f r R d D regexp file recursive dereference-recursive directories devices exclude-from",
  operands: 1,
}

/** What only passes on what it reads: its options that take a value, those that would open files, and its own operands. */
const filters: Record<string, Filter> = {
  cat: {},
  head: { takes: "n c lines bytes" },
  tail: { takes: "n c lines bytes" },
  wc: { opens: "files0-from" },
  sort: {
    takes: "k t S key field-separator",
    opens: "o T output temporary-directory compress-program files0-from random-source",
  },
  uniq: { takes: "f s w" },
  cut: { takes: "d f c b delimiter fields" },
  tr: { operands: 2 },
  rev: {},
  nl: { takes: "b d f h i l n s v w" },
  tac: { takes: "s" },
  fold: { takes: "w" },
  grep,
  egrep: grep,
  fgrep: grep,
}

/** Whether a part needs no rule beside others that have one: it changes nothing, and opens no file by name. */
export function isQuiet({ words, runs }: Part, root: string): boolean {
  const [program, ...args] = words
  if (runs.length > 0) return false
  if (!program) return true
  const name = program.text
  if (harmless.has(name)) return true
  if (name === "cd") return args.length === 1 && isInside(args[0]!, root)
  if (name === "exec") return args.length === 0
  if (name === "set") return args.every(({ text }) => /^[-+][aefuxo]+$|^(pipefail|errexit|nounset|xtrace)$/.test(text))
  if (declaring.has(name)) return args.every(({ text }) => /^[A-Za-z_]\w*(\+?=|$)/.test(text))
  return Object.hasOwn(filters, name) && args.every(isSure) && isFilter(words)
}

function isFilter(words: readonly Word[]): boolean {
  const { takes = "", opens = "", operands = 0 } = filters[words[0]!.text]!
  const { at, seen } = scan(words, { takes })
  // Long options may be cut short.
  const isOpening = (option: string) => opens.split(" ").some((name) => name.startsWith(option))
  return words.length - at <= operands && !seen.some(isOpening)
}

function isInside(folder: Word, root: string): boolean {
  if (!isSure(folder) || /^[-~]/.test(folder.raw) || folder.text.split("/").includes("..")) return false
  return isWithin(resolve(root, folder.text), root)
}
