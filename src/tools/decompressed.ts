import { promisify } from "node:util"
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions } from "node:zlib"

type Decode = (body: Buffer, options: ZlibOptions) => Promise<Buffer>

const decoders: Record<string, Decode> = {
  gzip: promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  "x-gzip": promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  br: promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress),
  // Some servers send the bare stream, without the wrapper that the name stands for.
  deflate: (body, options) => (((body[0] ?? 0) & 0x0f) === 8 ? wrapped : bare)(body, options),
}
const wrapped = promisify<Buffer, ZlibOptions, Buffer>(inflate)
const bare = promisify<Buffer, ZlibOptions, Buffer>(inflateRaw)

/** The body without the encodings that its header names. A small body that unpacks to a huge one is refused. */
export async function decompressed(body: Buffer, encoding: string, limit: number): Promise<Buffer> {
  const names = encoding
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
  let decoded = body
  for (const name of names.filter((name) => name !== "" && name !== "identity").reverse()) {
    const decode = decoders[name]
    if (!decode) throw new Error(`the server sent an encoding that was not asked for: ${name.slice(0, 50)}`)
    decoded = await decode(decoded, { maxOutputLength: limit }).catch((error: unknown) => {
      const why = error instanceof RangeError ? `it unpacks to more than ${limit} bytes` : "it is broken or cut off"
      throw new Error(`the ${name} body cannot be read: ${why}`)
    })
  }
  return decoded
}
