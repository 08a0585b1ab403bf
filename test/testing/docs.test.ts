import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import test from "node:test"
import { promisify } from "node:util"

test("the program in docs/testing.md runs as it is printed", async () => {
  const page = await readFile(new URL("../../docs/testing.md", import.meta.url), "utf8")
  const program = /```ts\n(.*?)```/s.exec(page)?.[1] ?? assert.fail("there is no program")
  const folder = await mkdtemp(join(tmpdir(), "legwork-docs-"))
  try {
    const entry = new URL("../../src/testing.ts", import.meta.url).href
    await writeFile(join(folder, "example.mts"), program.replace('"legwork/testing"', JSON.stringify(entry)))
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "example.mts")])
    assert.equal(stdout, "")
  } finally {
    await rm(folder, { recursive: true })
  }
})
