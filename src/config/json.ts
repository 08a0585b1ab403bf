/** Where things stand in a JSON text: the line of each key by its path, and of the first thing that is not JSON. */
export type Lines = { of(path: readonly PropertyKey[]): number | undefined; broken?: { line: number; what: string } }

type Level = { closes: "}" | "]"; key: string | number }
type Next = "value" | "value or end" | "key" | "key or end" | "colon" | "comma or end" | "nothing"

const tokens = /"(?:[^"\\\u0000-\u001f]|\\["\\/bfnrtu])*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:]/y

/** Only for texts with something wrong in them: those that are right need no lines. */
export function locate(text: string): Lines {
  const lines = new Map<string, number>()
  const levels: Level[] = []
  const of = (path: readonly PropertyKey[]) => lines.get(JSON.stringify(path))
  let awaited: Next = "value"
  let line = 1
  for (let at = 0; ; ) {
    while (/[ \t\r\n]/.test(text[at] ?? "")) if (text[at++] === "\n") line++
    if (at >= text.length) return awaited === "nothing" ? { of } : { of, broken: { line, what: "it ends too early" } }
    tokens.lastIndex = at
    const token = tokens.exec(text)?.[0]
    const next: Next | undefined = token === undefined ? undefined : step(token, awaited, levels)
    if (token === undefined || next === undefined) return { of, broken: { line, what: mistake(text, at, awaited) } }
    if (next === "colon") lines.set(JSON.stringify(levels.map(({ key }) => key)), line)
    awaited = next
    at += token.length
  }
}

/** What may follow the token, or undefined when the token itself may not stand there. */
function step(token: string, awaited: Next, levels: Level[]): Next | undefined {
  const level = levels.at(-1)
  if (token === "," && awaited === "comma or end") {
    if (typeof level?.key !== "number") return "key"
    level.key++
    return "value"
  }
  if (token === ":") return awaited === "colon" ? "value" : undefined
  if (token === level?.closes && awaited.endsWith("or end")) {
    levels.pop()
    return levels.length ? "comma or end" : "nothing"
  }
  if (awaited.startsWith("key") && token.startsWith('"') && level) {
    level.key = unquoted(token)
    return "colon"
  }
  if (!awaited.startsWith("value") || /^[}\],]/.test(token)) return undefined
  if (token === "{") levels.push({ closes: "}", key: "" })
  if (token === "[") levels.push({ closes: "]", key: 0 })
  if (token === "{") return "key or end"
  if (token === "[") return "value or end"
  return levels.length ? "comma or end" : "nothing"
}

function unquoted(token: string): string {
  try {
    return JSON.parse(token)
  } catch {
    return token
  }
}

function mistake(text: string, at: number, awaited: Next): string {
  const rest = text.slice(at, at + 2)
  if (rest === "//" || rest === "/*" || rest[0] === "#") return "comments are not allowed; take it out"
  if (/^[}\]]/.test(rest) && (awaited === "key" || awaited === "value")) return "take out the comma before the bracket"
  if (rest[0] === "'") return "text stands in double quotes"
  if (awaited === "comma or end") return "a comma is missing before this"
  if (awaited === "colon") return "a colon is missing after the key"
  if (awaited === "nothing") return "there is something after the end"
  return awaited.startsWith("key") ? "a key in double quotes should stand here" : "a value should stand here"
}

/** What a text says, or the first thing in it that is not JSON. */
export function parsed(text: string): { value: unknown } | { line: number; what: string } {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return locate(text).broken ?? { line: 1, what: "it is not JSON" }
  }
}

/** Whether a value is what JSON writes in { }. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether there is anything in it. */
export const isFilled = (value: unknown): boolean =>
  typeof value === "object" && value !== null ? Object.keys(value).length > 0 : value !== undefined && value !== null
