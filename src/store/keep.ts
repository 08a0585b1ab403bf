import { extname, join } from "node:path"
import { codeOf } from "../core/error.ts"
import { privateFile, privateFolder } from "./private.ts"
import { randomHex } from "./random.ts"

/** Writes a text to a new file in `folder`, named as near to `name` as is safe and free; returns its path. */
export async function keepText(folder: string, name: string, text: string): Promise<string> {
  await privateFolder(folder)
  const safe =
    name
      .replace(/[^a-zA-Z0-9._-]+/g, "-")
      .replace(/^[.-]+/, "")
      .slice(-80) || "output"
  for (let path = join(folder, safe); ; path = join(folder, numbered(safe))) {
    try {
      await privateFile(path, text)
      return path
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error
    }
  }
}

function numbered(name: string): string {
  const ending = extname(name)
  return `${name.slice(0, name.length - ending.length)}-${randomHex(4)}${ending}`
}
