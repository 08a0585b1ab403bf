import type { Limits } from "../core/event.ts"
import type { RunSettings } from "./settings.ts"

/** People write seconds. */
export function inMilliseconds({ tokens, cost, tools, timeout, idle }: RunSettings): Partial<Limits> {
  return {
    ...(tokens !== undefined && { tokens }),
    ...(cost !== undefined && { cost }),
    ...(tools !== undefined && { tools }),
    ...(timeout !== undefined && { timeout: timeout * 1_000 }),
    ...(idle !== undefined && { idle: idle * 1_000 }),
  }
}
