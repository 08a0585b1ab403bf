import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fromFolder } from "../../src/agents/load.ts"

const folder = join(import.meta.dirname, "fixtures")
const files = readdirSync(folder).filter((name) => name.endsWith(".md"))
const { agents, shadowed } = await fromFolder(folder)
const definitions = [...agents, ...shadowed.map(({ definition }) => definition)]

/** As JSON has it, and with the names of files instead of where they lie here. */
const portable = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(`${folder}/`, ""))

test("there are fixtures of every breakage that agent files have", () => {
  assert.ok(files.length >= 40, `${files.length} fixtures`)
  assert.equal(definitions.length, files.length)
})

for (const file of files)
  test(`the fixture ${file} is read as expected`, () => {
    const expected: unknown = JSON.parse(readFileSync(join(folder, file.replace(/\.md$/, ".json")), "utf8"))
    const definition = definitions.find(({ source }) => source.path === join(folder, file))
    assert.deepEqual(portable(definition), expected)
  })
