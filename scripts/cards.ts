import { writeFile } from "node:fs/promises"
import { offer } from "../src/agent/offer.ts"
import { loading } from "../src/tools/built-in.ts"

/** What models see of the built-in tools, from the tools themselves. */
export async function cards(): Promise<Record<string, unknown>> {
  const world = { readable: [], writable: [], keep: async () => "", env: {}, ripgrep: () => "" }
  const making = loading({ world, environment: [], web: { allowPrivate: false, search: { key: "none" } } })
  const entries = Object.entries(making).map(async ([name, make]) => {
    const { load: _, ...card } = offer(await make())
    return [name, card]
  })
  return Object.fromEntries(await Promise.all(entries))
}

if (import.meta.main) {
  await writeFile(new URL("../src/tools/cards.json", import.meta.url), `${JSON.stringify(await cards(), null, 2)}\n`)
}
