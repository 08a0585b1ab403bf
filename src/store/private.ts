import { closeSync, fchmodSync, openSync, writeFileSync } from "node:fs"
import { chmod, type FileHandle, mkdir, open } from "node:fs/promises"
import { dirname } from "node:path"
import { codeOf } from "../core/error.ts"

/** Makes a folder that only its owner can enter, and its parents, whatever the umask. One that is there stays as it is. */
export async function privateFolder(path: string): Promise<void> {
  try {
    await mkdir(path, 0o700)
  } catch (error) {
    if (codeOf(error) === "EEXIST") return
    if (codeOf(error) !== "ENOENT" || dirname(path) === path) throw error
    await privateFolder(dirname(path))
    // Once: a parent that is there and still holds nothing would be asked for ever. Others may make it meanwhile.
    await mkdir(path, 0o700).catch((again) => {
      if (codeOf(again) !== "EEXIST") throw again
    })
  }
  await chmod(path, 0o700)
}

/** Writes a new file that only its owner can read, whatever the umask. Rejects with EEXIST when there is one. */
export async function privateFile(path: string, text: string, finish?: (file: FileHandle) => Promise<void>) {
  const file = await open(path, "wx", 0o600)
  try {
    await file.chmod(0o600)
    await file.writeFile(text)
    await finish?.(file)
  } finally {
    await file.close()
  }
}

/** The same at once, for a text of no weight. */
export function privateFileNow(path: string, text: string): void {
  const file = openSync(path, "wx", 0o600)
  try {
    fchmodSync(file, 0o600)
    writeFileSync(file, text)
  } finally {
    closeSync(file)
  }
}

/** Makes new names in a folder survive a power cut, where the file system can promise that. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r")
  try {
    await folder.sync()
  } catch (error) {
    if (!["EINVAL", "EPERM", "ENOTSUP", "EISDIR"].includes(codeOf(error) ?? "")) throw error
  } finally {
    await folder.close()
  }
}
