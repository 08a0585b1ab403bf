import { languageOf } from "./languages.ts"
import type { Paint, Theme } from "./theme.ts"

type Paints = Pick<Theme, "accent" | "added" | "dim" | "good" | "removed" | "warning">

/** The lines of a piece of code, with its comments, strings, numbers and keywords in colours of their own. */
export function highlighted(code: string, language: string | undefined, theme: Paints): string[] {
  const name =
    language
      ?.trim()
      .split(/[\s,{]/, 1)[0]
      ?.toLowerCase() ?? ""
  if (name === "diff" || name === "patch") return code.split("\n").map((line) => changed(line, theme))
  const known = languageOf(name)
  if (!known) return code.split("\n")
  const { pattern, keywords, anyCase } = known
  const painted = code.replace(pattern, (token, comment, string, number) => {
    if (comment !== undefined) return byLine(token, theme.dim)
    if (string !== undefined) return byLine(token, theme.good)
    if (number !== undefined) return theme.warning(token)
    return keywords.has(anyCase ? token.toLowerCase() : token) ? theme.accent(token) : token
  })
  return painted.split("\n")
}

/** Each line has its style for itself, so that a line may be shown without the one before. */
const byLine = (token: string, paint: Paint): string => token.split("\n").map(paint).join("\n")

function changed(line: string, { added, removed, dim }: Paints): string {
  if (line.startsWith("+")) return added(line)
  if (line.startsWith("-")) return removed(line)
  return line.startsWith("@@") ? dim(line) : line
}
