import type { Details } from "../../core/access.ts"
import { isResults } from "../../core/mail.ts"
import type { Message, Result } from "../../core/message.ts"
import { count } from "../../core/numbers.ts"
import type { RunView } from "../../core/view.ts"
import type { Block } from "./block.ts"
import { CallBlock } from "./call-block.ts"
import type { Ended } from "./call-result.ts"
import { foldedBlock, noteBlock, wordsBlock } from "./notes.ts"
import { partBlocks } from "./parts.ts"
import type { Setting } from "./setting.ts"

/** What was said and done in a run before anybody looked. Calls that have not ended are among it as such. */
export function pastBlocks(run: RunView, setting: Setting): Block[] {
  const { theme, detail } = setting
  const blocks: Block[] = []
  if (detail === "all" && run.system !== "") blocks.push(foldedBlock("system prompt", run.system, theme))
  if (run.inherited > 0)
    blocks.push(
      noteBlock("·", `knows ${count(run.inherited, "message")} of the conversation that it came from`, theme.dim),
    )
  const open = new Map<string, CallBlock>()
  for (const message of run.messages.slice(run.inherited)) {
    const made = blocksOf(message, run, setting)
    for (const block of made) if (block instanceof CallBlock) open.set(block.call.id, block)
    if (message.role === "result") open.get(message.call)?.end(endedOf(message, run))
    blocks.push(...made)
  }
  for (const { call, result } of run.calls.values()) if (result) open.get(call.id)?.end(endedOf(result, run))
  for (const block of open.values()) if (run.rest || !run.calls.has(block.call.id)) block.cutOff()
  return blocks
}

function blocksOf(message: Message, run: RunView, setting: Setting): Block[] {
  const { dim } = setting.theme
  switch (message.role) {
    case "assistant":
      return partBlocks(message.parts, setting)
    case "result":
      return []
    case "user":
      if (message === run.words) return [foldedBlock("what it was told it is", message.text, setting.theme)]
      if (run.notes !== undefined && message === run.messages[0])
        return [foldedBlock("what came before was summed up", message.text, setting.theme)]
      if (isResults(message.text)) return [noteBlock("◂", resultsLine(message.text, setting), dim)]
      return [wordsBlock(message.text, setting, message.images?.length)]
    default:
      return message satisfies never
  }
}

const resultsLine = (text: string, { detail }: Setting): string =>
  detail === "all" ? text : "heard: results of agents in the background"

/** Of the details of a past call some can still be told: the child that it started, and how a command ended. */
function endedOf({ call, name, ok, text, images }: Result, { children }: RunView): Ended {
  const child = children.get(call)
  const details = child !== undefined ? { kind: "task" as const, run: child } : commandIn({ name, ok, text })
  return { ok, text, ...(images && { images }), ...(details && { details }) }
}

function commandIn({ name, ok, text }: Pick<Result, "name" | "ok" | "text">): Details | undefined {
  const exit = ok ? "0" : /\n\nexit code (\d+)[^\n]*$/.exec(text)?.[1]
  if (name !== "bash" || exit === undefined) return undefined
  return { kind: "command", command: "", exit: Number(exit), signal: null, timedOut: false }
}
