/** What kind of image these bytes begin, whatever the file is called. */
export function imageType(bytes: Buffer): string | undefined {
  const head = bytes.toString("latin1", 0, 12)
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png"
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg"
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "image/gif"
  if (head.startsWith("RIFF") && head.slice(8) === "WEBP") return "image/webp"
  return undefined
}
