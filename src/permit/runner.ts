import { foreign, type Load, loaded, opened, type Run } from "./load.ts"
import { scan } from "./option.ts"
import { hole, isSure, type Word, wordOf } from "./word.ts"
import { wrapped } from "./wrapper.ts"

/** Its command gets more words at the end, or where a mark stands. */
export function xargsRuns(words: readonly Word[]): Load | undefined {
  const takes = "I n P L s E d a max-args max-procs max-lines max-chars delimiter arg-file eof"
  const plain = "0 r n P L I d t x null no-run-if-empty max-args max-procs max-lines replace delimiter"
  const { seen, values } = scan(words, { takes })
  const hasMark = ["I", "i", "replace"].some((option) => seen.includes(option))
  const mark = (values.get("I") ?? values.get("replace"))?.text ?? "{}"
  const filled = (command: readonly Word[]): Word[] =>
    hasMark ? command.map((word) => opened(word, mark)) : [...command, wordOf(hole)]
  const load = wrapped(words, { takes, plain, flags: "i l o p" })
  const runs = load?.runs.map((run): Run => ("words" in run ? { ...run, words: filled(run.words) } : run))
  return load && runs && { ...load, runs }
}

/** The commands between such an option and the `;` or `+` that ends it. `more`: what each of them gets in addition. */
export const executes =
  (options: readonly string[], more: readonly Word[] = []) =>
  (words: readonly Word[]): Load | undefined => {
    const starts = words.flatMap(({ text }, n) => (options.includes(text) ? [n + 1] : []))
    const endOf = (at: number) => words.findIndex(({ text }, n) => n >= at && (text === ";" || text === "+"))
    const commandAt = (at: number) => words.slice(at, endOf(at) < 0 ? undefined : endOf(at))
    const filled = (at: number) => [...commandAt(at).map((word) => opened(word, "{}")), ...more]
    const runs = starts.map((at): Run => ({ words: filled(at), at, set: [] }))
    // Half an option may turn out to be one of these.
    const isHidden = words.some((word) => !isSure(word) && word.text.replaceAll(hole, "").startsWith("-"))
    return loaded(isHidden ? [...runs, { doubt: "one of its options is not spelled out" }] : runs)
  }

/** What follows is a command or several, with marks of many kinds. */
export const parallelRuns = (words: readonly Word[]): Load | undefined =>
  loaded([
    ...(wrapped(words, { takes: "j jobs N n I a d", rest: "text" })?.runs ?? []),
    { doubt: "parallel puts its commands together as it runs" },
  ])

/** The programs that are the values of such options. */
export const names =
  (...options: string[]) =>
  (words: readonly Word[]): Load | undefined => {
    const { values } = scan(words, { takes: options.join(" ") })
    const programs = options.flatMap((option) => values.get(option) ?? [])
    // No rule spells these out by where they stand.
    return loaded(programs.map((program) => ({ words: [program], at: Number.POSITIVE_INFINITY, set: [] })))
  }

const commanding =
  /^(alias|pager)\.|(pager|editor|command|fsmonitor|askpass|external|textconv|cmd|helper|program|driver|clean|smudge|process)$/i

/** Git runs what some of its settings say, and some of its subcommands run others. */
export function gitRuns(words: readonly Word[]): Load | undefined {
  const said = words.map(({ text }) => text)
  const runsAt = (text: string, at: number): Run[] => {
    const next = said[at + 1] ?? ""
    const [, key = "", value = ""] = /^([\w.-]+)=!?(.*)$/s.exec(next) ?? []
    if (text === "-c" && commanding.test(key)) return [foreign(value)]
    const [, command] = /^--(?:exec|extcmd|upload-pack|receive-pack)=(.+)$/s.exec(text) ?? []
    if (command !== undefined) return [foreign(command)]
    if (said.includes("rebase") && (text === "-x" || text === "--exec")) return [foreign(next)]
    if (text === "run" && said[at - 1] === "bisect") return [{ words: words.slice(at + 1), at: at + 1, set: [] }]
    if (text !== "foreach" || !said.includes("submodule")) return []
    const script = said.slice(at + 1).filter((word) => !/^--?\w/.test(word))
    return [foreign(script.join(" "))]
  }
  return loaded(said.flatMap(runsAt))
}
