import type { Fact, Stamped } from "../core/event.ts"
import type { Sink } from "../core/log.ts"

/** What every session says about itself before its first fact. */
export type Header = { legwork: 1; id: string; cwd: string; at: number; version: string }

export type Summary = { header: Header; updatedAt: number; bytes: number; title: string; running: boolean }

/** One session held by this process, and by no other until it is closed. */
export type Held = Sink & {
  header: Header
  /** A file of this session's own, for output too long for a message; returns its path. */
  keep(name: string, text: string): Promise<string>
  close(): Promise<void>
}

export type Stored = {
  header: Header
  facts: Stamped<Fact>[]
  /** What could not be read, in words: a torn last line, garbage, lines of an unknown kind. */
  lost: string[]
}

/** Where sessions live. May be remote: everything but `append` is asynchronous. */
export interface Store {
  create(header: Header): Promise<Held>
  /** Everything stored of a session, without holding it. */
  read(id: string): Promise<Stored>
  /**
   * Holds a stored session, to go on with it. Rejects when another process has it.
   * `seq` is the highest number that anything stored has, readable or not: new facts go on from there.
   */
  hold(id: string): Promise<{ held: Held; stored: Stored; seq: number }>
  /** Newest first. */
  list(): Promise<Summary[]>
}
