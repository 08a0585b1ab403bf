import type { World } from "./world.ts"

type Keeping = { keep: World["keep"]; name: string; cap?: number }

/** Text that fits a message: what is longer loses its middle, and says where all of it is. */
export async function capped(text: string, { keep, name, cap = 50_000 }: Keeping): Promise<string> {
  if (text.length <= cap) return text
  const path = await keep(name, text)
  const half = Math.floor(cap / 2)
  const head = headOf(text, half)
  const tail = tailOf(text, half)
  const left = text.length - head.length - tail.length
  const note = `[${left} of ${text.length} characters left out here; all of it is in ${path}: read that file with offset and limit, or grep it]`
  return `${head}\n\n${note}\n\n${tail}`
}

/** At most the first `length` characters, never half of a surrogate pair. */
export function headOf(text: string, length: number): string {
  if (text.length <= length) return text
  return text.slice(0, isHigh(text.charCodeAt(length - 1)) ? length - 1 : length)
}

/** At most the last `length` characters, never half of a surrogate pair. */
export function tailOf(text: string, length: number): string {
  const start = text.length - length
  if (start <= 0) return text
  return text.slice(isHigh(text.charCodeAt(start - 1)) ? start + 1 : start)
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
