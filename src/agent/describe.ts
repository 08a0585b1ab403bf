import type { Access } from "../core/access.ts"

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
