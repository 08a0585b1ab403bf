import { doubtful, foreign, joined, type Load, loaded, type Run } from "./load.ts"
import { type Options, scan } from "./option.ts"
import { baseOf, isSure, type Word } from "./word.ts"

/** How a program names the command that it runs. */
export type Wrapper = Options & {
  /** Words between its options and the command. */
  operands?: number
  /** Options with which it stays bare; a wrapper without this never is. */
  plain?: string
  /** Assignments may stand before the command. */
  sets?: true
  /** What follows is a command unless it says otherwise: a text for a shell, or nothing that runs. */
  rest?: "text" | "nothing"
  /** Options whose value is given to a shell. */
  script?: string
  /** A rule that allows it allows all that it runs, for that is what people write such rules for. */
  whole?: true
}

const packaged: Wrapper = { takes: "p package c call w", flags: "y yes no q", script: "c call", whole: true }
const container: Wrapper = {
  takes: "e v w u p name env volume workdir user network",
  flags: "i t d rm",
  operands: 1,
  whole: true,
}

/** By a program's name, or by that and the word after it. */
export const wrappers: Record<string, Wrapper> = {
  timeout: {
    takes: "k s kill-after signal",
    operands: 1,
    plain: "k s v kill-after signal foreground preserve-status verbose",
  },
  nice: { takes: "n adjustment", plain: "n adjustment 0 1 2 3 4 5 6 7 8 9" },
  nohup: { plain: "" },
  stdbuf: { takes: "i o e input output error", plain: "i o e input output error" },
  time: { takes: "f o format output", plain: "p v portability verbose", flags: "a q" },
  env: { takes: "u C unset chdir", plain: "", flags: "i 0 v ignore-environment null debug", sets: true },
  command: { plain: "", flags: "p" },
  builtin: { plain: "" },
  exec: { takes: "a", plain: "", flags: "c l" },
  sudo: { takes: "u g h p C r t T U D R user group host prompt chdir", flags: "n E H S k K b i A e P s", sets: true },
  doas: { takes: "u C", flags: "n s L" },
  su: { takes: "c command s g G w", script: "c command", rest: "nothing" },
  runuser: { takes: "c command u s g G", flags: "l", script: "c command" },
  pkexec: { takes: "user" },
  gosu: { operands: 1 },
  ionice: { takes: "c n p P u class classdata", flags: "t" },
  chrt: { takes: "p T P D", flags: "a b f i m o r R d", operands: 1 },
  taskset: { flags: "a c p", operands: 1 },
  setsid: { flags: "c f w ctty fork wait" },
  unshare: { flags: "m u i n p U C T f r mount net pid user fork map-root-user" },
  nsenter: { takes: "t target", flags: "a m u i n p U C" },
  chroot: { operands: 1 },
  fakeroot: {},
  setarch: { flags: "R", operands: 1 },
  prlimit: {},
  flock: { takes: "c command w E timeout", flags: "s x e n o u F", operands: 1, script: "c command" },
  script: { takes: "c command O I B T t m", flags: "a e f q", script: "c command", rest: "nothing" },
  strace: { takes: "a b e E I o O p P s S u U X", flags: "c C d f F h i k n N q r t T v V w x y z" },
  ltrace: { takes: "a A D e F l n o p s u w x", flags: "b c C f h i L r S t T V" },
  valgrind: {},
  busybox: {},
  toybox: {},
  caffeinate: { takes: "t w", flags: "d i m s u" },
  unbuffer: { flags: "p" },
  watch: { takes: "n interval q", flags: "b c d e g p t w x", rest: "text" },
  ssh: { takes: "B b c D E e F I i J L l m O o P p Q R S W w", operands: 1, rest: "text" },
  entr: { flags: "a c d n p r s z" },
  setpriv: {},
  linux32: {},
  linux64: {},
  i386: {},
  numactl: { takes: "i m N C l p" },
  eatmydata: {},
  chronic: {},
  rlwrap: {},
  cpulimit: { takes: "l p e" },
  "systemd-run": { takes: "u p unit property" },
  "xvfb-run": { takes: "e f n p s w", flags: "a auto-servernum" },
  "dbus-run-session": {},
  "cross-env": { sets: true },
  sg: { operands: 1, rest: "text" },
  hyperfine: { takes: "w m M r p", rest: "text" },
  "nix-shell": { script: "run command", rest: "nothing" },
  npx: packaged,
  bunx: { flags: "bun", whole: true },
  "npm exec": packaged,
  "npm x": packaged,
  "pnpm exec": packaged,
  "pnpm dlx": packaged,
  "yarn exec": packaged,
  "yarn dlx": packaged,
  "bun x": { flags: "bun", whole: true },
  "uv run": { takes: "p python with extra group env-file", whole: true },
  "poetry run": { whole: true },
  "pipenv run": { whole: true },
  "bundle exec": { whole: true },
  "conda run": { takes: "n p name prefix cwd", whole: true },
  "direnv exec": { operands: 1, whole: true },
  "mise exec": { whole: true },
  "asdf exec": { whole: true },
  "docker exec": container,
  "docker run": container,
  "podman exec": container,
  "podman run": container,
  "kubectl exec": { takes: "c container n namespace", flags: "i t stdin tty", operands: 1, whole: true },
  mapfile: { takes: "C c d n O s u", script: "C", rest: "nothing" },
  readarray: { takes: "C c d n O s u", script: "C", rest: "nothing" },
  jobs: { flags: "x" },
}

/** What a wrapper runs; undefined if it was given nothing to run. */
export function wrapped(words: readonly Word[], wrapper: Wrapper): Load | undefined {
  const load = carried(words, wrapper)
  return load && { ...load, ...(wrapper.whole && { whole: true }) }
}

function carried(words: readonly Word[], wrapper: Wrapper): Load | undefined {
  const { takes = "", flags = "", plain, operands = 0 } = wrapper
  const { at: start, seen, values, odd } = scan(words, { takes, flags: `${flags} ${plain ?? ""}` })
  const options = wrapper.script?.split(" ") ?? []
  const scripts = scriptsIn(words, options)
  if (scripts.length > 0) return loaded(scripts)
  const attached = options.flatMap((option) => values.get(option) ?? [])
  if (attached.length > 0) return loaded(attached.map(({ text }) => foreign(text)))
  // A dash alone is how `env` is told to forget all others.
  const first = start + operands + (wrapper.sets && words[start]?.text === "-" ? 1 : 0)
  const [at, set] = wrapper.sets ? afterAssignments(words, first) : [first, []]
  if (at >= words.length || wrapper.rest === "nothing") return undefined
  if (!words.slice(1, at).every(isSure)) return doubtful(`what ${baseOf(words[0]!.text)} runs depends on a variable`)
  if (wrapper.rest === "text") return loaded([foreign(joined(words.slice(at)))])
  const open = new Set(plain?.split(" "))
  const bare = plain !== undefined && first === start + operands && seen.every((option) => open.has(option))
  // After an option that nobody knows, the first word may be its value.
  const starts = odd && at + 1 < words.length ? [at, at + 1] : [at]
  return { bare, runs: starts.map((from) => ({ words: words.slice(from), at: from, set })) }
}

/** The texts that such options name, wherever they stand. */
const scriptsIn = (words: readonly Word[], options: readonly string[]): Run[] =>
  words.flatMap(({ text }, n) => {
    const [, short, long, value] = /^(?:-\w*(\w)|--([\w-]+)(?:=(.*))?)$/s.exec(text) ?? []
    if (!options.includes(short ?? long ?? "")) return []
    return value === undefined ? (words[n + 1] ? [foreign(words[n + 1]!.text)] : []) : [foreign(value)]
  })

function afterAssignments(words: readonly Word[], from: number): [number, string[]] {
  const end = words.findIndex(({ text }, n) => n >= from && !text.includes("="))
  const at = end < 0 ? words.length : end
  return [at, words.slice(from, at).map(({ text }) => text.slice(0, text.indexOf("=")))]
}
