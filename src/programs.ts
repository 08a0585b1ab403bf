import { createHash } from "node:crypto"
import { extname, resolve } from "node:path"
import { readRegular } from "./config/file.ts"
import { namesIn } from "./trust/named.ts"

const largest = 16 * 1024 * 1024

/** What hooks are pointed at and do not run. */
const data = new Set(
  ".json .jsonl .md .txt .log .yml .yaml .toml .lock .csv .xml .html .css .svg .png .pid .db".split(" "),
)

/** Programs of the workspace that commands name, as they were when they were first noted. */
type Programs = {
  note(commands: readonly string[]): Promise<void>
  /** Which program of a noted command is no longer what it was; undefined if all are. */
  changed(command: string): Promise<string | undefined>
}

/** Hooks run outside of every fence, so what an agent writes in the workspace must not become what they run. */
export function programs(cwd: string): Programs {
  const known = new Map<string, Map<string, string>>()
  return {
    async note(commands) {
      for (const command of commands) if (!known.has(command)) known.set(command, await hashes(command, cwd))
    },
    async changed(command) {
      const [before, now] = [known.get(command) ?? new Map<string, string>(), await hashes(command, cwd)]
      return [...before.keys(), ...now.keys()].find((path) => before.get(path) !== now.get(path))
    },
  }
}

async function hashes(command: string, cwd: string): Promise<Map<string, string>> {
  const paths = new Set((namesIn([command]) ?? []).map((name) => resolve(cwd, name)))
  const found = new Map<string, string>()
  for (const path of paths) {
    if (data.has(extname(path).toLowerCase())) continue
    const reading = await readRegular(path, { limit: largest, within: cwd })
    if (reading.got !== "bytes") continue
    found.set(path, createHash("sha256").update(`${reading.size} `).update(reading.bytes).digest("hex"))
  }
  return found
}
