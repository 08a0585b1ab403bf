import { closeSync, openSync, readSync } from "node:fs"

/** So many random bytes in hex, from the system itself: loading Node's crypto takes longer than all else that a start loads. */
export function randomHex(bytes: number): string {
  const buffer = Buffer.alloc(bytes)
  let file: number
  try {
    file = openSync("/dev/urandom", "r")
  } catch {
    return process.getBuiltinModule("node:crypto").randomBytes(bytes).toString("hex")
  }
  try {
    if (readSync(file, buffer, 0, bytes, null) !== bytes) throw new Error("/dev/urandom gives too little")
  } finally {
    closeSync(file)
  }
  return buffer.toString("hex")
}
