import { closest } from "./closest.ts"
import { isCrlf, toCrlf } from "./text.ts"

export type Edit = { old_string: string; new_string: string; replace_all?: boolean | undefined }

/** All edits, each on what the one before it left. Throws at the first that does not fit, so none is done. */
export function applyEdits(text: string, edits: readonly Edit[]): { text: string; replaced: number } {
  let [now, replaced] = [text, 0]
  for (const [index, edit] of edits.entries()) {
    try {
      const done = applyEdit(now, edit)
      now = done.text
      replaced += done.replaced
    } catch (error) {
      if (edits.length === 1 || !(error instanceof Error)) throw error
      throw new Error(`edit ${index + 1} of ${edits.length}, so nothing was changed: ${error.message}`)
    }
  }
  return { text: now, replaced }
}

function applyEdit(text: string, edit: Edit): { text: string; replaced: number } {
  if (edit.old_string === "") throw new Error("old_string is empty: give the text to replace, or use write")
  if (edit.old_string === edit.new_string) throw new Error("old_string and new_string are the same: nothing to change")
  const { old_string: old, new_string: fresh } = inEndingsOf(text, edit)
  const places = occurrences(text, old)
  if (places.length === 0) throw new Error(`old_string is not in the file${closest(text, edit.old_string)}`)
  if (places.length > 1 && !edit.replace_all)
    throw new Error(
      `old_string is in the file ${places.length} times, ${linesOf(text, places)}: add the lines around the right one, or set replace_all`,
    )
  // Joined, not `replace`: a new text may contain `$&` and must come out as it is.
  return { text: text.split(old).join(fresh), replaced: places.length }
}

/** Models write line feeds. A file that ends its lines otherwise is matched, and goes on, in its own way. */
function inEndingsOf(text: string, edit: Edit): Edit {
  const converted = { ...edit, old_string: toCrlf(edit.old_string), new_string: toCrlf(edit.new_string) }
  if (isCrlf(text)) return converted
  return !text.includes(edit.old_string) && text.includes(converted.old_string) ? converted : edit
}

function occurrences(text: string, part: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) places.push(at)
  return places
}

const mostLines = 10

function linesOf(text: string, places: readonly number[]): string {
  const numbers = places.slice(0, mostLines).map((at) => text.slice(0, at).split("\n").length)
  return `at lines ${numbers.join(", ")}${places.length > mostLines ? " …" : ""}`
}
