import { join, relative, resolve } from "node:path"
import { isWithin } from "../core/within.ts"

/** Where paths in rules start from. */
export type Place = { root: string; home: string }

/**
 * How a rule is read. One that allows means no more than it must; one that denies or asks means all that it might: in
 * any case, from either root, at any depth.
 */
export type Reach = "narrow" | "wide"

const longest = 4_096

/** Whether a path fits a rule's pattern. `~/x` and `$HOME/x` are from home, `//x` from the file system's root, all else from the workspace. */
export async function pathFits(pattern: string, path: string, place: Place, reach: Reach): Promise<boolean> {
  if (pattern === "*") return true
  if (path.length > longest) return reach === "wide"
  for (const [base, glob] of anchors(pattern, place, reach))
    if (await anchoredFits(base, glob, path, reach)) return true
  const name = pattern.replace(/^\*\*\//, "")
  return reach === "wide" && !name.includes("/") && (await anyName(name, path))
}

/** Whether a pattern means this one path and no other. */
export function isExactly(pattern: string, path: string, place: Place): boolean {
  if (plainOf(pattern) === undefined) return false
  return anchors(pattern, place, "narrow").some(([base, glob]) => resolve(base, plainOf(glob)!) === path)
}

/** A pattern that only this path fits. */
export function pathPattern(path: string, { root, home }: Place): string {
  const escaped = (text: string) => text.replaceAll(/[\\*?[\]{}]/g, "\\$&")
  const inside = escaped(relative(root, path))
  if (path !== root && isWithin(path, root)) return /^[\w.]/.test(inside) ? inside : `./${inside}`
  return path !== home && isWithin(path, home) ? `~/${escaped(relative(home, path))}` : `/${escaped(path)}`
}

/** A rule's pattern as folders to start from, and what is left of it there. */
function anchors(pattern: string, { root, home }: Place, reach: Reach): [string, string][] {
  const trimmed = pattern.replace(/(?<=[^/])\/+$/, "").replace(/^\$HOME(?=\/|$)/, "~")
  if (trimmed === "~" || trimmed.startsWith("~/")) return [[home, trimmed.slice(2)]]
  if (trimmed.startsWith("//")) return [["/", trimmed.replace(/^\/+/, "")]]
  const rest = trimmed.replace(/^\/+/, "")
  // Who writes one slash may have meant either root.
  const roots = reach === "wide" ? [root, "/"] : [root]
  if (trimmed.startsWith("/")) return roots.map((base) => [base, rest])
  const [ups = ""] = /^(\.{1,2}\/+)*(\.{1,2}$)?/.exec(trimmed) ?? []
  const own: [string, string] = [join(root, ups), trimmed.slice(ups.length)]
  return reach === "wide" && rest.startsWith("**/") ? [own, ["/", rest]] : [own]
}

/** The text of a pattern without wildcards. */
function plainOf(pattern: string): string | undefined {
  return /(?<!\\)(\\\\)*[*?[{]/.test(pattern) ? undefined : pattern.replaceAll(/\\(.)/g, "$1")
}

const folded = (text: string): string => text.normalize("NFC").toLowerCase()

const isBelow = (path: string, folder: string, reach: Reach): boolean =>
  isWithin(path, folder) || (reach === "wide" && isWithin(folded(path), folded(folder)))

/** A wide pattern that fits a folder fits all below it; a narrow one only if it is the folder's plain name. */
async function anchoredFits(base: string, glob: string, path: string, reach: Reach): Promise<boolean> {
  const plain = plainOf(glob)
  if (plain !== undefined) return isBelow(path, resolve(base, plain), reach)
  if (!isWithin(path, base)) return false
  const test = await matcher(glob, reach)
  if (test === "too slow") return reach === "wide"
  const rest = relative(base, path)
  return test(flat(reach === "wide" ? folded(rest) : rest))
}

async function anyName(glob: string, path: string): Promise<boolean> {
  const plain = plainOf(glob)
  const names = folded(path).split("/")
  if (plain !== undefined) return names.includes(folded(plain))
  const test = await matcher(glob, "wide")
  return test === "too slow" || names.some((name) => name !== "" && test(flat(name)))
}

/** Patterns become regular expressions, so what could make one slow, or mean something to it alone, is kept out. */
async function matcher(glob: string, reach: Reach): Promise<((path: string) => boolean) | "too slow"> {
  const stars = glob.match(/\*+/g) ?? []
  const isSlow =
    stars.length > 5 || stars.filter((run) => run.length > 1).length > 2 || /\*[^/]*\*[^/]*\*[^/]/.test(glob)
  if (isSlow || glob.length > longest) return "too slow"
  const { default: picomatch } = await import("picomatch")
  const safe = flat(reach === "wide" ? folded(glob) : glob).replaceAll(/\\?[()+|^$!@#]/g, (one) => `\\${one.at(-1)}`)
  return picomatch(reach === "wide" ? [safe, `${safe}/**`] : safe, { dot: true, nocase: reach === "wide" })
}

/** No wildcard of a regular expression reaches over the end of a line. */
const flat = (text: string): string => text.replaceAll(/[\n\r\u2028\u2029]/g, " ")
