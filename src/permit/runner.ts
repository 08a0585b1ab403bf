import { doubtful, foreign, type Load, loaded, opened, type Run } from "./load.ts"
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
    const isHidden = words.some(
      (word) => !isSure(word) && (word.text.replaceAll(hole, "").startsWith("-") || word.raw.includes("{-")),
    )
    return loaded(isHidden ? [...runs, { doubt: "one of its options is not spelled out" }] : runs)
  }

/** Its letters may stand together, and a long option may hold the program. */
export function fdRuns(words: readonly Word[]): Load | undefined {
  const apart = words.flatMap((word): Word[] => {
    const [, option, program] = /^(--exec(?:-batch)?)=(.*)$/s.exec(word.text) ?? []
    if (option !== undefined && program !== undefined) return [wordOf(option), wordOf(program)]
    const [, letter] = /^-\w+([xX])$/.exec(word.text) ?? []
    return letter === undefined ? [word] : [wordOf(`-${letter}`)]
  })
  return executes(["-x", "-X", "--exec", "--exec-batch"], [wordOf(hole)])(apart)
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

/** The texts that such options hand to a shell, or start as a program. */
export const hands =
  (...options: string[]) =>
  (words: readonly Word[]): Load | undefined =>
    loaded(
      words.flatMap(({ text }, n): Run[] => {
        const option = options.find((each) => text === each || text.startsWith(`${each}=`))
        if (option === undefined) return []
        const value = text === option ? (words[n + 1]?.text ?? "") : text.slice(option.length + 1)
        return value === "" ? [] : [foreign(value.replace(/^exec=/, ""))]
      }),
    )

/** Make runs what its variables and texts in its options say. */
export const makeRuns = (words: readonly Word[]): Load | undefined =>
  words.some(({ text }) => /^(--ev|-E|SHELL[:+?]*=|\.SHELLFLAGS|MAKE)/.test(text))
    ? doubtful("an option of make says what it runs")
    : undefined

/** Settings of git that name a place to take programs from, or a way to start any. */
const leading = /(hookspath|templatedir|include.*path|gitproxy|packobjectshook|protocol\..*allow|worktree)$/i
const commanding =
  /^(alias|pager)\.|(pager|editor|command|fsmonitor|askpass|external|textconv|cmd|helper|program|driver|clean|smudge|process)$/i

/** Options that hand over a command, attached or as the next word; and the subcommands in which they do. */
const handed: [RegExp, RegExp][] = [
  [/^--(?:exec|extcmd|upload-pack|receive-pack|open-files-in-pager)=(.+)$/s, /^/],
  [/^--(?:exec|extcmd|upload-pack|receive-pack)$/, /^/],
  [/^-x(.*)$/s, /^(rebase|difftool)$/],
  [/^-O(.+)$/s, /^grep$/],
  [/^-u$/, /^clone$/],
  [/^--\w+-filter$/, /^filter-branch$/],
]

/** Git runs what some of its settings say, and some of its subcommands run others. */
export function gitRuns(words: readonly Word[]): Load | undefined {
  const said = words.map(({ text }) => text)
  const runsAt = (text: string, at: number): Run[] => {
    const next = said[at + 1] ?? ""
    const setting = text === "-c" || text === "--config" ? next : text.replace(/^--config=/, "")
    const [, key = "", value = ""] = /^([\w.-]+)=!?(.*)$/s.exec(setting) ?? []
    if (setting !== text && commanding.test(key)) return [foreign(value)]
    if (setting !== text && leading.test(key)) return [{ doubt: `${key} says what git runs` }]
    if (/^ext::/.test(text)) return [foreign(text.slice(5))]
    const [option] = handed.find(([form, sub]) => form.test(text) && said.some((word) => sub.test(word))) ?? []
    if (option) return [foreign(option.exec(text)?.[1] || next)]
    if (text === "run" && said[at - 1] === "bisect") return [{ words: words.slice(at + 1), at: at + 1, set: [] }]
    if (text !== "foreach" || !said.includes("submodule")) return []
    const script = said.slice(at + 1).filter((word) => !/^--?\w/.test(word))
    return [foreign(script.join(" "))]
  }
  return loaded(said.flatMap(runsAt))
}
