import { aliased, evaluated, shellRuns, shells, sourced, trapped } from "./interpreter.ts"
import { doubtful, type Load } from "./load.ts"
import { scan } from "./option.ts"
import { executes, gitRuns, names, parallelRuns, xargsRuns } from "./runner.ts"
import { baseOf, hole, isSure, isSystem, type Word, wordOf } from "./word.ts"
import { wrapped, wrappers } from "./wrapper.ts"

type Runner = (words: readonly Word[], input: Word | undefined) => Load | undefined

/** What runs other things in a way of its own. */
const runners: Record<string, Runner> = {
  ...Object.fromEntries(Object.entries(wrappers).map(([name, kind]) => [name, (words) => wrapped(words, kind)])),
  ...Object.fromEntries([...shells].map((name) => [name, (words, input) => shellRuns(name, words, input)])),
  xargs: xargsRuns,
  parallel: parallelRuns,
  find: executes(["-exec", "-execdir", "-ok", "-okdir"]),
  fd: executes(["-x", "-X", "--exec", "--exec-batch"], [wordOf(hole)]),
  fdfind: executes(["-x", "-X", "--exec", "--exec-batch"], [wordOf(hole)]),
  git: gitRuns,
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
  const load = Object.hasOwn(runners, name) ? runners[name]!(words, input) : undefined
  return load && { ...load, bare: load.bare && isSystem(program.text) }
}

const optionsOf = (words: readonly Word[]) => scan(words, {}).seen
const asks = (words: readonly Word[]): boolean => optionsOf(words).some((option) => option === "v" || option === "V")
const splits = (words: readonly Word[]): boolean =>
  optionsOf(words).some((option) => option === "S" || option === "split-string")
