import { isSecretName } from "../core/secret.ts"

/** What a command inherits by name. Everything else stays behind, so a new secret is safe before anyone lists it. */
const inherited = new Set(
  `PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR CI DISPLAY
  JAVA_HOME MAVEN_HOME GRADLE_HOME GRADLE_USER_HOME ANDROID_HOME ANDROID_SDK_ROOT
  GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOPROXY GOFLAGS CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN
  NVM_DIR NVM_BIN FNM_DIR VOLTA_HOME ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR PNPM_HOME BUN_INSTALL DENO_DIR
  VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV PYENV_ROOT PYTHONPATH POETRY_HOME UV_CACHE_DIR
  RBENV_ROOT GEM_HOME GEM_PATH BUNDLE_PATH DOTNET_ROOT NIX_PATH NIX_PROFILES
  CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LD_LIBRARY_PATH LIBRARY_PATH CPATH PKG_CONFIG_PATH MAKEFLAGS
  SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
  HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy`.split(/\s+/),
)

const families = /^(LC|XDG)_[A-Z_]+$/
const proxy = /_proxy$/i

/** So that nothing pages, prompts or paints: there is nobody at a terminal to answer. */
const fixed = {
  TERM: "dumb",
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  DEBIAN_FRONTEND: "noninteractive",
  LEGWORK: "1",
}

/** The environment of a command: the listed names, those that settings add, and never one that sounds like a secret. */
export function environment(env: NodeJS.ProcessEnv, allow: readonly string[] = []): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || isSecretName(name)) continue
    if (!inherited.has(name) && !families.test(name) && !allow.includes(name)) continue
    kept[name] = proxy.test(name) ? withoutCredentials(value) : value
  }
  return { ...kept, ...fixed }
}

const withoutCredentials = (address: string): string => address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?[^/]*@/i, "$1")
