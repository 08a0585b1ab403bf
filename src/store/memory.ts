import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Fact, Stamped } from "../core/event.ts"
import { keepText } from "./keep.ts"
import { checkId, unknownSession } from "./session-id.ts"
import type { Header, Held, Store, Stored, Summary } from "./store.ts"
import { StoreError, storeError } from "./store-error.ts"
import { newestFirst, titleOf } from "./summary.ts"

/** `lines` are facts as text, so that nobody can change what is stored. */
type Session = { header: Header; lines: string[]; bytes: number; title?: string; updatedAt: number; running: boolean }

/** Sessions that end with the process. Texts that are kept stand in a temporary folder until their session is closed. */
export function memory({ clock = Date.now, folder = tmpdir() }: { clock?: () => number; folder?: string } = {}): Store {
  const sessions = new Map<string, Session>()
  const find = (id: string): Session => {
    checkId(id)
    const session = sessions.get(id)
    if (!session) throw unknownSession(id, [...sessions.keys()])
    return session
  }
  return {
    create: async (header) => {
      checkId(header.id)
      if (sessions.has(header.id))
        throw new StoreError("bad_session", `there is a session ${header.id} already; hold it to go on with it`)
      const session: Session = { header, lines: [], bytes: 0, updatedAt: clock(), running: true }
      sessions.set(header.id, session)
      return held(session, clock, folder)
    },
    read: async (id) => stored(find(id)),
    hold: async (id) => {
      const session = find(id)
      if (session.running)
        throw new StoreError("locked", `session ${id} is in use by this process (${process.pid}); close it there first`)
      session.running = true
      const now = stored(session)
      const seq = now.facts.reduce((most, fact) => Math.max(most, fact.seq), 0)
      return { held: held(session, clock, folder), stored: now, seq }
    },
    list: async () => [...sessions.values()].map(summary).sort(newestFirst),
  }
}

const stored = ({ header, lines }: Session): Stored => ({
  header: { ...header },
  facts: lines.map((line) => JSON.parse(line)),
  lost: [],
})

const summary = ({ header, updatedAt, bytes, title = "", running }: Session): Summary => ({
  header: { ...header },
  updatedAt,
  bytes,
  title,
  running,
})

function held(session: Session, clock: () => number, folder: string): Held {
  let failure: StoreError | undefined
  let kept: Promise<string> | undefined
  let closing: Promise<void> | undefined
  const close = async () => {
    const lost = failure
    failure ??= new StoreError("io", `session ${session.header.id} is closed; hold it again to go on with it`)
    session.running = false
    await kept?.then(
      (made) => rm(made, { recursive: true, force: true }),
      () => {}, // whoever wanted to keep something was told
    )
    if (lost) throw lost
  }
  return {
    header: session.header,
    append: (fact) => {
      if (failure) return
      try {
        add(session, fact, clock())
      } catch (error) {
        failure = storeError(`store fact ${fact.seq} (${fact.type})`, error)
      }
    },
    synced: async () => {
      if (failure) throw failure
    },
    keep: async (name, text) => {
      try {
        kept ??= mkdtemp(join(folder, "legwork-"))
        return await keepText(await kept, name, text)
      } catch (error) {
        throw storeError(`keep a text in ${folder}`, error)
      }
    },
    close: () => (closing ??= close()),
  }
}

function add(session: Session, fact: Stamped<Fact>, at: number): void {
  const line = JSON.stringify(fact)
  session.lines.push(line)
  session.bytes += line.length
  session.updatedAt = at
  if (fact.type === "mail.sent") session.title ??= titleOf(fact.text)
}
