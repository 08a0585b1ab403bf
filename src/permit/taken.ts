import { type Ground, type Opened, openedBy } from "./opened.ts"
import { unknown } from "./reader.ts"
import { allOf, type Part, type Parts } from "./shell.ts"
import { hole, spoken } from "./word.ts"

/** A command taken apart. What cannot be read is one part that nobody can tell anything about. */
export type Taken = { text: string; parts: Part[]; all: Part[]; opened: Opened[] }

export function takeApart(text: string, parsed: Parts, ground: Ground): Taken {
  const parts = parsed.ok ? parsed.parts : [unknown(parsed.why)]
  const all = allOf(parts)
  return { text, parts, all, opened: openedBy(all, parsed.ok ? parsed.folders : undefined, ground) }
}

/** The commands as people see them, each once; nothing where there is nothing to tell. */
export const shownParts = ({ all }: Taken): string[] => [
  ...new Set(all.map(shown).filter((text) => text !== "" && text !== "…")),
]

function shown({ words, set, targets }: Part): string {
  const leading = set.filter(({ value }) => value.raw !== hole).map(({ name, value }) => `${name}=${value.raw}`)
  const files = targets.map(({ way, word }) => `${way === "read" ? "<" : ">"} ${word.raw}`)
  return [...leading, ...words.map(spoken), ...files].join(" ").replaceAll(hole, "…").replaceAll(/\s+/g, " ")
}
