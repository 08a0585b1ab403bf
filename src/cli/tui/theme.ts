import type { EditorTheme, MarkdownTheme, SelectListTheme } from "@earendil-works/pi-tui"

export type Paint = (text: string) => string

/** How things look. Nothing is told by colour alone: without colours every paint leaves the text as it is. */
export type Theme = {
  bold: Paint
  dim: Paint
  italic: Paint
  /** What can be acted on, or is chosen. */
  accent: Paint
  good: Paint
  bad: Paint
  warning: Paint
  added: Paint
  removed: Paint
  /** The colour of an agent: the one its file names, or one of its own by its name. */
  agent(name: string, color?: string): Paint
  markdown: MarkdownTheme
  editor: EditorTheme
  select: SelectListTheme
}

type Looks = { colors: boolean; dark: boolean }

const style =
  (on: number | string, off: number | string): Paint =>
  (text) =>
    text === "" ? text : `\u001b[${on}m${text}\u001b[${off}m`
const plain: Paint = (text) => text

/** Names that agent files use for colours, by their place in the palette of 256. */
const palettes = {
  dark: { red: 203, orange: 215, yellow: 221, green: 114, cyan: 80, blue: 75, purple: 141, pink: 212 },
  light: { red: 160, orange: 166, yellow: 136, green: 28, cyan: 30, blue: 26, purple: 91, pink: 162 },
}

export function themeOf({ colors, dark }: Looks): Theme {
  const palette: Record<string, number> = dark ? palettes.dark : palettes.light
  const paint = (on: number | string, off: number | string): Paint => (colors ? style(on, off) : plain)
  const color = (name: string): Paint => paint(`38;5;${palette[name] ?? palette.blue}`, 39)
  const names = Object.keys(palette)
  const [bold, dim, italic, accent] = [paint(1, 22), paint(2, 22), paint(3, 23), color("cyan")]
  const underline = paint(4, 24)
  return {
    bold,
    dim,
    italic,
    accent,
    good: color("green"),
    bad: color("red"),
    warning: color("yellow"),
    added: color("green"),
    removed: color("red"),
    agent: (name, wanted) =>
      color(wanted !== undefined && wanted in palette ? wanted : names[sum(name) % names.length]!),
    markdown: {
      heading: (text) => bold(accent(text)),
      link: underline,
      linkUrl: dim,
      code: color("orange"),
      codeBlock: plain,
      codeBlockBorder: dim,
      quote: italic,
      quoteBorder: dim,
      hr: dim,
      listBullet: accent,
      bold,
      italic,
      strikethrough: paint(9, 29),
      underline,
    },
    editor: { borderColor: dim, selectList: selecting({ accent, bold, dim }) },
    select: selecting({ accent, bold, dim }),
  }
}

const selecting = ({ accent, bold, dim }: Pick<Theme, "accent" | "bold" | "dim">): SelectListTheme => ({
  selectedPrefix: accent,
  selectedText: (text) => bold(accent(text)),
  description: dim,
  scrollInfo: dim,
  noMatch: dim,
})

const sum = (text: string): number => [...text].reduce((all, letter) => (all * 31 + letter.codePointAt(0)!) >>> 0, 7)
