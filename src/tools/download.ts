import { lookup as dnsLookup } from "node:dns/promises"
import { request as http, type IncomingMessage, type RequestOptions } from "node:http"
import { request as https } from "node:https"
import { isIP, type LookupFunction } from "node:net"
import { reasonOf } from "../core/error.ts"
import { decompressed } from "./decompressed.ts"

type Address = { address: string; family: number }
export type Lookup = (host: string) => Promise<Address[]>

/** What a server answered, whole and decoded. `url` is where the redirects led. */
export type Download = { url: string; status: number; type: string; body: Buffer; headers: IncomingMessage["headers"] }

type Options = {
  signal: AbortSignal
  /** Says which addresses may not be reached. */
  refuses(address: string): boolean
  lookup?: Lookup
  headers?: Record<string, string>
  redirects?: number
  /** Milliseconds for everything. */
  timeout?: number
  /** Bytes, as sent and as decoded. */
  limit?: number
}

const resolve: Lookup = (host) => dnsLookup(host, { all: true })

/** One GET. Every hop is checked anew, and the address that was checked is the one that is connected to. */
export async function download(address: string, options: Options): Promise<Download> {
  const { redirects = 5, timeout = 30_000 } = options
  const late = AbortSignal.timeout(timeout)
  const signal = AbortSignal.any([options.signal, late])
  try {
    let url = checked(address)
    for (let hop = 0; ; hop++) {
      const answer = await hopTo(url, { ...options, signal })
      if (!("location" in answer)) return answer
      if (hop === redirects) throw new Error(tooFar(address, redirects, answer.location))
      url = checked(answer.location, url)
    }
  } catch (error) {
    if (late.aborted) throw new Error(`${address} did not answer in full within ${timeout / 1000} s`)
    throw error
  }
}

const tooFar = (address: string, redirects: number, location: string): string =>
  redirects === 0
    ? `${address} answered with a redirect, which is not followed here, to ${location}`
    : `${address} redirected more than ${redirects} times; the last was to ${location}`

/** The URL that a text means, if it is one that may be fetched at all. */
export function checked(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (!url) throw new Error(`${JSON.stringify(text)} is not a URL; give one that begins with https:// or http://`)
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new Error(`only http and https can be fetched, not ${url.protocol}`)
  }
  if (url.username !== "" || url.password !== "") {
    throw new Error("a URL with a user name or a password in it is not fetched; leave them out")
  }
  return url
}

async function hopTo(url: URL, options: Options): Promise<Download | { location: string }> {
  const { signal, limit = 5_000_000, headers } = options
  const addresses = await reachable(url, options)
  const response = await answered(url, {
    signal,
    lookup: pinned(addresses),
    agent: false,
    headers: {
      "user-agent": "legwork",
      accept: "text/html, text/markdown, text/plain, application/json, */*;q=0.5",
      "accept-encoding": "gzip, br, deflate",
      ...headers,
    },
  })
  try {
    const status = response.statusCode ?? 0
    const { location } = response.headers
    if (status >= 300 && status < 400 && location) return { location }
    const raw = await collected(response, url, limit)
    const body = await decompressed(raw, response.headers["content-encoding"] ?? "", limit)
    return { url: url.href, status, type: response.headers["content-type"] ?? "", body, headers: response.headers }
  } finally {
    response.destroy()
  }
}

async function reachable(url: URL, { refuses, lookup = resolve, signal }: Options): Promise<Address[]> {
  const host = url.hostname.replace(/^\[|\]$/g, "")
  const family = isIP(host)
  const addresses = family === 0 ? await found(host, lookup, signal) : [{ address: host, family }]
  const bad = addresses.find(({ address }) => refuses(address))
  if (!bad) return addresses
  const what = family === 0 ? `${host} (${bad.address})` : host
  throw new Error(`${what} is a private address, which is not fetched unless the user's settings allow it`)
}

async function found(host: string, lookup: Lookup, signal: AbortSignal): Promise<Address[]> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener("abort", abort, { once: true })
  try {
    const addresses = await Promise.race([lookup(host), aborted.promise])
    if (addresses.length > 0) return addresses
  } catch (error) {
    if (signal.aborted) throw error
  } finally {
    signal.removeEventListener("abort", abort)
  }
  throw new Error(`the host ${host} was not found; check its spelling and the network`)
}

/** A name is looked up once, before: asked again, a hostile server could give another address. */
const pinned =
  (addresses: Address[]): LookupFunction =>
  (_host, options, callback) => {
    if (options.all) callback(null, addresses)
    else callback(null, addresses[0]!.address, addresses[0]!.family)
  }

function answered(url: URL, options: RequestOptions): Promise<IncomingMessage> {
  const request = url.protocol === "https:" ? https : http
  return new Promise((done, failed) => {
    request(url, options, done)
      .on("error", (error) => failed(new Error(`${url.origin} could not be reached: ${reason(error)}`)))
      .end()
  })
}

/** Connecting to several addresses fails with all of their errors and no words of its own. */
const reason = (error: Error): string =>
  error instanceof AggregateError ? error.errors.map((each) => (each as Error).message).join("; ") : error.message

async function collected(response: IncomingMessage, url: URL, limit: number): Promise<Buffer> {
  if (Number(response.headers["content-length"]) > limit) throw tooLarge(url, limit)
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of response) {
      size += chunk.length
      if (size > limit) break
      chunks.push(chunk)
    }
  } catch (error) {
    throw new Error(`${url.origin} broke off its answer: ${reasonOf(error)}`)
  }
  if (size > limit) throw tooLarge(url, limit)
  return Buffer.concat(chunks)
}

const tooLarge = (url: URL, limit: number): Error =>
  new Error(
    `${url.href} is larger than ${limit} bytes, too large to fetch; download it with a command, or fetch a part`,
  )
