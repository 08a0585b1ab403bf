import { scan } from "./option.ts"
import type { Part } from "./shell.ts"
import { hole, type Word, wordOf } from "./word.ts"

export const declaring = new Set(["export", "declare", "typeset", "local", "readonly"])
export const reading = new Set(["read", "mapfile", "readarray", "getopts"])

/** Variables that bash keeps as numbers: it calculates what is put into them. */
const numbers = new Set(["RANDOM", "SRANDOM", "SECONDS", "LINENO", "OPTIND", "HISTCMD"])
const operator = /^(-[a-z]{1,2}|[!=<>]{1,2}|[)\]])$/

/** The words in which a builtin gets the names of variables; also those that may turn out to hold an option with one. */
export function namesIn(words: readonly Word[]): Word[] {
  const [program, ...rest] = words
  const name = program?.text ?? ""
  if (declaring.has(name) || name === "unset") return words.slice(scan(words, {}).at)
  switch (name) {
    case "read": {
      const { at, values } = scan(words, { takes: "a d i n N p t u" })
      const array = values.get("a")
      return [...words.slice(at), ...(array ? [array] : []), ...[...values.values()].filter(isSplit)]
    }
    case "mapfile":
    case "readarray":
      return words.slice(scan(words, { takes: "C c d n O s u" }).at)
    case "getopts":
      return rest.slice(1, 2)
    case "printf":
      return [...optionOf("v", words), ...rest.slice(0, 1).filter(mayBeOption)]
    case "wait":
      return [...optionOf("p", words), ...rest.filter(mayBeOption)]
    case "test":
    case "[":
      return rest.filter((word, n) => {
        const isNamed = /^-[vR]$/.test(rest[n - 1]?.text ?? "")
        return isNamed || (mayBeOption(word) && (isSplit(word) || !operator.test(rest[n + 1]?.text ?? "]")))
      })
    default:
      return []
  }
}

/** The variables that a builtin sets by name. */
export function setBy(words: readonly Word[]): Part["set"] {
  if (/^(test|\[|wait)$/.test(words[0]?.text ?? "")) return []
  return namesIn(words).flatMap(({ text }) => {
    const [, variable] = plain.exec(text) ?? []
    return variable === undefined ? [] : [{ name: variable, value: wordOf(hole) }]
  })
}

export const variableOf = (text: string): string => text.split(/\[|\+?=/)[0]!

/** Whether bash calculates in order to know, or to set, the variable that a word names. */
export const isCalculated = (text: string): boolean => !plain.test(text) || numbers.has(variableOf(text))

/** Whether a word gives a text to a name. If that is an array's, bash reads the text as code. */
export const givesText = ({ raw, text }: Word): boolean =>
  new RegExp(`=[(${hole}]`).test(text) && !/^\w+\+?=\(/.test(raw)

const plain = /^([A-Za-z_]\w*)(?:\[\d*\])?(?:\+?=.*)?$/s

function optionOf(option: string, words: readonly Word[]): Word[] {
  const value = scan(words, { takes: option }).values.get(option)
  return value ? [value] : []
}

/** Such as `$?`. */
const isNumber = (raw: string): boolean => /^"?\$[?!#$]"?$/.test(raw)
const mayBeOption = ({ raw, text }: Word): boolean => text.startsWith(hole) && !isNumber(raw)
/** Whether a word may become several. */
const isSplit = ({ raw, text }: Word): boolean => text.includes(hole) && !isNumber(raw) && !/^"[^"@]*"$/.test(raw)
