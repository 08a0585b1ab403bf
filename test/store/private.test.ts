import assert from "node:assert/strict"
import { stat, symlink } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import { privateFolder } from "../../src/store/private.ts"
import { temporary } from "./folder.ts"

test("many may make the same folders at once, and all of them are private", async (t) => {
  const folder = await temporary(t)
  await Promise.all(Array.from({ length: 20 }, () => privateFolder(join(folder, "a/b/c"))))
  const modes = await Promise.all(
    ["a", "a/b", "a/b/c"].map(async (path) => (await stat(join(folder, path))).mode & 0o777),
  )
  assert.deepEqual(modes, [0o700, 0o700, 0o700])
})

test("a folder that cannot be made though its parent seems to be there is an error, not a wait", async (t) => {
  const folder = await temporary(t)
  await symlink("/no/such/disk", join(folder, "link"))
  await assert.rejects(privateFolder(join(folder, "link/state/legwork")), { code: "ENOENT" })
  if (process.platform === "linux") await assert.rejects(privateFolder("/proc/nobody/state"), { code: "ENOENT" })
})
