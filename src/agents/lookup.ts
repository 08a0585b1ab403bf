import { nearest } from "../core/nearest.ts"
import { type Definition, slug, stem } from "./definition.ts"

/** What other systems call the agents that are built in here. */
const aliases: Record<string, string> = { "general-purpose": "general" }

const mostNamed = 40

/** Finds an agent by its id, its name or its file's, or says which there are. An exact match wins, then case is ignored. */
export function lookup(
  agents: readonly Definition[],
  name: string,
): { agent: Definition } | { agent?: undefined; error: string } {
  const wanted = name.trim()
  const folded = wanted.toLowerCase()
  const agent =
    find(agents, (word) => word === wanted) ??
    find(agents, (word) => word.toLowerCase() === folded) ??
    find(agents, (word) => slug(word) === slug(wanted)) ??
    agents.find(({ id }) => id === aliases[slug(wanted)])
  return agent ? { agent } : { error: unknown(agents, wanted) }
}

function find(agents: readonly Definition[], isMeant: (word: string) => boolean): Definition | undefined {
  return (
    agents.find(({ id }) => isMeant(id)) ??
    agents.find((agent) => isMeant(agent.name)) ??
    agents.find(({ source }) => source.path !== null && isMeant(stem(source.path)))
  )
}

function unknown(agents: readonly Definition[], name: string): string {
  const what = `there is no agent named ${JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name)}`
  const ids = agents.filter(({ hidden, degraded }) => !hidden && !degraded).map(({ id }) => id)
  if (!ids.length) return `${what}; there are none to choose from`
  const meant = nearest(name, ids)
  const ordered = meant === undefined ? ids : [meant, ...ids.filter((id) => id !== meant)]
  const more = ordered.length > mostNamed ? ` and ${ordered.length - mostNamed} more` : ""
  return `${what}; there are ${ordered.slice(0, mostNamed).join(", ")}${more}`
}
