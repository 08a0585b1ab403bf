import { atMost, lacking, listed, only, type Test, without } from "./args.ts"
import { gitReads } from "./git.ts"
import type { Part } from "./shell.ts"
import { setsRisky } from "./variable.ts"
import { isSystem } from "./word.ts"

const always: Test = () => true

/** Programs that only read, whatever their arguments. */
const plain = listed(
  "ls dir cat head tail wc nl tac rev cut tr paste join comm fold fmt expand unexpand column stat du df pwd which type whereis whoami id groups uname arch nproc uptime free lscpu lsblk printenv basename dirname realpath readlink echo seq sleep true false : test [ cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum base64 base32 od hexdump strings nm size objdump readelf cmp diff colordiff exa eza lsd grep egrep fgrep zgrep zcat bzcat xzcat zipinfo jq cloc tokei scc ps pgrep locale getconf tty cal look ag more fd fdfind",
)

const table: Record<string, Test> = {
  ...Object.fromEntries(plain.map((name) => [name, always])),
  printf: without("-v"),
  file: without("-C --compile"),
  tree: without("-o"),
  rg: without("--pre --hostname-bin"),
  bat: without("--pager"),
  less: without("-o -O --log-file"),
  sort: without("-o --output --compress-program"),
  uniq: atMost(1),
  xxd: atMost(1),
  shuf: without("-o --output"),
  yq: without("-i --inplace"),
  date: without("-s --set"),
  hostname: ({ length }) => length === 0,
  env: ({ length }) => length === 0,
  mount: ({ length }) => length === 0,
  command: ([first]) => first === "-v" || first === "-V",
  find: lacking("-delete -fprint -fprint0 -fprintf -fls"),
  // Scripts that write or run something have such a letter where a command may stand.
  sed: (args) =>
    args.some((arg) => /^(-[nErz]*n[nErz]*|--quiet|--silent)$/.test(arg)) &&
    without("-i -s -f --in-place --file")(args) &&
    !args.some((arg) => /(^|[;{}$\d]|\/[gpiI\d]*)\s*[wWe](\s|$)/.test(arg)),
  awk: (args) => without("-f -i --file --include")(args) && !args.some((arg) => /[>|]|system|getline/.test(arg)),
  tar: ([first = "", ...rest]) =>
    /^-?[a-zA-Z]*t[a-zA-Z]*$|^--list$/.test(first) &&
    without("--to-command --checkpoint-action --use-compress-program -I")(rest),
  unzip: ([first = ""]) => /^-[lZvt]/.test(first),
  gzip: ([first = ""]) => first === "-l" || first === "--list",
  npm: only("ls list la ll root prefix bin outdated explain why"),
  pnpm: only("ls list why root bin"),
  yarn: only("list why info"),
  pip: only("list show freeze check"),
  pip3: only("list show freeze check"),
  cargo: only("tree metadata pkgid version"),
  go: (args) => only("version env list doc")(args) && without("-w -u")(args),
  rustup: only("show which"),
  git: gitReads,
}

/** A part that looks as if it only read. The fence that it runs in makes a wrong guess harmless. */
export function looksReading(part: Part): boolean {
  const { words, set, targets, runs, bare, doubt } = part
  if (doubt !== undefined || targets.some(({ way, word }) => way === "write" && !isNowhere(word.text))) return false
  const isLoud = ({ name, value }: Part["set"][number]) => !(/PAGER$/.test(name) && /^(cat)?$/.test(value.text))
  if (setsRisky({ ...part, set: set.filter(isLoud) })) return false
  if (!runs.every(looksReading)) return false
  const [program, ...args] = words.map(({ text }) => text)
  if (program === undefined || (bare && runs.length > 0)) return true
  if (!isSystem(program)) return false
  const name = program.slice(program.lastIndexOf("/") + 1)
  if (args.length === 1 && ["--version", "--help", "-V"].includes(args[0]!)) return true
  return (Object.hasOwn(table, name) && table[name]!(args)) || isSetting(name)
}

/** What a redirection may write to without changing anything. */
export const isNowhere = (path: string): boolean => /^\/dev\/(null|stdout|stderr|tty|fd\/\d+)$/.test(path)

/** Builtins that change nothing beyond the shell that they run in. */
const isSetting = (name: string): boolean =>
  listed(
    "cd pushd popd export declare typeset local readonly unset read mapfile readarray set shift wait exit return break continue let getopts trap shopt umask ulimit hash",
  ).includes(name)
