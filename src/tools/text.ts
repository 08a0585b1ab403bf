import { isUtf8 } from "node:buffer"

/** How a text lies on disk. `lossy`: some bytes were no text, so writing it back would change them. */
export type Text = { text: string; encoding: "utf-8" | "utf-16le" | "utf-16be"; bom: boolean; lossy: boolean }

export function decode(bytes: Buffer): Text {
  const wide = wideEncoding(bytes)
  if (wide) {
    const text = new TextDecoder(wide).decode(bytes)
    return { text, encoding: wide, bom: true, lossy: bytes.length % 2 === 1 || !text.isWellFormed() }
  }
  const bom = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return { text: bytes.toString("utf8", bom ? 3 : 0), encoding: "utf-8", bom, lossy: !isUtf8(bytes) }
}

/** `text` as bytes, in the manner of another one. */
export function encode(text: string, { encoding, bom }: Pick<Text, "encoding" | "bom">): Buffer {
  const whole = bom && !text.startsWith("\uFEFF") ? `\uFEFF${text}` : text
  if (encoding === "utf-8") return Buffer.from(whole, "utf8")
  const bytes = Buffer.from(whole, "utf16le")
  return encoding === "utf-16le" ? bytes : bytes.swap16()
}

export function wideEncoding(bytes: Buffer): "utf-16le" | "utf-16be" | undefined {
  if (bytes.length < 2) return undefined
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le"
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be"
  return undefined
}

/** Whether every line of it, and at least one, ends as Windows ends lines. */
export const isCrlf = (text: string): boolean => text.includes("\r\n") && !/(?<!\r)\n/.test(text)

export const toCrlf = (text: string): string => text.replace(/\r?\n/g, "\r\n")

export const countLines = (text: string): number =>
  text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0)
