import * as z from "zod"
import { tool } from "../agent/scope.ts"
import { reasonOf } from "../core/error.ts"
import { capped } from "./cap.ts"
import { type Download, download } from "./download.ts"
import { decoded } from "./html.ts"
import { plain } from "./plain.ts"
import type { World } from "./world.ts"

const input = z.strictObject({
  query: z.string().trim().min(1).max(400),
  count: z.int().min(1).max(20).default(10),
})

type Options = { key: string; baseURL?: string; timeout?: number }

/** What we read of Brave's answer. A search without hits has no `web`. */
const answer = z.object({
  web: z
    .object({ results: z.array(z.object({ title: z.string(), url: z.string(), description: z.string().default("") })) })
    .optional(),
})

type Found = { title: string; url: string; description: string }

export function webSearch(world: World, { key, baseURL = "https://api.search.brave.com", timeout = 30_000 }: Options) {
  const base = baseURL.replace(/\/+$/, "")
  return tool({
    name: "web_search",
    description: "Searches the web; gives titles, addresses and excerpts. Read a page with web_fetch.",
    input,
    repeatable: true,
    access: () => ({ kind: "fetch", url: base }),
    run: async ({ query, count }, { signal, call }) => {
      const url = `${base}/res/v1/web/search?${new URLSearchParams({ q: query, count: String(count) })}`
      const headers = { accept: "application/json", "x-subscription-token": key }
      // The user chose the server, so it may be a private one; the key goes to no other, so redirects are not followed.
      const page = await download(url, { signal, timeout, headers, redirects: 0, refuses: () => false }).catch(
        (error) => {
          throw new Error(masked(reasonOf(error), key))
        },
      )
      const results = found(page).slice(0, count)
      const text =
        results.length === 0 ? `nothing was found for ${JSON.stringify(query)}` : results.map(entry).join("\n\n")
      return {
        ok: true,
        text: await capped(masked(text, key), { keep: world.keep, name: `${call}.txt` }),
        details: { kind: "found", shown: results.length, total: results.length },
      }
    },
  })
}

/** Also a server that repeats the key must not get it into a message. */
const masked = (text: string, key: string): string => (key === "" ? text : text.replaceAll(key, "…"))

function found({ status, headers, body }: Download): Found[] {
  if (status === 401 || status === 403) {
    throw new Error(`the search server refused the key (status ${status}); the user must set a valid BRAVE_API_KEY`)
  }
  if (status === 422)
    throw new Error("the search server refused the request (status 422): the key or the query is not valid")
  if (status === 429) {
    const after = headers["retry-after"]
    const wait = after && /^\d{1,6}$/.test(after) ? ` in ${after} s` : " later"
    throw new Error(
      `the search server allows no more requests for now (status 429); try again${wait}, or go on without`,
    )
  }
  if (status !== 200)
    throw new Error(`the search server answered with status ${status}; try again later, or go on without`)
  const parsed = answer.safeParse(json(body))
  if (parsed.success) return parsed.data.web?.results ?? []
  throw new Error(
    "the search server's answer was not of the form that Brave's API has; the user should check its base URL",
  )
}

function json(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

const entry = ({ title, url, description }: Found, index: number): string =>
  `${index + 1}. ${bare(title)} — ${bare(url)}${description === "" ? "" : `\n   ${bare(description)}`}`

/** One line without markup: excerpts come with the words that were found in bold. */
const bare = (text: string): string =>
  plain(decoded(text.replace(/<[^<>]*>/g, "")))
    .replace(/\s+/g, " ")
    .trim()
