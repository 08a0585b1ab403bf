import { isObject, parsed } from "./json.ts"
import type { Layer, Said, Trim } from "./layers.ts"
import { modeWords, type Permissions, verdicts } from "./permissions.ts"
import type { Diagnostic } from "./settings.ts"

const unknown = "for what it denies is not known"

/** What of Claude's settings counts here: rules, hooks and their switch. The rest is not ours to judge, and a mistake stops nothing. */
export function readClaude({ file, content }: Layer, trim: Trim): Said {
  const lost = (message: string): Said => ({
    settings: {},
    diagnostics: [{ severity: "warning", file, message: `${message}, ${unknown}` }],
    lost: true,
  })
  if (content.got === "refused") return lost(content.why)
  const json = parsed(content.text)
  if ("what" in json) return lost(`line ${json.line} is not JSON (${json.what}); put it right`)
  if (!isObject(json.value)) return lost("is not an object in { }; make it one")
  const { permissions, hooks, disableAllHooks } = json.value
  const { kept, diagnostics } = trim({ permissions, hooks })
  const said = isObject(kept) ? kept : {}
  const rules = readPermissions(said.permissions ?? {}, file)
  const settings = { permissions: rules.permissions, hooks: said.hooks }
  const odd = typeof (disableAllHooks ?? false) === "boolean" ? [] : [oddSwitch(file)]
  const told = [...diagnostics, ...rules.diagnostics, ...odd]
  return { settings, diagnostics: told, lost: rules.lost, ...(disableAllHooks === true && { silent: true }) }
}

/** A guard is turned off by nothing less than a plain word. */
const oddSwitch = (file: string): Diagnostic => ({
  severity: "warning",
  file,
  key: "disableAllHooks",
  message: "is neither true nor false, so hooks run; put it right",
})

function readPermissions(said: unknown, file: string): Omit<Said, "settings"> & { permissions: Permissions } {
  const permissions: Permissions = {}
  const diagnostics: Diagnostic[] = []
  const warn = (key: string, message: string) => diagnostics.push({ severity: "warning", file, key, message })
  if (!isObject(said)) {
    warn("permissions", `is not an object in { }; make it one, ${unknown}`)
    return { permissions, diagnostics, lost: true }
  }
  let lost = false
  for (const verdict of verdicts) {
    const list = said[verdict] ?? []
    const texts = Array.isArray(list) ? list.filter((each) => typeof each === "string") : []
    permissions[verdict] = texts
    if (Array.isArray(list) && texts.length === list.length) continue
    const why = "is not a list of texts in [ ]; make it one"
    // Without a rule that allows, more is asked and nothing is lost.
    warn(`permissions.${verdict}`, verdict === "allow" ? why : `${why}, ${unknown}`)
    lost ||= verdict !== "allow"
  }
  const mode = said.defaultMode ?? undefined
  if (mode !== undefined) {
    const known = isModeWord(mode) ? mode : "plan"
    // That somebody lets another program do everything says nothing about this one.
    if (modeWords[known] === "bypass") warn("permissions.defaultMode", "bypass counts only in Legwork's own settings")
    else permissions.defaultMode = known
    // A mode that nobody knows may have been meant to restrict.
    if (!isModeWord(mode))
      warn("permissions.defaultMode", `is no mode, so plan counts; there are ${Object.keys(modeWords).join(", ")}`)
  }
  return { permissions, diagnostics, lost }
}

const isModeWord = (word: unknown): word is keyof typeof modeWords =>
  typeof word === "string" && Object.hasOwn(modeWords, word)
