import assert from "node:assert/strict"
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after } from "node:test"
import { stateOf } from "../../src/cache/state.ts"

export const base = await realpath(await mkdtemp(join(tmpdir(), "legwork-state-")))
after(() => rm(base, { recursive: true, force: true }))

let places = 0

/** A path of its own, at which there is nothing. */
export const vacant = (): string => join(base, `${places++}`)

export async function write(root: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}

export async function workspace(files: Record<string, string> = {}): Promise<string> {
  const root = vacant()
  await mkdir(root)
  await write(root, files)
  return root
}

export async function seen(root: string): Promise<string> {
  const state = await stateOf(root, Date.now)
  assert.ok(state, "there is no state")
  return state
}

/** Which of these make the state another one, each after those before it. */
export async function changing(
  root: string,
  steps: Record<string, () => Promise<unknown>>,
): Promise<Record<string, boolean>> {
  const changed: Record<string, boolean> = {}
  let before = await seen(root)
  for (const [name, step] of Object.entries(steps)) {
    await step()
    const now = await seen(root)
    changed[name] = now !== before
    before = now
  }
  return changed
}
