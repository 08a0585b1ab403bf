import { isUtf8 } from "node:buffer"

/** Text of any file that people have: UTF-8, UTF-16 by its mark, else Latin-1. Lines end in LF. Null: not text. */
export function decode(bytes: Buffer): { text: string; guessed: boolean } | null {
  const { text, guessed } = characters(bytes)
  if (text.includes("\0")) return null
  const lines = text.includes("\r") ? text.replaceAll(/\r\n?/g, "\n") : text
  return { text: lines.replace(/^\ufeff+/, ""), guessed }
}

function characters(bytes: Buffer): { text: string; guessed: boolean } {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { text: new TextDecoder("utf-16le").decode(bytes), guessed: false }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { text: new TextDecoder("utf-16be").decode(bytes), guessed: false }
  const valid = isUtf8(bytes)
  return { text: bytes.toString(valid ? "utf8" : "latin1"), guessed: !valid }
}
