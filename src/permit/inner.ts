import { aliased, evaluated, shellRuns, shells, sourced, trapped } from "./interpreter.ts"
import { doubtful, type Load } from "./load.ts"
import { scan } from "./option.ts"
import { executes, fdRuns, gitRuns, hands, makeRuns, names, parallelRuns, xargsRuns } from "./runner.ts"
import { baseOf, isSure, isSystem, type Word } from "./word.ts"
import { type Wrapper, wrapped, wrappers } from "./wrapper.ts"

type Runner = (words: readonly Word[], input: Word | undefined) => Load | undefined

/** What runs other things in a way of its own. */
const runners: Record<string, Runner> = {
  ...Object.fromEntries(Object.entries(wrappers).map(([key, kind]) => [key, (words) => wrappedAs(key, words, kind)])),
  ...Object.fromEntries([...shells].map((name) => [name, (words, input) => shellRuns(name, words, input)])),
  xargs: xargsRuns,
  parallel: parallelRuns,
  find: executes(["-exec", "-execdir", "-ok", "-okdir"]),
  fd: fdRuns,
  fdfind: fdRuns,
  git: gitRuns,
  make: makeRuns,
  go: hands("-exec", "-toolexec", "-vettool", "--exec", "--toolexec", "--vettool"),
  npm: hands("--script-shell"),
  rsync: hands("-e", "--rsh", "--rsync-path"),
  tar: hands("--to-command", "--checkpoint-action", "--use-compress-program", "-I", "--info-script", "-F"),
  rg: names("pre", "hostname-bin"),
  hash: names("p"),
  eval: evaluated,
  trap: trapped,
  alias: aliased,
  source: sourced,
  ".": sourced,
  command: (words) => (asks(words) ? undefined : wrapped(words, wrappers.command!)),
  env: (words) => (splits(words) ? doubtful("env splits a text into words") : wrapped(words, wrappers.env!)),
}

/** Builtins that change what later words mean, or run what stands elsewhere. */
const dark = new Set(["enable", "fc", "bind", "complete", "compgen"])

/** What a command runs, if that is all or part of what it does. `input`: the text it is given to read, where that is known. */
export function innerOf(words: readonly Word[], input: Word | undefined): Load | undefined {
  const program = words[0]
  if (!program || !isSure(program)) return undefined
  const name = baseOf(program.text)
  if (dark.has(name)) return doubtful(`${name} changes what commands mean`)
  const key = [`${name} ${words[1]?.text}`, name].find((each) => Object.hasOwn(runners, each))
  const load = key === undefined ? undefined : runners[key]!(words, input)
  return load && { ...load, bare: load.bare && isSystem(program.text) }
}

/** With a subcommand, everything stands one word further on. */
function wrappedAs(key: string, words: readonly Word[], kind: Wrapper): Load | undefined {
  if (!key.includes(" ")) return wrapped(words, kind)
  const load = wrapped(words.slice(1), kind)
  return load && { ...load, runs: load.runs.map((run) => ("at" in run ? { ...run, at: run.at + 1 } : run)) }
}

const optionsOf = (words: readonly Word[]) => scan(words, {}).seen
const asks = (words: readonly Word[]): boolean => optionsOf(words).some((option) => option === "v" || option === "V")
const splits = (words: readonly Word[]): boolean =>
  optionsOf(words).some((option) => option === "S" || option === "split-string")
