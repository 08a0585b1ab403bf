const words = (text: string) => text.split(" ")

/** Variables that decide which program runs, what it loads first, or where it takes its orders from. */
const names = new Set(
  words(
    "PATH IFS ENV HOME SHELL PWD OLDPWD PS4 TMPDIR BROWSER VISUAL CC CXX CPP LD AR AS TERMCAP TERMINFO GLOBIGNORE FIGNORE",
  ),
)
const beginnings = words(
  "BASH LD_ DYLD_ GIT_ SSH_ XDG_ LESS PYTHON PERL RUBY JAVA _JAVA JDK NPM_ YARN_ PNPM_ PIP_ UV_ CARGO_ RUSTC RUSTDOC GO MAKE DOCKER_ KUBE AWS_ GPG GNUPG",
)
const ends = words(
  "PATH OPT OPTS OPTIONS FLAGS CONFIG WRAPPER COMMAND CMD EXEC ASKPASS EDITOR PAGER PROXY SHELL HOOK HOOKS PLUGIN PLUGINS PRELOAD RC HOME LIB HOST URL DIR FILE ARGS",
)
const harmless = new Set(words("CARGO_TERM_COLOR PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE GOOS GOARCH"))

/** Whether setting a variable may change what commands do, so that no rule about them covers it. */
export function isRisky(variable: string): boolean {
  const name = variable.toUpperCase()
  if (harmless.has(name)) return false
  return (
    names.has(name) ||
    beginnings.some((beginning) => name.startsWith(beginning)) ||
    ends.some((end) => name.endsWith(end))
  )
}
