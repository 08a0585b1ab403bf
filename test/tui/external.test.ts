import assert from "node:assert/strict"
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { editOutside } from "../../src/cli/tui/external.ts"

async function stage(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "legwork-editor-"))
  t.after(() => rm(folder, { recursive: true }))
  const temporary = join(folder, "temporary")
  await mkdir(temporary)
  const order: string[] = []
  const terminal = { stop: () => order.push("stop"), start: () => order.push("start") }
  /** Uses a shell script as editor: `$1` is the file. */
  const edit = async (script: string, env: NodeJS.ProcessEnv = {}) => {
    const path = join(folder, "editor.sh")
    await writeFile(path, script)
    const editor = { PATH: process.env.PATH, EDITOR: `sh '${path}'` }
    return editOutside({ text: "first", env: { ...editor, ...env }, terminal, temporary })
  }
  return { folder, temporary, order, edit }
}

test("the editor gets the input in a private file, has the terminal meanwhile, and what it leaves comes back", async (t) => {
  const { folder, temporary, order, edit } = await stage(t)
  const notes = join(folder, "notes")
  const script = `{ cat "$1"; echo; ls -l "$1" | cut -c1-10; ls -ld "$(dirname "$1")" | cut -c1-10; } > '${notes}'
printf '\\357\\273\\277second\\r\\n  line\\n' > "$1"`
  assert.deepEqual(await edit(script), { text: "second\n  line" })
  const [text, file, above] = (await readFile(notes, "utf8")).split("\n")
  assert.deepEqual([text, file, above, order], ["first", "-rw-------", "drwx------", ["stop", "start"]])
  assert.deepEqual(await readdir(temporary), [])
})

test("VISUAL comes before EDITOR, and may have options", async (t) => {
  const { edit } = await stage(t)
  const env = { VISUAL: `sh -c 'printf "%s" visual > "$1"' --` }
  assert.deepEqual(await edit("exit 1", env), { text: "visual" })
  assert.deepEqual(await edit("printf editor > $1", { VISUAL: " " }), { text: "editor" })
})

test("an editor that is not there or fails is a sentence, the terminal is taken back, and nothing is left", async (t) => {
  const { temporary, order, edit } = await stage(t)
  assert.deepEqual(await edit("", { EDITOR: "no-such-editor 2>/dev/null" }), {
    failed: '"no-such-editor 2>/dev/null" could not be started; set VISUAL or EDITOR to an editor that is installed',
  })
  assert.deepEqual(await edit("exit 3", { VISUAL: "false" }), {
    failed: '"false" ended with code 1; the input is as it was',
  })
  assert.deepEqual(await edit("", { VISUAL: "kill -9 $$ #" }), {
    failed: '"kill -9 $$ #" ended with SIGKILL; the input is as it was',
  })
  assert.deepEqual(await edit('rm "$1"'), { failed: "the editor took the file away; the input is as it was" })
  assert.deepEqual(order, ["stop", "start", "stop", "start", "stop", "start", "stop", "start"])
  assert.deepEqual(await readdir(temporary), [])
})

test("where no file can be made the editor is not started", async (t) => {
  const { temporary, order, edit } = await stage(t)
  await rm(temporary, { recursive: true })
  const edited = await edit("exit 0")
  assert.match(
    "failed" in edited ? edited.failed : "",
    /^the editor could not be used \(ENOENT.*\); the input is as it was$/,
  )
  assert.deepEqual(order, [])
})

test("a text that is too long is not taken over, and not lost", async (t) => {
  const { edit } = await stage(t)
  const edited = await edit(`head -c 1048577 /dev/zero | tr '\\0' x > "$1"`)
  const path = "failed" in edited ? / stays in (\S+);/.exec(edited.failed)?.[1] : undefined
  assert.deepEqual(edited, { failed: `the text is over 1 MB and stays in ${path}; name that file instead` })
  assert.equal((await readFile(path!)).length, 1_048_577)
})

test("ctrl-c in the editor does not end us, and nothing listens to it afterwards", async (t) => {
  const { edit } = await stage(t)
  const before = process.listenerCount("SIGINT")
  assert.deepEqual(await edit(`kill -INT ${process.pid}; printf ok > "$1"`), { text: "ok" })
  assert.equal(process.listenerCount("SIGINT"), before)
})
