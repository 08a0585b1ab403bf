import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { rules } from "../../src/sandbox/seatbelt.ts"
import { profileOf } from "./fence.ts"

test("the rules for macOS: nothing can be written but what the level allows, and guarded names never", (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'legwork-"odd" ')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, ".husky"))
  const written = (level: "read-only" | "workspace-write") =>
    rules(profileOf(root, { level }), ["/Users/ada"], "/private/tmp/x")
      .split("\n")
      .filter((line) => line.includes("file-write"))
  const below = (path: string) => `(subpath ${JSON.stringify(path)})`
  assert.deepEqual(written("read-only"), [
    "(deny file-write*)",
    `(allow file-write* ${below("/private/tmp/x")} ${below("/dev")})`,
  ])
  assert.deepEqual(written("workspace-write"), [
    "(deny file-write*)",
    `(allow file-write* ${below(root)} ${below("/private/tmp/x")} ${below("/dev")})`,
    ...[".husky", ".git", ".legwork", ".claude", ".vscode", ".idea", ".husky", ".devcontainer"].map(
      (name) => `(deny file-write* ${below(join(root, name))})`,
    ),
  ])
})

test("the rules for macOS: homes are hidden, and the network is closed unless asked for", () => {
  const lines = (network: boolean) =>
    rules(profileOf("/work", { network }), ["/Users/ada"], "/private/tmp/x").split("\n")
  const closed = lines(false)
  assert.ok(closed.includes("(deny network*)"))
  assert.ok(
    closed.indexOf('(deny file-read-data (subpath "/Users/ada"))') <
      closed.findIndex((line) => line.startsWith("(allow file-read-data")),
  )
  assert.ok(!lines(true).includes("(deny network*)"))
  assert.ok(lines(true).some((line) => line.startsWith("(deny network-outbound (remote unix-socket")))
})
