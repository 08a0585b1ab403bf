import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { test } from "node:test"
import { jsonl } from "../../src/store/jsonl.ts"
import { temporary } from "./folder.ts"
import { headerOf, said } from "./samples.ts"

const child = join(import.meta.dirname, "child.ts")
const header = headerOf("session-one")

for (const after of [3, 60, 300])
  test(`a process killed after it said that fact ${after} is safe has lost nothing that it said`, async (t) => {
    const folder = await temporary(t)
    const other = spawn(process.execPath, [child, "append", folder], { stdio: ["ignore", "pipe", "inherit"] })
    t.after(() => other.kill("SIGKILL"))
    let safe = 0
    const lines = createInterface(other.stdout)
    lines.on("line", (line) => {
      safe = Number(line)
      if (safe >= after) other.kill("SIGKILL")
    })
    await Promise.all([once(other, "exit"), once(lines, "close")])
    const { held, stored } = await jsonl({ folder }).hold(header.id)
    const all = stored.facts.map(({ seq }) => seq)
    assert.ok(safe >= after && all.length >= safe, `${safe} were safe, ${all.length} are there`)
    assert.deepEqual(
      stored.facts.slice(0, safe),
      Array.from({ length: safe }, (_, i) =>
        said(i + 1, (i + 1) % 7 === 0 ? `${i + 1}`.repeat(10_000) : `number ${i + 1}`),
      ),
    )
    assert.deepEqual(
      all,
      Array.from({ length: all.length }, (_, i) => i + 1),
    )
    held.append(said(all.length + 1, "on"))
    await held.close()
    const again = await jsonl({ folder }).read(header.id)
    assert.equal(again.facts.length, all.length + 1)
  })

test("a full disk is reported, for ever, and what was safe before is readable and can be gone on with", async (t) => {
  const folder = await temporary(t)
  const limited = `ulimit -f 20; exec "$0" "$@"`
  const other = spawn("bash", ["-c", limited, process.execPath, child, "fill", folder], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  let heard = ""
  other.stdout.on("data", (text) => (heard += text))
  assert.deepEqual(await once(other, "close"), [0, null])
  const { safe, message, ...told } = JSON.parse(heard)
  assert.deepEqual(told, { told: "full", later: "full", closed: "full" })
  assert.match(
    message,
    /could not write to .*session-one\.jsonl: EFBIG.*; make room on that disk and resume the session/,
  )
  assert.ok(safe >= 10)
  const { held, stored } = await jsonl({ folder }).hold(header.id)
  const facts = Array.from({ length: safe }, (_, i) => said(i + 1, "x".repeat(1_000)))
  assert.deepEqual(stored.facts, facts)
  assert.match(stored.lost.join(), /^the last line was torn \(\d+ bytes dropped\)$/)
  held.append(said(safe + 1, "room again"))
  await held.close()
  assert.deepEqual((await jsonl({ folder }).read(header.id)).facts, [...facts, said(safe + 1, "room again")])
})
