import { fstatSync } from "node:fs"
import { UsageError } from "./exit.ts"

const most = 10 * 1024 * 1024
const patience = 3_000

/**
 * What comes on standard input. Without a prompt we wait for all of it. With one it is an addition, and a program that
 * started us may hold it open for ever: a pipe has three seconds for its first byte, a socket (a program's) as long as it
 * takes to get ready.
 */
export async function standardInput(
  stdin: NodeJS.ReadStream,
  prompt: string,
  ready: () => Promise<unknown>,
): Promise<string> {
  if (stdin.isTTY) return ""
  const kind = kindOf(0)
  if (kind === "nothing") return ""
  const text = readAll(stdin)
  if (prompt === "" || kind === "file") return text.all
  const late = kind === "pipe" ? new Promise((resolve) => setTimeout(resolve, patience).unref()) : ready()
  const began = await Promise.race([
    text.begun.then(() => true),
    late.then(
      () => false,
      () => false,
    ),
  ])
  if (began) return text.all
  if (kind === "pipe") console.error("legwork: nothing came on standard input for 3 s; going on without it")
  stdin.destroy()
  return ""
}

function kindOf(fd: number): "file" | "pipe" | "socket" | "nothing" {
  try {
    const stat = fstatSync(fd)
    if (stat.isFile()) return "file"
    if (stat.isFIFO()) return "pipe"
    return stat.isSocket() ? "socket" : "nothing"
  } catch {
    return "nothing" // closed before we started
  }
}

function readAll(stdin: NodeJS.ReadStream): { begun: Promise<void>; all: Promise<string> } {
  const begun = Promise.withResolvers<void>()
  const all = Promise.withResolvers<string>()
  const chunks: Buffer[] = []
  let size = 0
  stdin.on("data", (chunk: Buffer) => {
    chunks.push(chunk)
    begun.resolve()
    size += chunk.length
    if (size <= most) return
    stdin.destroy()
    all.reject(new UsageError("standard input is larger than 10 MB; put it in a file and name the file instead"))
  })
  const end = () => {
    begun.resolve()
    all.resolve(Buffer.concat(chunks).toString("utf8"))
  }
  stdin.on("end", end)
  stdin.on("error", end)
  all.promise.catch(() => {})
  return { begun: begun.promise, all: all.promise }
}
