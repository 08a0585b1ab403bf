import { inMilliseconds } from "./config/seconds.ts"
import type { Config } from "./config.ts"
import type { Limits } from "./core/event.ts"

/** A task's own limits, then its agent's, then those of the settings. */
export const limitsOf =
  ({ limits, children }: Config) =>
  (agent: Partial<Limits>, task: Partial<Limits>, depth: number): Limits => {
    const { turns, ...rest } = depth === 0 ? limits : children
    return { turns, ...inMilliseconds(rest), ...agent, ...task }
  }
