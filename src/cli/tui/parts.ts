import { callsOf, type Part } from "../../core/message.ts"
import { Answer } from "./answer.ts"
import type { Block } from "./block.ts"
import { CallBlock } from "./call-block.ts"
import type { Setting } from "./setting.ts"
import { Thought } from "./thought.ts"

/** What a turn consists of, in its order. Thoughts are shown only where everything is. */
export function partBlocks(parts: readonly Part[], setting: Setting): Block[] {
  const blocks: Block[] = []
  let text = ""
  const say = () => {
    if (text.trim() !== "") blocks.push(new Answer(setting.theme, text).end())
    text = ""
  }
  for (const part of parts) {
    if (part.type === "text") {
      text += part.text
      continue
    }
    if (part.type === "reasoning" && (setting.detail === "brief" || part.text.trim() === "")) continue
    say()
    if (part.type === "reasoning") blocks.push(new Thought(setting.theme, part.text).end())
    else for (const call of callsOf([part])) blocks.push(new CallBlock(call, setting))
  }
  say()
  return blocks
}
