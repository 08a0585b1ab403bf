import assert from "node:assert/strict"
import { test } from "node:test"
import type { Config, Stated } from "../src/config.ts"
import { rulesIn } from "../src/gate.ts"

const read = async (...permissions: Stated[]) => {
  const warnings: string[] = []
  const rules = await rulesIn({ permissions, unreadable: [] as string[] } as Config, (text) => warnings.push(text))
  return { rules, warnings: warnings.length }
}
const claudes = "/home/u/.claude/settings.json"
const everything = { tool: "*", pattern: "*", do: "ask" }
const tests = { tool: "bash", pattern: "npm test", do: "allow" }

test("a rule of Claude's that gives leave for what is not there gives none, and the others count", async () => {
  const stated = [
    { text: "Cd(/x)", do: "allow" as const, file: claudes },
    { text: "Bash(npm test)", do: "allow" as const, file: claudes },
  ]
  assert.deepEqual(await read(...stated), { rules: [tests], warnings: 1 })
})

test("where a rule of Claude's that cannot be read was to restrict, a person decides on every call", async () => {
  const stated = [
    { text: "Bash(npm test)", do: "allow" as const, file: claudes },
    { text: "SlashCommand:*", do: "deny" as const, file: claudes },
  ]
  assert.deepEqual(await read(...stated), { rules: [tests, everything], warnings: 1 })
})

test("a rule of our own that cannot be read stops the program, with what to write", async () => {
  const own = { text: "Cd(/x)", do: "allow" as const, file: "/home/u/.legwork/settings.json" }
  await assert.rejects(read(own), /"Cd\(\/x\)" is no rule; write one such as bash\(npm test \*\)/)
})
