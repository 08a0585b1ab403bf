export { printable } from "../../core/one-line.ts"

/** Letters of East Asia and pictures take two columns of a terminal. */
const wide =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303f\uff00-\uff60]|\p{Emoji_Presentation}/u

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
