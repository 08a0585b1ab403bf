import type { Profile } from "./sandbox.ts"

/** What programs must be told to work behind a fence as they do outside, or to fail at once and plainly. */
export function variables({ env, network }: Profile, temporary: string): Record<string, string> {
  const first = Number(env.GIT_CONFIG_COUNT) || 0
  const settings = Object.entries(git).flatMap(([key, value], n) => [
    [`GIT_CONFIG_KEY_${first + n}`, key],
    [`GIT_CONFIG_VALUE_${first + n}`, value],
  ])
  return {
    ...env,
    TMPDIR: temporary,
    // A status that only refreshes its cache need not fail for want of a lock.
    GIT_OPTIONAL_LOCKS: "0",
    ...Object.fromEntries(settings),
    GIT_CONFIG_COUNT: `${first + Object.keys(git).length}`,
    ...(network ? {} : { npm_config_offline: "true" }),
  }
}

/** Other users' files look like nobody's inside, which git would not trust; its watcher speaks over a socket. */
const git = { "safe.directory": "*", "core.fsmonitor": "false" }
