import { readFileSync } from "node:fs"
import { basename, dirname, isAbsolute, join } from "node:path"
import { isWithin } from "../core/within.ts"

/** Variables that say where a tool or its certificates are. */
const named =
  `CARGO_HOME RUSTUP_HOME NVM_DIR FNM_DIR VOLTA_HOME ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR PNPM_HOME BUN_INSTALL
  DENO_DIR VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT POETRY_HOME RBENV_ROOT GEM_HOME GOROOT GOPATH GOMODCACHE JAVA_HOME MAVEN_HOME
  GRADLE_HOME ANDROID_HOME DOTNET_ROOT SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE`.split(
    /\s+/,
  )

/** What tools keep in a home without telling: parts of themselves, and packages. No settings, and so no secrets. */
const kept =
  `.rustup .cargo/registry .cargo/git go/pkg/mod .m2/repository .local/lib .local/pipx .local/share/pipx .local/share/uv
  .local/share/mise .local/share/fnm`.split(/\s+/)

/** These hold far more than tools. */
const mixed = ["", ".local", ".local/share", ".config"]

/** The folders of PATH and what their programs need beside them, which is mostly the folder that holds `bin`. */
export function toolchains(env: Record<string, string>, homes: readonly string[]): string[] {
  const inHomes = (names: readonly string[]): string[] => homes.flatMap((home) => names.map((name) => join(home, name)))
  const isMixed = (path: string): boolean => inHomes(mixed).some((folder) => isWithin(folder, path))
  const folders = (env.PATH ?? "").split(":").filter(isAbsolute)
  const roots = folders.filter((path) => /^(s?bin|shims)$/.test(basename(path))).map(dirname)
  const values = named.flatMap((name) => (isAbsolute(env[name] ?? "") ? [env[name]!] : []))
  return [...folders, ...roots, ...values, ...inHomes(kept)].filter((path) => !isMixed(path))
}

/** The user's settings of git, as far as they hold nothing that looks like a secret. */
export function userSettings(env: Record<string, string>, homes: readonly string[]): string[] {
  const folders = [...homes.map((home) => join(home, ".config")), env.XDG_CONFIG_HOME ?? ""].filter(isAbsolute)
  const settings = [
    ...homes.map((home) => join(home, ".gitconfig")),
    ...folders.map((folder) => join(folder, "git/config")),
  ]
  const lists = folders.flatMap((folder) => [join(folder, "git/ignore"), join(folder, "git/attributes")])
  return [...settings.filter(isHarmless), ...lists]
}

const secret = /:\/\/[^\s/]*@|extraheader|token|passw|secret|oauth|authorization|bearer/i

function isHarmless(file: string): boolean {
  try {
    return !secret.test(readFileSync(file, "utf8"))
  } catch {
    return false
  }
}
