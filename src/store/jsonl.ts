import { access, readdir } from "node:fs/promises"
import { hostname } from "node:os"
import { join } from "node:path"
import { openBlobs } from "./blobs.ts"
import { keepText } from "./keep.ts"
import { idsIn, listSessions } from "./list.ts"
import { type Lock, takeLock } from "./lock.ts"
import { privateFolder } from "./private.ts"
import { readSession } from "./read.ts"
import { createFile, reopenFile } from "./session-file.ts"
import { checkId, unknownSession } from "./session-id.ts"
import type { Header, Held, Store } from "./store.ts"
import { storeError } from "./store-error.ts"
import { type Target, Writer } from "./writer.ts"

/** Sessions as files in `folder`: one line a fact under `sessions`, long texts by hash under `blobs`. */
export function jsonl({ folder, host = hostname() }: { folder: string; host?: string }): Store {
  const sessions = join(folder, "sessions")
  const blobs = openBlobs(join(folder, "blobs"))
  const pathOf = (id: string) => join(sessions, `${id}.jsonl`)
  const names = () => readdir(sessions).catch(() => [])
  const locked = async <T>(id: string, work: (lock: Lock) => Promise<T>): Promise<T> =>
    keptIf(await takeLock(join(sessions, `${id}.lock`), { id, host }), work)

  const find = async (id: string): Promise<string> => {
    checkId(id)
    await access(pathOf(id)).catch(async () => {
      throw unknownSession(id, idsIn(await names()))
    })
    return pathOf(id)
  }

  return {
    create: async (header) => {
      checkId(header.id)
      return tried(`create a session in ${folder}`, async () => {
        await privateFolder(sessions)
        return locked(header.id, async (lock) =>
          held(header, createFile(pathOf(header.id), header, { blobs, lock }), join(sessions, header.id)),
        )
      })
    },
    read: async (id) => {
      const path = await find(id)
      return tried(`read session ${id}`, async () => (await readSession(path, id, blobs)).stored)
    },
    hold: async (id) => {
      const path = await find(id)
      return tried(`hold session ${id}`, () =>
        locked(id, async (lock) => {
          const { stored, ended, seq } = await readSession(path, id, blobs)
          const file = reopenFile(path, ended, { blobs, lock })
          return { held: held(stored.header, file, join(sessions, id)), stored, seq }
        }),
      )
    },
    list: async () => listSessions({ folder: sessions, names: await names(), blobs, host }),
  }
}

function held(header: Header, file: Target, folder: string): Held {
  const writer = new Writer(file)
  return {
    header,
    append: (fact) => writer.append(fact),
    synced: () => writer.synced(),
    broken: () => writer.broken(),
    keep: (name, text) => tried(`keep a text in ${folder}`, () => keepText(folder, name, text)),
    close: () => writer.close(),
  }
}

async function tried<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw storeError(doing, error)
  }
}

/** A session that could not be opened must not stay locked. */
async function keptIf<T>(lock: Lock, work: (lock: Lock) => Promise<T>): Promise<T> {
  try {
    return await work(lock)
  } catch (error) {
    await lock.release()
    throw error
  }
}
