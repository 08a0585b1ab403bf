import { readFile, writeFile } from "node:fs/promises"
import { offer } from "../src/agent/offer.ts"
import { parseAgent } from "../src/agents/parse.ts"
import { loading } from "../src/tools/built-in.ts"
import { nowhere } from "../src/tools/world.ts"

/** What models see of the built-in tools, from the tools themselves. */
export async function cards(): Promise<Record<string, unknown>> {
  const making = loading({ world: nowhere, environment: [], web: { allowPrivate: false, search: { key: "none" } } })
  const entries = Object.entries(making).map(async ([name, make]) => {
    const { load: _, ...card } = offer(await make())
    return [name, card]
  })
  return Object.fromEntries(await Promise.all(entries))
}

/** The built-in agents, read as a user's would be. */
export async function agents(): Promise<unknown[]> {
  const read = ["explore", "plan", "code", "general"].map(async (name) => {
    const text = await readFile(new URL(`../src/agents/built-in/${name}.md`, import.meta.url), "utf8")
    return parseAgent(text, { path: null, scope: "built-in", dialect: "legwork", name })
  })
  return JSON.parse(JSON.stringify(await Promise.all(read)))
}

const write = (path: string, value: unknown) =>
  writeFile(new URL(path, import.meta.url), `${JSON.stringify(value, null, 2)}\n`)

if (import.meta.main) {
  await write("../src/agents/built-in.json", await agents())
  await write("../src/tools/cards.json", await cards())
}
