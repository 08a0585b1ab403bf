import { isFilled, isObject } from "./json.ts"
import { modeWords } from "./permissions.ts"
import { type Config, type Diagnostic, type Mode, modes, type Settings, sandboxes } from "./settings.ts"

/** Keys that say where code, keys and money go, what may be reached, or what a user's own words mean. */
const withheld = ["providers", "prices", "directories", "environment", "aliases", "agents"]

const ownOnly = "a project may not set this; put it into your own settings"

export type Trimmed<T> = { kept: T; diagnostics: Diagnostic[] }

/** Takes out what a file that came with a repository may not say, before anything of it is looked at. */
export function withhold(raw: unknown, { file, trusted }: { file: string; trusted: boolean }): Trimmed<unknown> {
  if (!isObject(raw)) return { kept: raw, diagnostics: [] }
  const taken = withheld.filter((key) => Object.hasOwn(raw, key))
  const kept = Object.fromEntries(Object.entries(raw).filter(([key]) => !withheld.includes(key)))
  const diagnostics = taken.map((key): Diagnostic => ({ severity: "warning", file, key, message: ownOnly }))
  const suspect = trusted ? [] : takeSuspect(kept)
  if (suspect.length > 0) {
    const message = `${suspect.join(" and ")} of a project count once you trust it; read them, then run: legwork trust`
    diagnostics.push({ severity: "warning", file, message })
  }
  return { kept, diagnostics }
}

/** Takes out what counts only in a folder that the user trusts, and names what there was. */
function takeSuspect(settings: Record<string, unknown>): string[] {
  const { hooks, permissions } = settings
  const taken = isFilled(hooks) ? ["hooks"] : []
  delete settings.hooks
  if (!isObject(permissions)) return taken
  const { allow, ...others } = permissions
  settings.permissions = others
  return isFilled(allow) ? ["permissions.allow", ...taken] : taken
}

/** What is left may only take power away from what the layers below give. */
export function tighten({ hooks, ...settings }: Settings, below: Config, file: string): Trimmed<Settings> {
  const kept = structuredClone(settings)
  const diagnostics: Diagnostic[] = []
  const warn = (key: string, message: string) => diagnostics.push({ severity: "warning", file, key, message })

  const mode = modeIn(kept)
  if (mode && isLooser(modes, mode, below.permissionMode)) {
    warn(kept.permissionMode ? "permissionMode" : "permissions.defaultMode", loosens(below.permissionMode))
    delete kept.permissionMode
    delete kept.permissions?.defaultMode
  }
  if (kept.sandbox && isLooser(sandboxes, kept.sandbox, below.sandbox)) {
    delete kept.sandbox
    warn("sandbox", loosens(below.sandbox))
  }
  if (kept.network && !below.network) {
    delete kept.network
    warn("network", loosens(below.network))
  }
  for (const group of ["limits", "children"] as const) {
    const [asked, have]: Record<string, number>[] = [kept[group] ?? {}, below[group]]
    for (const [key, value] of Object.entries(asked!)) {
      if (value <= (have![key] ?? Number.POSITIVE_INFINITY)) continue
      delete asked![key]
      warn(`${group}.${key}`, `a project may not raise it; it stays ${have![key]}`)
    }
  }
  if (kept.web?.allowPrivate && !below.web.allowPrivate) {
    delete kept.web.allowPrivate
    warn("web.allowPrivate", ownOnly)
  }
  if (kept.web?.searchBaseURL !== undefined) {
    delete kept.web.searchBaseURL
    warn("web.searchBaseURL", ownOnly)
  }
  return { kept: { ...kept, hooks }, diagnostics }
}

const loosens = (stays: string | boolean): string => `a project may not loosen it; it stays ${stays}`

/** Where a layer uses both words for the mode, the tighter counts. */
export function modeIn({ permissionMode, permissions }: Settings): Mode | undefined {
  const other = permissions?.defaultMode && modeWords[permissions.defaultMode]
  if (!permissionMode || !other) return permissionMode ?? other
  return isLooser(modes, permissionMode, other) ? other : permissionMode
}

/** By a list from the tightest to the loosest. */
const isLooser = <T>(order: readonly T[], one: T, other: T): boolean => order.indexOf(one) > order.indexOf(other)
