import { createHash, randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { open, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { codeOf, reasonOf } from "../../core/error.ts"
import { privateFile, privateFolder } from "../../store/private.ts"

/** Prompts typed before in a folder. */
export type History = {
  /** The oldest first. */
  entries(): readonly string[]
  add(text: string): void
  /** Resolves when all that was added is on disk, or could not be put there. */
  saved(): Promise<void>
}

type Place = {
  /** Where state is kept. */
  state: string
  /** The folder that is worked in. */
  folder: string
  /** Told once if prompts cannot be kept. */
  warn(text: string): void
}

const most = 500
/** Letters; a longer prompt is not one that is typed again. */
const longest = 16_384
const mostBytes = 4 * 1024 * 1024

/** A file for each folder, with a JSON string on each line. Lines that are damaged are passed over. */
export async function openHistory({ state, folder, warn }: Place): Promise<History> {
  const path = join(state, "history", `${createHash("sha256").update(folder).digest("hex").slice(0, 32)}.jsonl`)
  let warned = false
  const fail = (error: unknown) => {
    if (!warned) warn(`prompts are not kept in ${path} (${reasonOf(error)}); see that it can be written`)
    warned = true
  }
  const text = await tailOf(path).catch((error) => {
    fail(error)
    return ""
  })
  const lines = text.split("\n").filter((line) => line !== "")
  let entries = lines.flatMap(promptIn).slice(-most)
  let saving =
    lines.length > 2 * most || text.length > mostBytes / 2 ? rewrite(path, entries).catch(fail) : Promise.resolve()
  // A line that a crash cut short must not swallow the next.
  let lead = text === "" || text.endsWith("\n") ? "" : "\n"
  return {
    entries: () => entries,
    add(text) {
      const prompt = text.trim()
      if (prompt === "" || prompt.length > longest || prompt === entries.at(-1)) return
      entries = [...entries, prompt].slice(-most)
      const line = `${lead}${JSON.stringify(prompt)}\n`
      lead = ""
      saving = saving.then(() => append(path, line)).catch(fail)
    },
    saved: () => saving,
  }
}

function promptIn(line: string): string[] {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === "string" && value !== "" && value.length <= longest ? [value] : []
  } catch {
    return []
  }
}

/** The end of a regular file; of one that is not there nothing. */
async function tailOf(path: string): Promise<string> {
  const file = await opened(path, constants.O_RDONLY)
  if (!file) return ""
  try {
    const { size } = await file.stat()
    const from = Math.max(0, size - mostBytes)
    const bytes = Buffer.alloc(size - from)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, from)
    return bytes.toString("utf8", 0, bytesRead)
  } finally {
    await file.close()
  }
}

async function append(path: string, line: string): Promise<void> {
  await privateFolder(dirname(path))
  const file = await opened(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT)
  try {
    await file?.writeFile(line)
  } finally {
    await file?.close()
  }
}

/** No link is followed, and nothing but a file is read or written. */
async function opened(path: string, flags: number) {
  try {
    const file = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined
    throw error
  }
  throw new Error("it is not a regular file")
}

async function rewrite(path: string, entries: readonly string[]): Promise<void> {
  const draft = `${path}.${randomUUID()}.new`
  try {
    await privateFile(draft, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""))
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
