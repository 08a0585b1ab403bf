import { locate, parsed } from "./json.ts"
import type { Layer, Said, Trim } from "./layers.ts"
import type { Problem } from "./settings.ts"

/** What a settings file of ours says, or everything that is wrong with it. */
export async function readOwn({ file, content }: Layer, trim: Trim): Promise<Said | { problems: Problem[] }> {
  if (content.got === "refused") return { problems: [{ where: file, message: content.why }] }
  const { text } = content
  const json = parsed(text)
  if ("what" in json) return { problems: [{ where: file, line: json.line, message: `not JSON here: ${json.what}` }] }
  const { kept, diagnostics } = trim(json.value)
  // Nothing but a settings file needs a schema.
  const { check } = await import("./schema.ts")
  const result = check(kept)
  if (result.ok) return { settings: result.settings, diagnostics, lost: false }
  const lines = locate(text)
  return {
    problems: result.wrong.map(({ path, message }) => {
      const line = lines.of(path) ?? lines.of(path.slice(0, -1))
      return { where: file, ...(line && { line }), ...(path.length && { key: dotted(path) }), message }
    }),
  }
}

const dotted = (path: readonly PropertyKey[]): string =>
  path.map((key) => (/^[\w$-]+$/.test(String(key)) ? String(key) : JSON.stringify(key))).join(".")
