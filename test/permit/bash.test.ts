import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, test } from "node:test"
import fc from "fast-check"
import { allOf, partsOf } from "../../src/permit/shell.ts"
import { fits } from "../../src/permit/wildcard.ts"
import { hole } from "../../src/permit/word.ts"
import { composed, disguised } from "./compose.ts"

const folder = mkdtempSync(join(tmpdir(), "legwork-permit-"))
const [bin, log] = [join(folder, "bin"), join(folder, "log")]
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))

/** Programs that only note how they were called. */
const programs = ["one", "two", "three"]
mkdirSync(bin)
for (const name of programs) {
  const script = `#!/bin/bash\nline="\${0##*/}"; for word in "$@"; do line+=" $word"; done; printf '%s\\0' "$line" >> "$CALLS"\n`
  writeFileSync(join(bin, name), script)
  chmodSync(join(bin, name), 0o755)
}

/** What bash really runs, and which files it makes. */
function performed(command: string): { calls: string[]; files: string[] } {
  const work = mkdtempSync(join(folder, "work-"))
  writeFileSync(log, "")
  const env = { PATH: `${bin}:${process.env.PATH}`, CALLS: log, HOME: work }
  spawnSync("bash", ["--noprofile", "--norc", "-c", `${command}\nwait`], { cwd: work, env, timeout: 10_000, input: "" })
  return { calls: readFileSync(log, "utf8").split("\0").slice(0, -1), files: readdirSync(work) }
}

const leaf = fc.oneof(
  fc.constantFrom("one", "one a", "two b c", "three -x").chain(disguised),
  fc.constantFrom(
    "one $HOME",
    "two *",
    "one {a,b}",
    "two $((1 + 2))",
    "one 'a  b'",
    "three > out",
    "one >> out 2>&1",
    "A=1 two",
  ),
)

test("whatever bash runs of a command is among the parts, and whatever it writes to is among their files", async () => {
  await fc.assert(
    fc.asyncProperty(composed(leaf, 3), async (command) => {
      const parsed = await partsOf(command)
      assert.ok(parsed.ok, parsed.ok ? "" : parsed.why)
      const all = allOf(parsed.parts)
      const texts = all.map(({ words }) => words.map(({ text }) => text).join(" "))
      const { calls, files } = performed(command)
      for (const call of calls) {
        const isKnown = texts.some((text) => fits(text.split(hole), call) || fits(text.split(` ${hole}`), call))
        assert.ok(isKnown, `${JSON.stringify(call)} is not among ${JSON.stringify(texts)}`)
      }
      const written = all.flatMap(({ targets }) => targets.map(({ word }) => word.text))
      for (const file of files) assert.ok(written.includes(file), file)
    }),
    { numRuns: 120 },
  )
})
