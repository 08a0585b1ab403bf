import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestContext } from "node:test"

/** A folder that goes away with the test. */
export async function temporary(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "legwork-store-"))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}
