import { doubtful, joined, type Load, loaded, ours } from "./load.ts"
import { scan } from "./option.ts"
import { isSure, type Word } from "./word.ts"

export const shells = new Set(["bash", "sh", "dash", "ash", "rbash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh"])
/** Those whose texts are read as we read them. */
const familiar = new Set(["bash", "sh", "dash", "ash"])

/** What a shell runs: a text in its arguments, or one that it reads. A script in a file is a program like any other. */
export function shellRuns(name: string, words: readonly Word[], input: Word | undefined): Load | undefined {
  const { at, seen, values, odd } = scan(words, { takes: "o O rcfile init-file", flags: "c e u x" })
  const operand = words[at]
  const posix = name !== "bash"
  if (!words.slice(1, at).every(isSure) || operand?.text.startsWith("+"))
    return doubtful(`what ${name} runs depends on its options`)
  if (seen.includes("c")) {
    const isPlain =
      familiar.has(name) && !odd && !seen.includes("O") && (values.get("o")?.text ?? "pipefail") === "pipefail"
    return operand && { bare: isPlain, runs: [{ script: operand, posix }] }
  }
  if (seen.includes("version") || seen.includes("help")) return undefined
  if (operand && !seen.includes("s") && !isStream(operand))
    return isSure(operand) ? undefined : doubtful(`what ${name} runs depends on a variable`)
  return input ? loaded([{ script: input, posix }]) : doubtful(`${name} runs what it is given to read`)
}

/** `source` and `.`: a file is a program like any other, what comes from a stream is not. */
export function sourced(words: readonly Word[], input: Word | undefined): Load | undefined {
  const file = words[1]
  if (!file || !isStream(file)) return undefined
  return input ? loaded([ours(input.text)]) : doubtful("it runs what it is given to read")
}

const isStream = ({ raw, text }: Word): boolean => raw.startsWith("<(") || /^(-$|\/dev\/(stdin|fd)|\/proc\/)/.test(text)

export const evaluated = (words: readonly Word[]): Load | undefined =>
  words.length > 1 ? { bare: true, runs: [ours(joined(words.slice(1)))] } : undefined

/** What a trap runs, unless it is only shown or reset. */
export function trapped(words: readonly Word[]): Load | undefined {
  const [first, second] = words.slice(words[1]?.text === "--" ? 2 : 1)
  if (!first || !second || first.text === "" || first.text === "-") return undefined
  return { bare: true, runs: [ours(first.text)] }
}

/** What the names will stand for. */
export const aliased = (words: readonly Word[]): Load | undefined =>
  loaded(words.slice(1).flatMap(({ text }) => (text.includes("=") ? [ours(text.slice(text.indexOf("=") + 1))] : [])))
