import type { Entry } from "./entry.ts"

type Read = { value: unknown } | undefined

/**
 * Reads front matter that is so plain that it needs no YAML parser, which most is: loading one takes longer than all
 * the rest. Whatever could mean something else in YAML is left to it: then this is undefined.
 */
export function plain(lines: readonly string[], firstLine: number): Entry[] | undefined {
  const entries: Entry[] = []
  const seen = new Set<string>()
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    if (/^ *(?:#|$)/.test(line)) continue
    const colon = line.indexOf(":")
    const key = line.slice(0, Math.max(colon, 0))
    const text = trimmed(line.slice(colon + 1))
    if (!/^[A-Za-z_][\w-]*$/.test(key) || isWord(key) || seen.has(key) || unusual(line)) return undefined
    if (text && line[colon + 1] !== " ") return undefined
    seen.add(key)
    const items = text ? [] : itemsAfter(lines, at)
    const read = items?.length ? { value: items } : items && scalarOrList(text)
    if (!read) return undefined
    entries.push({ key, value: read.value, text, line: firstLine + at })
    at += items!.length
  }
  return entries.length ? entries : undefined
}

/** The items of a block list that follows; undefined if what follows is anything else that belongs to the key. */
function itemsAfter(lines: readonly string[], at: number): unknown[] | undefined {
  const indent = /^ *(?=- )/.exec(lines[at + 1] ?? "")?.[0]
  if (indent === undefined) return /^(?: |-)/.test(lines[at + 1] ?? "") ? undefined : []
  const items: unknown[] = []
  for (let next = at + 1; next < lines.length; next++) {
    const line = lines[next]!
    if (!line.startsWith(`${indent}- `)) return /^[ -]/.test(line) ? undefined : items
    const read = unusual(line) ? undefined : scalar(trimmed(line.slice(indent.length + 2)))
    if (!read) return undefined
    items.push(read.value)
  }
  return items
}

const unusual = (line: string): boolean => /[\t\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]/.test(line)
const isWord = (text: string): boolean => /^(?:null|true|false)$/i.test(text)

function scalarOrList(text: string): Read {
  if (text === "") return { value: null }
  if (!text.startsWith("[")) return scalar(text)
  if (!text.endsWith("]")) return undefined
  const inner = trimmed(text.slice(1, -1))
  if (inner === "") return { value: [] }
  const items = inner.split(",").map((item) => flowItem(trimmed(item)))
  return items.every((item) => item !== undefined) ? { value: items } : undefined
}

function flowItem(text: string): string | undefined {
  const quoted = /^(?:"([^"\\]*)"|'([^']*)')$/.exec(text)
  if (quoted) return quoted[1] ?? quoted[2]
  return /^[A-Za-z_][\w./*()-]*$/.test(text) && !isWord(text) ? text : undefined
}

function scalar(text: string): Read {
  const quoted = /^(?:"([^"\\]*)"|'([^']*)')$/.exec(text)
  if (quoted) return { value: quoted[1] ?? quoted[2] }
  if (text.startsWith('"')) return json(text)
  if (text === "true" || text === "false") return { value: text === "true" }
  if (/^(?:0|[1-9]\d{0,14})$/.test(text) || /^\d{1,6}\.\d{1,6}$/.test(text)) return { value: Number(text) }
  if (/^\d+\.\d+\.\d+$/.test(text)) return { value: text }
  if (isWord(text) || !/^[A-Za-z(/\u00a1-\ufefe]/.test(text)) return undefined
  return text.includes(": ") || text.includes(" #") || text.endsWith(":") ? undefined : { value: text }
}

/** Every string of JSON is one of YAML. */
function json(text: string): Read {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Without the spaces at its ends, and only those. */
function trimmed(text: string): string {
  let [from, to] = [0, text.length]
  while (text[from] === " ") from++
  while (to > from && text[to - 1] === " ") to--
  return text.slice(from, to)
}
