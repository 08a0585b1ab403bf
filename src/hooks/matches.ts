import { runInThisContext } from "node:vm"

/** How long a matcher may think about one name, in milliseconds. */
const limit = 20

/** Whether a matcher means one of the names. What cannot be made out counts as a yes: the hook may be a guard. */
export function matches(matcher: string, names: readonly string[]): boolean {
  if (matcher === "" || matcher === "*") return true
  if (!isList(matcher)) return names.some((name) => fits(matcher, name))
  const listed = itemsOf(matcher)
  return listed.length === 0 || names.some((name) => listed.includes(name))
}

/** What is odd about a matcher for tools, in words for people. */
export function doubt(matcher: string): string | undefined {
  if (matcher === "" || matcher === "*") return undefined
  if (isList(matcher)) {
    const server = itemsOf(matcher).find((item) => /^mcp__((?!__).)+$/.test(item))
    return server && `${server} is no tool; all tools of that server are written ${server}__.*`
  }
  try {
    new RegExp(matcher)
    return undefined
  } catch {
    return "is no regular expression, so the hook runs for every tool"
  }
}

/** Names with bars or commas between them; anything else is a regular expression. */
const isList = (matcher: string): boolean => /^[\p{L}\p{N}_\-, |]+$/u.test(matcher)

const itemsOf = (matcher: string): string[] =>
  matcher.split(/[|,]/).flatMap((item) => (item.trim() === "" ? [] : [item.trim()]))

/** As everywhere in this format, a part of the name is enough. One that is invalid or takes too long fits. */
function fits(pattern: string, name: string): boolean {
  const test = `new RegExp(${JSON.stringify(pattern)}).test(${JSON.stringify(name)})`
  try {
    return runInThisContext(test, { timeout: limit })
  } catch {
    return true
  }
}
