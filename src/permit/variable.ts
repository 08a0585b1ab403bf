import type { Part } from "./shell.ts"
import { hole } from "./word.ts"

const words = (text: string) => text.split(" ")

/** Variables that decide which program runs, what it loads first, or where it takes its orders from. */
const names = new Set(
  words(
    "PATH IFS ENV HOME SHELL PWD OLDPWD PS4 TMPDIR BROWSER VISUAL CC CXX CPP LD AR AS TERMCAP TERMINFO GLOBIGNORE FIGNORE GZIP",
  ),
)
const beginnings = words(
  "BASH LD_ DYLD_ GIT_ SSH_ XDG_ LESS PYTHON PERL RUBY JAVA _JAVA JDK NPM_ YARN_ PNPM_ PIP_ UV_ CARGO_ RUSTC RUSTDOC GO MAKE DOCKER_ KUBE AWS_ GPG GNUPG OPENSSL_ COREPACK_ CORECLR_ COR_ DOTNET_ LUA_ R_ TS_NODE_ TAR_ ANSIBLE_ TF_ NODE_COMPILE NODE_V8",
)
const ends = words(
  "PATH OPT OPTS OPTIONS FLAGS CONFIG WRAPPER COMMAND CMD EXEC ASKPASS EDITOR PAGER PROXY SHELL HOOK HOOKS PLUGIN PLUGINS PRELOAD RC HOME LIB HOST URL DIR DIRS FILE FILES ARGS INIT CONF MODULE MODULES LOADER PROFILE ENVIRON LAUNCHER COMPILER RSH SSH SCRIPT RUNNER",
)
const harmless = new Set(words("CARGO_TERM_COLOR PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE GOOS GOARCH"))

/** Variables that are heeded in small letters too. */
const anyCase = /^(npm|pnpm|yarn)_|_proxy$/i

/** Whether setting a variable may change what commands do, so that no rule about them covers it. */
export function isRisky(variable: string): boolean {
  const name = anyCase.test(variable) ? variable.toUpperCase() : variable
  if (harmless.has(name)) return false
  return (
    names.has(name) ||
    beginnings.some((beginning) => name.startsWith(beginning)) ||
    ends.some((end) => name.endsWith(end))
  )
}

/** Whether a part sets such a variable. For `read` alone, IFS only tells where words end. */
export const setsRisky = ({ words: [program], set }: Part): boolean =>
  set.some(({ name, value }) => isRisky(name) && !(name === "IFS" && program?.text === "read" && value.raw !== hole))
