import { type Config, type Diagnostic, type Mode, modes, type Settings } from "./settings.ts"

/** Keys that say where code, keys and money go, what may be reached, or what a user's own words mean. */
const withheld = ["providers", "prices", "directories", "environment", "aliases", "agents"]

export type Trimmed<T> = { kept: T; diagnostics: Diagnostic[] }

/** Takes out what a file that came with a repository may not say, before anything of it is looked at. */
export function withhold(raw: unknown, file: string): Trimmed<unknown> {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return { kept: raw, diagnostics: [] }
  const taken = withheld.filter((key) => Object.hasOwn(raw, key))
  const kept = Object.fromEntries(Object.entries(raw).filter(([key]) => !withheld.includes(key)))
  const message = "a project may not set this; put it into your own settings"
  return { kept, diagnostics: taken.map((key) => ({ severity: "warning", file, key, message })) }
}

/** What is left may only take power away from what the layers below give. */
export function tighten(settings: Settings, below: Config, file: string): Trimmed<Settings> {
  const kept = structuredClone(settings)
  const diagnostics: Diagnostic[] = []
  const warn = (key: string, message: string) => diagnostics.push({ severity: "warning", file, key, message })

  if (kept.permissionMode && looseness(kept.permissionMode) > looseness(below.permissionMode)) {
    delete kept.permissionMode
    warn("permissionMode", `a project may not loosen it; it stays ${below.permissionMode}`)
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
    warn("web.allowPrivate", "a project may not set this; put it into your own settings")
  }
  if (kept.web?.searchBaseURL !== undefined) {
    delete kept.web.searchBaseURL
    warn("web.searchBaseURL", "a project may not set this; put it into your own settings")
  }
  return { kept, diagnostics }
}

const looseness = (mode: Mode): number => modes.indexOf(mode)
