import { randomUUID } from "node:crypto"
import { rename, rm, unlink } from "node:fs/promises"
import { dirname, join } from "node:path"
import { readRegular } from "../config/file.ts"
import { isObject, parsed } from "../config/json.ts"
import { mainOf } from "../config/repository.ts"
import { codeOf } from "../core/error.ts"
import { privateFile, privateFolder, syncFolder } from "../store/private.ts"
import { type Claim, hashOf } from "./repository.ts"

/** A file for each repository, so that two of them can be trusted at the same time. */
const recordOf = (root: string, folder: string): string => join(folder, "trust", `${hashOf(root)}.json`)

const longest = 16 * 1024 * 1024

/** What was trusted of a repository. A record that is damaged says nothing. */
export async function recall(root: string, folder: string): Promise<Claim[] | undefined> {
  for (const each of await namesOf(root)) {
    const reading = await readRegular(recordOf(each, folder), { limit: longest })
    const json = reading.got === "bytes" ? parsed(reading.bytes.toString()) : undefined
    const record = json && "value" in json ? json.value : undefined
    if (isRecord(record) && record.root === each) return record.files
  }
  return undefined
}

export async function remember(root: string, folder: string, files: readonly Claim[]): Promise<void> {
  const path = recordOf(root, folder)
  const draft = `${path}.${randomUUID()}.new`
  await privateFolder(dirname(path))
  try {
    await privateFile(draft, JSON.stringify({ root, files }), (file) => file.datasync())
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  await syncFolder(dirname(path))
}

/** False if there was nothing to forget. */
export async function forget(root: string, folder: string): Promise<boolean> {
  const paths = (await namesOf(root)).map((each) => recordOf(each, folder))
  return (await Promise.all(paths.map(remove))).includes(true)
}

/** A worktree is trusted by itself or with the repository that it belongs to. */
async function namesOf(root: string): Promise<string[]> {
  const main = await mainOf(root)
  return main ? [root, main] : [root]
}

const isRecord = (value: unknown): value is { root: string; files: Claim[] } =>
  isObject(value) && Array.isArray(value.files) && value.files.every(isClaim)

const isClaim = (value: unknown): value is Claim =>
  isObject(value) && [value.folder, value.path, value.hash].every((each) => typeof each === "string")

async function remove(path: string): Promise<boolean> {
  try {
    await unlink(path)
    return true
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false
    throw error
  }
}
