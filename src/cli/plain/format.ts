import { wide } from "../columns.ts"

export function cut(line: string, width: number): string {
  let columns = 0
  let kept = ""
  for (const letter of line) {
    columns += wide.test(letter) ? 2 : 1
    if (columns > width) return `${kept.slice(0, -1)}…`
    kept += letter
  }
  return line
}

/** Every letter that does not show itself, written out: for questions, where nothing may hide. */
export const visible = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (letter) => {
    if (letter === "\n") return letter
    const code = letter.codePointAt(0)!.toString(16)
    return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u{${code}}`
  })
