/** Takes out what could steer a terminal: escape sequences and control characters, but for new lines and tabs. */
export const printable = (text: string): string =>
  text
    .replaceAll(
      /\u001b(?:\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|\[[0-?]*[ -/]*[@-~]?|[ -/]*[0-~]?)/g,
      "",
    )
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "")

export const oneLine = (text: string, most: number): string => {
  const flat = printable(text).replaceAll(/\s+/g, " ").trim()
  return flat.length > most ? `${flat.slice(0, most - 1)}…` : flat
}

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
