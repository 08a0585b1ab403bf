import { attribute, type Token, tokens } from "./html.ts"
import { Prose } from "./prose.ts"

/**
 * A page as Markdown: its title first, its links absolute, without menus and scripts. One pass and no tree: a page of a
 * hundred kilobytes, nested on purpose, drives builders of trees out of memory.
 */
export function markdown(html: string, url: string): string {
  const page = new Page(url)
  for (const token of tokens(html)) page.take(token)
  return page.toString()
}

/** Elements that stand on lines of their own, and how many newlines keep them apart. */
const blocks = new Map<string, 1 | 2>([
  ...["li", "tr", "br", "dt", "dd", "summary"].map((name): [string, 1] => [name, 1]),
  ...`address article aside blockquote body details div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6
  header hr main ol p pre section table ul`
    .split(/\s+/)
    .map((name): [string, 2] => [name, 2]),
])
const skipped = new Set(["nav", "footer", "button", "dialog", "select"])
const main = new Set(["main", "article"])
const marks = new Map([
  ["b", "**"],
  ["strong", "**"],
  ["i", "_"],
  ["em", "_"],
  ["code", "`"],
  ["kbd", "`"],
])

/** However deep a page nests, the indent of its lines stays small. */
const deepest = 8

class Page {
  #url: string
  #prose = new Prose()
  #title = ""
  #titled: "before" | "inside" | "after" = "before"
  #lists: { ordered: boolean; items: number }[] = []
  #quotes = 0
  #pre = false
  #row = { cells: 0, heads: 0 }
  #href: string | undefined
  #skip: { name: string; depth: number } | undefined

  constructor(url: string) {
    this.#url = url
  }

  take(token: Token): void {
    if (this.#skip && !this.#ends(token, this.#skip)) return
    switch (token.type) {
      case "text":
        if (this.#titled === "inside") this.#title += token.text
        else if (this.#pre) this.#prose.put(token.text)
        else this.#prose.text(token.text)
        return
      case "open":
        this.#open(token.name, token.attributes)
        return
      case "close":
        this.#close(token.name)
        return
      default:
        token satisfies never
    }
  }

  toString(): string {
    this.#close("pre")
    const title = this.#title.replace(/\s+/g, " ").trim()
    const text = this.#prose.toString()
    return title === "" || text.startsWith(`# ${title}\n`) ? text : `# ${title}\n\n${text}`.trim()
  }

  /** What is skipped ends with its own tag, or, left open, where the page's main part begins. */
  #ends(token: Token, skip: { name: string; depth: number }): boolean {
    if (token.type === "open" && main.has(token.name)) this.#skip = undefined
    else if (token.type === "open" && token.name === skip.name) skip.depth++
    else if (token.type === "close" && token.name === skip.name && --skip.depth === 0) this.#skip = undefined
    return this.#skip === undefined
  }

  #open(name: string, attributes: string): void {
    if (this.#pre && name !== "br") return
    this.#break(name)
    if (skipped.has(name)) this.#skip = { name, depth: 1 }
    if (marks.has(name)) this.#prose.open(name)
    switch (name) {
      case "title":
        if (this.#titled === "before") this.#titled = "inside"
        return
      case "h1":
      case "h2":
      case "h3":
      case "h4":
      case "h5":
      case "h6":
        this.#prose.mark(`${"#".repeat(Number(name[1]))} `)
        break
      case "ul":
      case "ol":
        this.#lists.push({ ordered: name === "ol", items: 0 })
        this.#indent()
        break
      case "li":
        this.#prose.mark(this.#bullet())
        break
      case "blockquote":
        this.#quotes++
        this.#indent()
        break
      case "hr":
        this.#prose.put("---")
        break
      case "pre":
        this.#pre = true
        this.#prose.put("```\n")
        break
      case "tr":
        this.#row = { cells: 0, heads: 0 }
        return
      case "td":
      case "th":
        this.#cell(name)
        break
      case "a":
        this.#href = absolute(attribute(attributes, "href"), this.#url)
        this.#prose.open("a")
        break
      case "img":
        this.#image(attributes)
        break
    }
  }

  #close(name: string): void {
    if (this.#pre && name !== "pre") return
    const mark = marks.get(name)
    if (mark) this.#prose.close(name, (text) => (text.includes("\n") ? text : `${mark}${text}${mark}`))
    switch (name) {
      case "title":
        this.#titled = "after"
        return
      case "pre":
        if (this.#pre) this.#prose.put("\n```")
        this.#pre = false
        break
      case "a":
        this.#link()
        return
      case "ul":
      case "ol":
        this.#lists.pop()
        this.#indent()
        break
      case "blockquote":
        this.#quotes = Math.max(0, this.#quotes - 1)
        this.#indent()
        break
      case "tr":
        this.#endRow()
        break
    }
    this.#break(name)
  }

  /** Lists within lists follow without an empty line. */
  #break(name: string): void {
    const lines = blocks.get(name)
    if (lines && this.#pre) this.#prose.put("\n")
    else if (lines) this.#prose.gap(this.#lists.length > 0 ? 1 : lines)
  }

  #indent(): void {
    const quotes = Math.min(this.#quotes, deepest)
    const lists = Math.min(Math.max(this.#lists.length - 1, 0), deepest)
    this.#prose.indent = "> ".repeat(quotes) + "  ".repeat(lists)
  }

  #bullet(): string {
    const list = this.#lists.at(-1)
    if (!list?.ordered) return "- "
    list.items++
    return `${list.items}. `
  }

  #cell(name: "td" | "th"): void {
    this.#row.cells++
    if (name === "th") this.#row.heads++
    this.#prose.space()
    this.#prose.put("|")
    this.#prose.space()
  }

  #endRow(): void {
    const { cells, heads } = this.#row
    if (cells === 0) return
    this.#prose.space()
    this.#prose.put("|")
    this.#row = { cells: 0, heads: 0 }
    if (heads < cells) return
    this.#prose.gap(1)
    this.#prose.put(`|${" --- |".repeat(cells)}`)
  }

  #link(): void {
    const href = this.#href
    this.#href = undefined
    this.#prose.close("a", (text) => (href === undefined ? text : `[${text.replace(/\s+/g, " ")}](${href})`))
  }

  #image(attributes: string): void {
    const alt = attribute(attributes, "alt")?.replace(/\s+/g, " ").trim()
    const source = absolute(attribute(attributes, "src"), this.#url)
    if (alt && source) this.#prose.put(`![${alt}](${source})`)
  }
}

/** Only what can be fetched is worth naming: no scripts, no images written out in their address. */
function absolute(address: string | undefined, base: string): string | undefined {
  const url = address === undefined ? null : URL.parse(address, base)
  return url?.protocol === "http:" || url?.protocol === "https:" ? url.href : undefined
}
