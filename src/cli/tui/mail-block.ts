import type { Mail } from "../../core/mail.ts"
import type { Block } from "./block.ts"
import { childLine } from "./child-line.ts"
import { noteBlock, wordsBlock } from "./notes.ts"
import type { Setting } from "./setting.ts"

/** Something that was said to a run: words, or the result of a child in a line. */
export function mailBlock({ text, images = [], from }: Mail, setting: Setting): Block {
  if (from === undefined) return wordsBlock(text, setting, images.length)
  const child = setting.view.get(from)
  const line = `heard: ${child ? childLine(child) : from}`
  return noteBlock("◂", setting.detail === "all" ? `${line}\n${text}` : line, setting.theme.accent)
}
