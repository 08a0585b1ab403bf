import * as z from "zod"
import { tool } from "../agent/scope.ts"
import { isPrivate } from "./addresses.ts"
import { capped, headOf } from "./cap.ts"
import { checked, type Download, download, type Lookup } from "./download.ts"
import { markdown } from "./markdown.ts"
import { plain } from "./plain.ts"
import type { World } from "./world.ts"

const input = z.strictObject({ url: z.string().min(1).max(8_000) })

type Options = { allowPrivate: boolean; lookup?: Lookup; timeout?: number; limit?: number }

export const webFetch = (world: World, { allowPrivate, ...limits }: Options) =>
  tool({
    name: "web_fetch",
    description: "Fetches a web page or file by http(s). HTML comes as Markdown, other text as it is.",
    input,
    repeatable: true,
    access: ({ url }) => ({ kind: "fetch", url: checked(url).href }),
    run: async ({ url }, { signal, call }) => {
      const refuses = allowPrivate ? () => false : isPrivate
      const page = await download(url, { signal, refuses, ...limits })
      const ok = page.status >= 200 && page.status < 300
      const text = `${heading(page)}\n\n${plain(readable(page)).trim() || "(empty)"}`
      return {
        ok,
        text: ok ? await capped(text, { keep: world.keep, name: `${call}.txt` }) : headOf(text, 2_000),
        details: { kind: "page", url: page.url, status: page.status, bytes: page.body.length },
      }
    },
  })

const heading = ({ url, status, type }: Download): string => plain(`${url} (${status}, ${type || "no type given"})`)

const textual = /^(?:text\/|application\/(?:[a-z0-9.-]*\+)?(?:json|xml|yaml|x-yaml|toml|javascript|x-sh|sql|x-ndjson)$)/

/** Longer pages are cut before they are read: what is beyond would be left out all the same. */
const longest = 2_000_000

function readable(page: Download): string {
  const type = page.type.split(";")[0]!.trim().toLowerCase()
  if (type === "text/html" || type === "application/xhtml+xml") {
    return markdown(decode(page).slice(0, longest), page.url)
  }
  if (textual.test(type) || (type === "" && !page.body.subarray(0, 8_000).includes(0))) return decode(page)
  if (page.body.length === 0) return ""
  throw new Error(
    `${page.url} is ${type || "binary data"} (${page.body.length} bytes), which is no text; to have the file, download it with a command`,
  )
}

/** The character set is what the header says, else a byte order mark, else the page itself, else UTF-8. */
function decode({ type, body }: Download): string {
  const header = /charset\s*=\s*["']?([^\s;"']+)/i.exec(type)?.[1]
  const inside = /<meta[^>]{0,200}charset\s*=\s*["']?([^\s;"'/>]+)/i.exec(body.toString("latin1", 0, 2_048))?.[1]
  const charset = header ?? marked(body) ?? inside ?? "utf-8"
  try {
    return new TextDecoder(charset).decode(body)
  } catch {
    // A name that nobody knows: most text is UTF-8 by now.
    return new TextDecoder().decode(body)
  }
}

function marked(body: Buffer): string | undefined {
  if (body[0] === 0xfe && body[1] === 0xff) return "utf-16be"
  if (body[0] === 0xff && body[1] === 0xfe) return "utf-16le"
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? "utf-8" : undefined
}
