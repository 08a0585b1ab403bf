import { createHash } from "node:crypto"

/** A long text that stands in a file of its own, named by its hash. */
export type Blob = { hash: string; text: string }
export type Line = { text: string; blobs: Blob[] }

const large = 16 * 1024
const mark = '$blob":'

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex")

/** A fact as a line of text, with its long strings taken out. */
export function encode(fact: object): Line {
  const text = JSON.stringify(fact)
  if (text.length <= large && !text.includes(mark)) return { text: `${text}\n`, blobs: [] }
  const blobs: Blob[] = []
  return { text: `${JSON.stringify(packed(JSON.parse(text), blobs))}\n`, blobs }
}

/** The hashes of the blobs that a line needs. */
export const blobsIn = (text: string): string[] =>
  text.includes(mark) ? [...text.matchAll(/"\$blob":"([0-9a-f]{64})"/g)].map(([, hash]) => hash!) : []

/** The object that a line holds. Throws when it is not JSON. `find` gives the text of each blob. */
export function decode(text: string, find: (hash: string, length: unknown) => string): unknown {
  const value = JSON.parse(text)
  return text.includes(mark) ? unpacked(value, find) : value
}

function packed(value: unknown, blobs: Blob[]): unknown {
  // Half a surrogate pair has no UTF-8 form: such a string stays in the line, where JSON escapes it.
  if (typeof value === "string" && value.length > large && value.isWellFormed()) {
    const hash = hashOf(value)
    blobs.push({ hash, text: value })
    return { $blob: hash, length: value.length }
  }
  // An object that only looks like our reference gets one more `$`, which `unpacked` takes off.
  return mapped(
    value,
    (key) => (/^\$+blob$/.test(key) ? `$${key}` : key),
    (each) => packed(each, blobs),
  )
}

function unpacked(value: unknown, find: (hash: string, length: unknown) => string): unknown {
  if (typeof value === "object" && value !== null && "$blob" in value && typeof value.$blob === "string")
    return find(value.$blob, "length" in value ? value.length : undefined)
  return mapped(
    value,
    (key) => (/^\$\$+blob$/.test(key) ? key.slice(1) : key),
    (each) => unpacked(each, find),
  )
}

/** `Object.fromEntries` keeps the order of keys and makes even `__proto__` a plain one. */
function mapped(value: unknown, name: (key: string) => string, change: (each: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(change)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [name(key), change(each)]))
}
