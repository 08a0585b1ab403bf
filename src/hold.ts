import { reasonOf } from "./core/error.ts"
import type { Fact, Stamped } from "./core/event.ts"
import { SessionError } from "./folders.ts"
import { jsonl } from "./store/jsonl.ts"
import { randomHex } from "./store/random.ts"
import type { Held, Store } from "./store/store.ts"
import { version } from "./version.ts"

export type Holding = { held: Held; facts: Stamped<Fact>[]; seq: number }
export type Asked = { store?: Store; resume?: string; state: string; cwd: string; warn(text: string): void }

/** Makes a session's place on disk, or takes hold of one that is there. */
export async function holdSession({ store, resume, state, cwd, warn }: Asked): Promise<Holding> {
  const sessions = store ?? jsonl({ folder: state })
  if (resume !== undefined) return take(sessions, resume, { cwd, warn })
  const header = { legwork: 1, id: newSessionId(), cwd, at: Date.now(), version } as const
  try {
    return { held: await sessions.create(header), facts: [], seq: 0 }
  } catch (error) {
    if (store) throw error
    warn(`this session will not be kept: ${reasonOf(error)}`)
    const { memory } = await import("./store/memory.ts")
    return { held: await memory().create(header), facts: [], seq: 0 }
  }
}

async function take(sessions: Store, id: string, { cwd, warn }: Pick<Asked, "cwd" | "warn">): Promise<Holding> {
  const { held, stored, seq } = await sessions.hold(id)
  if (held.header.cwd !== cwd) {
    await held.close()
    throw new SessionError(`session ${id} belongs to ${held.header.cwd}; go there, or name it with --cwd`)
  }
  for (const loss of stored.lost) warn(`session ${id}: ${loss}`)
  return { held, facts: stored.facts, seq }
}

/** Sorts by time, and cannot be guessed. */
function newSessionId(): string {
  const time = new Date()
    .toISOString()
    .replaceAll(/[-:]|\..*/g, "")
    .replace("T", "-")
  return `${time}-${randomHex(8)}`
}
