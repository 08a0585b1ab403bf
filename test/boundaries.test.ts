import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { test } from "node:test"

const src = resolve(import.meta.dirname, "../src")

const engine = ["core", "model", "store", "agent", "agents", "tools", "config", "sandbox"]

/** What each part may import besides itself. Files at the top of src/ are the session's part. */
const arrows: Record<string, readonly string[]> = {
  core: [],
  model: ["core"],
  store: ["core"],
  agent: ["core", "model"],
  agents: ["core", "model", "agent", "config"],
  sandbox: ["core"],
  hooks: ["core"],
  permit: ["core", "agent"],
  trust: ["core", "store", "agents", "config"],
  tools: ["core", "agent", "sandbox"],
  config: ["core", "model", "agent"],
  testing: ["core", "model"],
  cache: ["core", "store", "agent", "config"],
  session: [...engine, "permit", "hooks", "trust", "cache"],
  cli: [...engine, "permit", "hooks", "trust", "session"],
}
/** Files at the top that belong to a folder beside them. */
const topFiles: Record<string, string> = {
  "cache.ts": "cache",
  "config.ts": "config",
  "instructions.ts": "config",
  "testing.ts": "testing",
  "trust.ts": "trust",
}

const partOf = (file: string): string => {
  const [head = "", ...rest] = relative(src, file).split("/")
  return rest.length > 0 ? head : (topFiles[head] ?? "session")
}

const files = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => join(src, name))
const importsOf = (file: string) =>
  [...readFileSync(file, "utf8").matchAll(/(?:from|import\(|^import) ?"([^"]+)"/gm)].map((match) => match[1]!)

test("no part imports what its place in the design forbids", () => {
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .filter((name) => name.startsWith("."))
      .map((name) => resolve(dirname(file), name))
      .filter((target) => partOf(target) !== partOf(file) && !arrows[partOf(file)]?.includes(partOf(target)))
      .map((target) => `${relative(src, file)} imports ${relative(src, target)}`),
  )
  assert.deepEqual(wrong, [])
})

test("the core is pure: it imports nothing from Node or npm, and asks for neither the time nor chance", () => {
  const core = files.filter((file) => partOf(file) === "core")
  assert.deepEqual(
    core.flatMap(importsOf).filter((name) => !name.startsWith(".")),
    [],
  )
  const impure = core.filter((file) =>
    /\b(Date\.now|new Date\(|Math\.random|performance\.|process\.|setTimeout)/.test(readFileSync(file, "utf8")),
  )
  assert.deepEqual(impure, [])
})

test("what starts quickly imports nothing heavy at the top", () => {
  const heavy = ["turndown", "diff", "openai", "@anthropic-ai/sdk", "@ai-sdk/google"]
  const top = files.filter((file) =>
    [...readFileSync(file, "utf8").matchAll(/^import (?!type)[^"]*"([^"]+)"/gm)].some((match) =>
      heavy.includes(match[1]!),
    ),
  )
  assert.deepEqual(
    top.map((file) => relative(src, file)),
    [],
  )
})
