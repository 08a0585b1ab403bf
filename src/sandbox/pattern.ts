import { normalize } from "node:path"

/** Where one letter may be any, and where any number of letters may stand. */
const one = Symbol("one")
const many = Symbol("many")
/** Any number of folders, none included. */
export const deep = Symbol("deep")

type Letter = string | typeof one | typeof many
/** What one name on the way to a file may be. */
export type Step = typeof deep | readonly Letter[]

const mostWays = 256

/** The ways that a pattern describes, name by name. Where spellings differ between systems, it describes more rather than less. */
export function waysOf(glob: string): Step[][] {
  const names = (way: string) =>
    normalize(way)
      .split("/")
      .filter((name) => name !== "" && name !== ".")
  // Two stars beside letters reach over folders for some.
  const spread = /\\.|(?<=[^/])\*{2,}|\*{2,}(?=[^/])/gs
  const whole = glob.replaceAll("\\/", "/").replaceAll(spread, (text) => (text[0] === "*" ? "{*,*/**/*}" : text))
  return unfolded(whole).map((way) => names(way).map(stepOf))
}

/** Takes time in proportion to both lengths at worst, whatever the pattern. */
export function stepFits(step: Exclude<Step, typeof deep>, name: string): boolean {
  const letters = [...folded(name)]
  let [at, from, star, resumed] = [0, 0, -1, 0]
  while (from < letters.length) {
    if (step[at] === many) {
      star = at++
      resumed = from
    } else if (at < step.length && (step[at] === one || step[at] === letters[from])) {
      at++
      from++
    } else if (star >= 0) {
      at = star + 1
      from = ++resumed
    } else {
      return false
    }
  }
  return step.slice(at).every((letter) => letter === many)
}

/** File systems differ in whether case and the way that accents are written count. */
const folded = (text: string): string => text.normalize("NFC").toLowerCase()

function stepOf(name: string): Step {
  if (/^\*{2,}$/.test(name)) return deep
  const letters = folded(name).matchAll(/\\(.)|\*+|\?|\[(?:\\.|\[:\w+:\]|[^\]\\])+\]|./gsu)
  return [...letters].map(([text, escaped]): Letter => {
    if (escaped !== undefined) return escaped
    if (text.startsWith("*")) return many
    return text === "?" || text.length > 2 ? one : text
  })
}

/** Each choice that braces leave as a pattern of its own, from the innermost out. */
function unfolded(glob: string): string[] {
  const [whole, before = "", inner = "", after = ""] = /^((?:\\.|[^\\])*?)\{((?:\\.|[^\\{}])*)\}(.*)$/s.exec(glob) ?? []
  if (whole === undefined) return [glob]
  const choices = inner.split(/(?<!\\),/)
  if (choices.length === 1) return unfolded(before + (inner.includes("..") ? "*" : `\\{${inner}\\}`) + after)
  const ways = new Set(choices.flatMap((choice) => unfolded(before + choice + after)))
  if (ways.size > mostWays)
    throw new Error(`${JSON.stringify(glob)} leaves too many choices; write several rules instead`)
  return [...ways]
}
