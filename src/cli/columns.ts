/** Letters of East Asia and pictures take two columns of a terminal. */
export const wide =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303f\uff00-\uff60]|\p{Emoji_Presentation}/u

/** How many columns a text without escape sequences takes. */
const columnsOf = (text: string): number => [...text].reduce((sum, letter) => sum + (wide.test(letter) ? 2 : 1), 0)

/** Rows of a name and what there is to say of it, one under the other. */
export function aligned(rows: readonly [name: string, about: string][], paint = (name: string) => name): string[] {
  const width = Math.max(0, ...rows.map(([name]) => columnsOf(name)))
  return rows.map(([name, about]) => `${paint(name)}${" ".repeat(width - columnsOf(name))}  ${about}`)
}
