import type { Access } from "../core/access.ts"
import type { Gate, Verdict } from "./scope.ts"

export type Mode = "default" | "acceptEdits" | "plan" | "bypass"

const allow: Verdict = { do: "allow" }
const ask: Verdict = { do: "ask" }
const deny = (why: string): Verdict => ({ do: "deny", why })

/** What a mode says to each access. Asked in one place, before every call of every run. */
export const gateFor =
  (mode: Mode): Gate =>
  ({ access }) => {
    if (access.kind === "none" || access.kind === "agent") return allow
    if (access.kind === "write" && !access.inside) return deny(`${access.path} is outside the workspace: not written`)
    if (mode === "bypass") return allow
    if (access.kind === "read") return access.inside ? allow : ask
    if (mode === "plan" && access.kind !== "fetch")
      return deny("plan mode is read-only: describe the change instead of making it")
    if (access.kind === "write" && mode === "acceptEdits") return access.guarded ? ask : allow
    return ask
  }

/** An access in a few words, for questions and reports. */
export function describe(access: Access): string {
  switch (access.kind) {
    case "none":
      return "nothing outside itself"
    case "read":
      return `read ${access.path}`
    case "write":
      return `write ${access.path}`
    case "run":
      return `run ${access.command}`
    case "fetch":
      return `fetch ${access.url}`
    case "agent":
      return `start agent ${access.name}`
    default:
      return access satisfies never
  }
}
