import type { Fence } from "../core/access.ts"
import { isWithin } from "../core/within.ts"
import { repositoryOf } from "./git.ts"
import { hiddenBy } from "./hidden.ts"
import { real } from "./real.ts"
import type { Profile } from "./sandbox.ts"

type Place = Pick<Profile, "root" | "readable" | "writable" | "env"> & { home: string }

/** What a fence means in a place as it is now. Throws when what it hides cannot be told. */
export async function profileFor(
  { level, network, hidden = [] }: Fence,
  { root, readable, writable, env, home }: Place,
): Promise<Profile> {
  const profile = { level, network, root, readable, writable, env }
  if (hidden.length === 0) return profile
  const shown = [...new Set([root, ...repositoryOf(root), ...readable, ...writable].flatMap(real))]
  const areas = shown.filter((path) => !shown.some((other) => other !== path && isWithin(path, other)))
  return { ...profile, masked: await hiddenBy(hidden, { root, home: real(home)[0] ?? home, areas }) }
}
