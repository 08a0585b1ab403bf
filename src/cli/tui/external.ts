import { spawn } from "node:child_process"
import { mkdtemp, rm, rmdir } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readRegular } from "../../config/file.ts"
import { reasonOf } from "../../core/error.ts"
import { privateFile } from "../../store/private.ts"

type Editing = {
  /** What is in the input now. */
  text: string
  env: NodeJS.ProcessEnv
  /** Gives the terminal away, and takes it back. */
  terminal: { stop(): void; start(): void }
  /** Where temporary files are made. */
  temporary?: string
}

/** What the editor left; or, in a sentence, why the input stays as it is. */
export type Edited = { text: string } | { failed: string }

const longest = 1024 * 1024

/** Lets the user's own editor have the input, in a file that only the user can read. */
export async function editOutside({ text, env, terminal, temporary = tmpdir() }: Editing): Promise<Edited> {
  const editor = env.VISUAL?.trim() || env.EDITOR?.trim() || "vi"
  let [folder, written] = ["", false]
  try {
    folder = await mkdtemp(join(temporary, "legwork-input-"))
    const path = join(folder, "prompt.md")
    await privateFile(path, text)
    const wrong = await withTerminal(terminal, () => run(editor, path, env))
    if (wrong !== undefined) return { failed: wrong }
    const edited = await textIn(path)
    written = "failed" in edited
    return edited
  } catch (error) {
    return { failed: `the editor could not be used (${reasonOf(error)}); the input is as it was` }
  } finally {
    // What was written is not thrown away because it cannot be taken over: then only an empty folder goes.
    if (folder !== "") await (written ? rmdir(folder) : rm(folder, { recursive: true, force: true })).catch(() => {})
  }
}

async function withTerminal<T>(terminal: Editing["terminal"], work: () => Promise<T>): Promise<T> {
  // Ctrl-c in an editor is the editor's, but the terminal sends it to both.
  const deaf = () => {}
  process.on("SIGINT", deaf)
  terminal.stop()
  try {
    return await work()
  } finally {
    terminal.start()
    process.off("SIGINT", deaf)
  }
}

/** Through a shell, as editors may be named with options: `code --wait`. Undefined if all went well. */
function run(editor: string, path: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const child = spawn("/bin/sh", ["-c", `${editor} "$@"`, "editor", path], { stdio: "inherit", env })
  const named = JSON.stringify(editor)
  child.on("error", (error) => resolve(`${named} could not be started (${error.message}); the input is as it was`))
  child.on("close", (code, signal) => {
    if (code === 0) return resolve(undefined)
    if (code === 126 || code === 127)
      return resolve(`${named} could not be started; set VISUAL or EDITOR to an editor that is installed`)
    resolve(`${named} ended with ${signal ?? `code ${code}`}; the input is as it was`)
  })
  return promise
}

async function textIn(path: string): Promise<Edited> {
  const reading = await readRegular(path, { limit: longest })
  if (reading.got === "nothing") return { failed: "the editor took the file away; the input is as it was" }
  if (reading.got === "refused") return { failed: `${path} ${reading.why}; the input is as it was` }
  if (reading.size > longest) return { failed: `the text is over 1 MB and stays in ${path}; name that file instead` }
  // Editors end the last line, and some begin with a mark of the encoding.
  const text = reading.bytes
    .toString("utf8")
    .replace(/^\ufeff/, "")
    .replaceAll("\r\n", "\n")
  return { text: text.replace(/\n$/, "") }
}
