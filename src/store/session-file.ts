import { closeSync, constants, fchmodSync, fdatasync, fstatSync, openSync, rmSync, writeSync } from "node:fs"
import { dirname } from "node:path"
import { promisify } from "node:util"
import { codeOf } from "../core/error.ts"
import type { Blobs } from "./blobs.ts"
import type { Lock } from "./lock.ts"
import { syncFolder } from "./private.ts"
import type { Header } from "./store.ts"
import { StoreError } from "./store-error.ts"
import type { Target } from "./writer.ts"

const { O_APPEND, O_CREAT, O_EXCL, O_WRONLY } = constants
const datasync = promisify(fdatasync)

/** What belongs to a session's file while it is open. */
export type Belongings = { blobs: Blobs; lock: Lock }

/** Makes the file of a new session, private whatever the umask, with its header as the first line. */
export function createFile(path: string, header: Header, belongings: Belongings): Target {
  const file = openNew(path, header.id)
  try {
    fchmodSync(file, 0o600)
    writeAll(file, `${JSON.stringify(header)}\n`)
  } catch (error) {
    closeSync(file)
    rmSync(path, { force: true })
    throw error
  }
  return target(file, path, belongings)
}

/** Opens the file of a session to go on with it. A line that a crash cut off is ended, so that the next stands alone. */
export function reopenFile(path: string, ended: boolean, belongings: Belongings): Target {
  const file = openSync(path, O_WRONLY | O_APPEND)
  try {
    checkOwner(file, path)
    if (!ended) writeAll(file, "\n")
  } catch (error) {
    closeSync(file)
    throw error
  }
  return target(file, path, belongings)
}

function target(file: number, path: string, { blobs, lock }: Belongings): Target {
  let named = false
  return {
    path,
    put: blobs.put,
    write: (text) => writeAll(file, text),
    sync: async () => {
      checkThere(file, path)
      await datasync(file)
      if (!named) await syncFolder(dirname(path))
      named = true
    },
    close: async () => {
      closeSync(file)
      await lock.release()
    },
  }
}

function openNew(path: string, id: string): number {
  try {
    return openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0o600)
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error
    throw new StoreError("bad_session", `there is a session ${id} already, in ${path}; hold it to go on with it`)
  }
}

function writeAll(file: number, text: string): void {
  for (let left = Buffer.from(text); left.length > 0; ) left = left.subarray(writeSync(file, left))
}

/** The system goes on writing to a deleted file without a word. */
function checkThere(file: number, path: string): void {
  if (fstatSync(file).nlink > 0) return
  throw new StoreError("io", `${path} was deleted while its session was open; start a new session`)
}

/** Another user's facts would make us act on somebody else's word. */
function checkOwner(file: number, path: string): void {
  const { uid } = fstatSync(file)
  if (!process.getuid || uid === process.getuid()) return
  throw new StoreError("bad_session", `${path} belongs to another user (uid ${uid}); resume it as that user`)
}
