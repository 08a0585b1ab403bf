import { readFile, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { type Blob, hashOf } from "./line.ts"
import { privateFile, privateFolder, syncFolder } from "./private.ts"
import { randomHex } from "./random.ts"

/** Long texts by hash, each stored once for all sessions. */
export type Blobs = {
  /** Resolves when all are safe on disk. */
  put(blobs: readonly Blob[]): Promise<void>
  /** Undefined when it is missing or no longer what was stored. */
  get(hash: string): Promise<string | undefined>
}

export function openBlobs(folder: string): Blobs {
  const pathOf = (hash: string) => join(folder, hash.slice(0, 2), hash.slice(2))

  const get = async (hash: string): Promise<string | undefined> => {
    const text = await readFile(pathOf(hash), "utf8").catch(() => undefined)
    return text !== undefined && hashOf(text) === hash ? text : undefined
  }

  const putOne = async (hash: string, text: string): Promise<void> => {
    // The full check, not just a look at the name, so that a damaged blob is mended by the next that needs it.
    if ((await get(hash)) !== undefined) return
    const path = pathOf(hash)
    const draft = `${path}.${randomHex(16)}.new`
    await privateFolder(dirname(path))
    try {
      await privateFile(draft, text, (file) => file.datasync())
      await rename(draft, path)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
    await syncFolder(dirname(path))
    await syncFolder(folder)
  }

  return {
    get,
    put: async (all) => {
      const texts = new Map(all.map(({ hash, text }) => [hash, text]))
      await Promise.all([...texts].map(([hash, text]) => putOne(hash, text)))
    },
  }
}
