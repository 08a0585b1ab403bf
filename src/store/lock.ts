import { linkSync, readFileSync, rmSync } from "node:fs"
import { codeOf } from "../core/error.ts"
import { isAlive, type Process, startOf } from "./alive.ts"
import { hashOf } from "./line.ts"
import { privateFileNow } from "./private.ts"
import { randomHex } from "./random.ts"
import { StoreError } from "./store-error.ts"

type Owner = Process & { host: string; token: string }
type Claim = { path: string; owner: Owner }

type Taker = { id: string; host: string; alive?: typeof isAlive }

/** Far more than there are processes that want one session at a time. */
const mostTries = 1_000

export type Lock = { release(): Promise<void> }

// Plain calls throughout: each takes microseconds, and together they were a good part of a start as promises.

/**
 * Takes the lock file at `path`, or throws when a living process has it.
 *
 * A lock is never replaced. Who finds its owner dead makes the file of its heir, named after the dead owner's token; a
 * link fails if there is one already, so each owner has one heir at most, and the last of the line has the lock.
 */
export async function takeLock(path: string, { id, host, alive = isAlive }: Taker): Promise<Lock> {
  const me: Owner = { pid: process.pid, start: (await startOf(process.pid)) ?? "", host, token: randomHex(18) }
  const draft = `${path}.${me.token}.new`
  try {
    privateFileNow(draft, `${JSON.stringify(me)}\n`)
    for (let tries = 1; ; tries++) {
      const line = lineOf(path)
      const last = line.at(-1)
      if (last && (await holds(last.owner, host, alive))) throw refusal(id, path, last.owner, host)
      const mine = last ? heirOf(path, last.owner) : path
      if (!linked(draft, mine)) {
        if (tries === mostTries) throw new StoreError("io", `${mine} is in the way and is no lock; delete it`)
        // Somebody else was faster: they have their turn, and so has the rest of this process.
        await new Promise((resolve) => setImmediate(resolve))
        continue
      }
      // A line whose first file went away while we looked was released: what we inherited from it is nothing.
      if (!last || lineOf(path)[0]?.owner.token === line[0]?.owner.token)
        return { release: async () => release(path, me) }
      rmSync(mine, { force: true })
    }
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Whether a living process, or one of another machine, has the lock. */
export async function isLocked(path: string, host: string): Promise<boolean> {
  const last = lineOf(path).at(-1)
  return last !== undefined && (await holds(last.owner, host, isAlive))
}

/** The first file goes first: from then on nobody can inherit from the others. */
function release(path: string, me: Owner): void {
  const line = lineOf(path)
  if (line.at(-1)?.owner.token !== me.token) return
  for (const claim of line) rmSync(claim.path, { force: true })
}

const heirOf = (path: string, owner: Owner): string => `${path}.${owner.token}`

/** The first owner and its heirs, in order. */
function lineOf(path: string): Claim[] {
  const line: Claim[] = []
  for (let next = path; ; ) {
    const text = textOf(next)
    if (text === undefined) return line
    const owner = ownerIn(text) ?? { pid: 0, start: "", host: "", token: hashOf(`${next} ${text}`) }
    line.push({ path: next, owner })
    next = heirOf(path, owner)
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error
    return undefined
  }
}

/** Undefined when a power cut left the file without its text, which means that its owner is gone too. */
function ownerIn(text: string): Owner | undefined {
  try {
    const { pid, start, host, token } = JSON.parse(text)
    const sound = Number.isInteger(pid) && typeof start === "string" && typeof host === "string"
    return sound && /^[0-9a-f-]{36}$/.test(token) ? { pid, start, host, token } : undefined
  } catch {
    return undefined
  }
}

const holds = async (owner: Owner, host: string, alive: typeof isAlive): Promise<boolean> =>
  owner.pid > 0 && (owner.host !== host || (await alive(owner)))

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false
    throw error
  }
}

function refusal(id: string, path: string, owner: Owner, host: string): StoreError {
  if (owner.host !== host) {
    const advice = `close it there or, if that machine no longer works on it, delete ${path}`
    return new StoreError("locked", `session ${id} is in use on ${owner.host} by process ${owner.pid}; ${advice}`)
  }
  const who = owner.pid === process.pid ? `this process (${owner.pid})` : `process ${owner.pid}`
  return new StoreError("locked", `session ${id} is in use by ${who}; close it there first, or start a new session`)
}
