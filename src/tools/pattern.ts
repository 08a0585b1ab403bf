const mostAlternatives = 1_000

export type Matches = (path: string) => boolean

/** Whether a path fits a glob pattern: `*`, `?`, `[a-z]`, `{a,b}` within a name, `**` for any folders. */
export function matcher(pattern: string): Matches {
  const alternatives = expand(pattern.replace(/^(\.\/)+/, "")).map(segmentsOf)
  return (path) => {
    const names = path.split("/")
    return alternatives.some((segments) => fits(segments, names))
  }
}

/** A file stands below at least its own folder: two stars at the end still ask for a name. */
const segmentsOf = (pattern: string): Segment[] =>
  (/(^|\/)\*\*$/.test(pattern) ? `${pattern}/*` : pattern).split("/").map(nameMatcher)

type Segment = "**" | ((name: string) => boolean)
type Token = "*" | ((character: string) => boolean)

const fits = (segments: readonly Segment[], names: readonly string[]): boolean =>
  wild(segments, names, "**", (segment, name) => segment !== "**" && segment(name))

function nameMatcher(segment: string): Segment {
  if (segment === "**") return "**"
  if (!/[*?[\\]/.test(segment)) return (name) => name === segment
  const tokens = tokensOf([...segment])
  return (name) => wild(tokens, [...name], "*", (token, character) => token !== "*" && token(character))
}

/** Steps back only to the last star, so its time is bounded by pattern × text, whatever the pattern. */
function wild<P, T>(pattern: readonly P[], text: readonly T[], star: P, same: (one: P, item: T) => boolean): boolean {
  let [at, place, back, mark] = [0, 0, -1, 0]
  while (place < text.length) {
    if (at < pattern.length && pattern[at] === star) {
      back = at++
      mark = place
    } else if (at < pattern.length && same(pattern[at]!, text[place]!)) {
      at++
      place++
    } else if (back >= 0) {
      at = back + 1
      place = ++mark
    } else return false
  }
  while (at < pattern.length && pattern[at] === star) at++
  return at === pattern.length
}

function tokensOf(characters: readonly string[]): Token[] {
  const tokens: Token[] = []
  for (let index = 0; index < characters.length; index++) {
    const one = characters[index]!
    if (one === "*") tokens.push("*")
    else if (one === "?") tokens.push(() => true)
    else if (one === "[") {
      // A bracket right after the opening one is part of the set.
      const end = characters.indexOf("]", index + (/[!^]/.test(characters[index + 1] ?? "") ? 3 : 2))
      if (end === -1) tokens.push((character) => character === "[")
      else {
        tokens.push(setOf(characters.slice(index + 1, end)))
        index = end
      }
    } else {
      const literal = one === "\\" ? (characters[++index] ?? "\\") : one
      tokens.push((character) => character === literal)
    }
  }
  return tokens
}

function setOf(characters: readonly string[]): (character: string) => boolean {
  const negated = characters[0] === "!" || characters[0] === "^"
  const members = negated ? characters.slice(1) : characters
  const ranges: [string, string][] = []
  for (let index = 0; index < members.length; index++) {
    const isRange = members[index + 1] === "-" && index + 2 < members.length
    ranges.push([members[index]!, members[isRange ? index + 2 : index]!])
    if (isRange) index += 2
  }
  return (character) => ranges.some(([low, high]) => low <= character && character <= high) !== negated
}

/** `a{b,c}` as `ab` and `ac`. A brace without its partner or without a comma is an ordinary character. */
function expand(pattern: string): string[] {
  const braces = firstBraces(pattern)
  if (!braces) return [pattern]
  const [before, after] = [pattern.slice(0, braces.start), pattern.slice(braces.end + 1)]
  const tails = expand(after)
  const all = braces.parts.flatMap(expand).flatMap((part) => tails.map((tail) => before + part + tail))
  if (all.length > mostAlternatives)
    throw new Error(`the pattern has over ${mostAlternatives} alternatives: make it simpler`)
  return all
}

function firstBraces(pattern: string): { start: number; end: number; parts: string[] } | undefined {
  for (let start = pattern.indexOf("{"); start !== -1; start = pattern.indexOf("{", start + 1)) {
    if (pattern[start - 1] === "\\") continue
    const found = bracesAt(pattern, start)
    if (found && found.parts.length > 1) return { start, ...found }
  }
  return undefined
}

function bracesAt(pattern: string, start: number): { end: number; parts: string[] } | undefined {
  const parts: string[] = []
  let [depth, from] = [0, start + 1]
  for (let index = start; index < pattern.length; index++) {
    const one = pattern[index]
    if (one === "\\") index++
    else if (one === "{") depth++
    else if (one === "," && depth === 1) {
      parts.push(pattern.slice(from, index))
      from = index + 1
    } else if (one === "}" && --depth === 0) return { end: index, parts: [...parts, pattern.slice(from, index)] }
  }
  return undefined
}
