export type Token =
  | { type: "text"; text: string }
  | { type: "open"; name: string; attributes: string }
  | { type: "close"; name: string }

/** Elements whose content is not markup and not meant for readers. */
const raw = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "iframe",
  "textarea",
  "object",
  "canvas",
  "math",
])

/** Splits a page into tags and text in one pass: whatever a hostile page nests or leaves open, the cost is linear. */
export function* tokens(html: string): Generator<Token> {
  const lower = html.toLowerCase()
  let at = 0
  while (at < html.length) {
    const start = nextTag(html, at)
    if (start > at) yield { type: "text", text: decoded(html.slice(at, start)) }
    if (start === html.length) return
    const end = tagEnd(html, start)
    const [, slash = "", tag = ""] = /^<(\/?)([a-z][a-z0-9:-]*)/.exec(lower.slice(start, start + 40)) ?? []
    at = end
    if (tag === "") continue
    if (slash === "/") yield { type: "close", name: tag }
    else if (raw.has(tag)) at = html[end - 2] === "/" ? end : after(lower, `</${tag}`, end)
    else yield { type: "open", name: tag, attributes: html.slice(start + 1 + tag.length, end - 1) }
  }
}

/** Where the next tag, comment or declaration begins: a bare "<" is text. */
function nextTag(html: string, from: number): number {
  for (let at = html.indexOf("<", from); at >= 0; at = html.indexOf("<", at + 1)) {
    if (/[a-z/!?]/i.test(html[at + 1] ?? "")) return at
  }
  return html.length
}

/** Past the end of a tag; a ">" inside of quotes does not count. What never ends takes the rest with it. */
function tagEnd(html: string, start: number): number {
  if (html.startsWith("<!--", start)) return after(html, "-->", start + 2)
  let quote = ""
  for (let at = start + 1; at < html.length; at++) {
    const char = html[at]!
    if (quote !== "") quote = char === quote ? "" : quote
    else if (char === ">") return at + 1
    else if ((char === '"' || char === "'") && /[=\s]/.test(html[at - 1]!)) quote = char
  }
  return html.length
}

function after(html: string, what: string, from: number): number {
  const at = html.indexOf(what, from)
  if (at < 0) return html.length
  return what.startsWith("</") ? after(html, ">", at) : at + what.length
}

export function attribute(attributes: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i").exec(
    attributes.slice(0, 4_000),
  )
  const value = found?.[1] ?? found?.[2] ?? found?.[3]
  return value === undefined ? undefined : decoded(value)
}

const named: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  copy: "©",
  reg: "®",
  trade: "™",
  deg: "°",
  middot: "·",
  bull: "•",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  larr: "←",
  rarr: "→",
  uarr: "↑",
  darr: "↓",
  times: "×",
  euro: "€",
  pound: "£",
  sect: "§",
  para: "¶",
  le: "≤",
  ge: "≥",
  ne: "≠",
  auml: "ä",
  ouml: "ö",
  uuml: "ü",
  Auml: "Ä",
  Ouml: "Ö",
  Uuml: "Ü",
  szlig: "ß",
  eacute: "é",
  egrave: "è",
  agrave: "à",
  ccedil: "ç",
  ntilde: "ñ",
  zwj: "",
  zwnj: "",
  shy: "",
}

/** Text without character references. Rare names stay as they are. */
export const decoded = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));?/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return named[name] ?? all
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "\ufffd"
  })
