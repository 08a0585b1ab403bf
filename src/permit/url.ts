import type { Reach } from "./path.ts"
import { fits, piecesOf } from "./wildcard.ts"

const form = /^(https?|\*):\/\/(\*|(?:\*\.)?[^/:@*\s]+)(?::(\d+|\*))?(\/.*)?$/i

/** Whether a text can be a pattern for addresses: `domain:example.com`, or an address with wildcards. */
export const isUrlPattern = (pattern: string): boolean =>
  /^domain:(\*|(\*\.)?[^\s*/:]+|\[[\da-f:.]+\])$/i.test(pattern) || form.test(pattern)

/** Whether an address fits. A wide pattern also means the domains below its own, and every path where it has none. */
export function urlFits(pattern: string, url: string, reach: Reach): boolean {
  if (pattern === "*") return true
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed) return reach === "wide"
  const [, domain] = /^domain:(.+)$/i.exec(pattern) ?? []
  if (domain) return hostFits(domain, parsed, reach)
  const [, scheme = "", host = "", port, path] = form.exec(pattern) ?? []
  if (host === "") return reach === "wide"
  if (!hostFits(host, parsed, reach)) return false
  if (reach === "wide") return path === undefined || pathFits(path, parsed)
  if (`${scheme.toLowerCase()}:` !== parsed.protocol && scheme !== "*") return false
  if (port !== "*" && (port ?? "") !== parsed.port && `${port}` !== standard[parsed.protocol]) return false
  return pathFits(path ?? "/", parsed)
}

const standard: Record<string, string> = { "http:": "80", "https:": "443" }

const pathFits = (pattern: string, { pathname, search }: URL): boolean =>
  fits(piecesOf(pattern), pathname + search) || fits(piecesOf(pattern), pathname)

function hostFits(pattern: string, { hostname, username, password }: URL, reach: Reach): boolean {
  if (pattern === "*") return true
  const wanted = asHost(pattern.replace(/^\*\./, ""))
  const host = asHost(hostname)
  const isSub = host.endsWith(`.${wanted}`)
  if (reach === "wide") return host === wanted || isSub
  // An address with a name in front of its host is made to be misread.
  return username === "" && password === "" && (pattern.startsWith("*.") ? isSub : host === wanted)
}

/** A host's name as addresses spell it, whatever its letters. */
function asHost(name: string): string {
  const url = `http://${name}`
  return (URL.canParse(url) ? new URL(url).hostname : name.toLowerCase()).replace(/\.$/, "")
}
