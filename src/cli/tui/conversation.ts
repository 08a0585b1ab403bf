import type { Component } from "@earendil-works/pi-tui"
import type { Event } from "../../core/event.ts"
import type { RunView } from "../../core/view.ts"
import { Answer } from "./answer.ts"
import { type Block, fixed, Stack } from "./block.ts"
import { CallBlock } from "./call-block.ts"
import { mailBlock } from "./mail-block.ts"
import { endBlock, eventNote, noteBlock } from "./notes.ts"
import { partBlocks } from "./parts.ts"
import { pastBlocks } from "./past.ts"
import { returnedBefore, returnedBy } from "./returned.ts"
import type { Setting } from "./setting.ts"
import { cutTo, safe, wrapped } from "./text-lines.ts"
import { Thought } from "./thought.ts"

/** One run's conversation: what was said to it, what it says and does, and what becomes of it. */
export class Conversation implements Component {
  #setting: Setting
  #stack = new Stack()
  #open = new Map<string, CallBlock>()
  /** What was said to it and not yet heard. */
  #unheard: Block[] = []
  #draft: { text?: Answer; reasoning?: Thought } = {}
  /** Why it was told to stop. */
  #why: string | undefined

  constructor(setting: Setting) {
    this.#setting = setting
    const run = this.#run()
    if (run) this.#begin(run)
  }

  event(event: Event): void {
    if (event.run === this.#setting.run) this.#own(event)
    else if (this.#setting.detail === "all") this.#others(event)
  }

  /** Something of the program's own, such as what a command has to say. */
  note(text: string): void {
    this.#tell(fixed("note", (width) => wrapped(safe(text), width)))
  }

  /** `fold`: so many of its first rows have left the screen, and stay as they were. */
  render(width: number, fold = 0): string[] {
    return this.#stack.render(width, this.#live(), fold)
  }

  /** What left the screen may change again. */
  thaw(): void {
    this.#stack.thaw()
  }

  invalidate(): void {
    this.#stack.forget()
  }

  #run(): RunView | undefined {
    return this.#setting.view.get(this.#setting.run)
  }

  #begin(run: RunView): void {
    const { view, detail, theme } = this.#setting
    this.#push(pastBlocks(run, this.#setting))
    this.#unheard = run.mail.map((mail) => mailBlock(mail, this.#setting))
    if (run.draft.reasoning !== "") this.#stream("reasoning", run.draft.reasoning)
    if (run.draft.text !== "") this.#stream("text", run.draft.text)
    this.#tell(run.rest && endBlock(run.rest.outcome, this.#setting))
    const returned = detail === "all" ? returnedBefore(view, run) : undefined
    this.#tell(returned === undefined ? undefined : returnedBlock(returned, theme.accent))
  }

  #own(event: Event): void {
    switch (event.type) {
      case "run.opened":
        this.#begin(this.#run()!)
        return
      case "mail.sent":
        this.#unheard.push(mailBlock(event, this.#setting))
        return
      case "mail.read":
        this.#stack.push(this.#unheard)
        this.#unheard = []
        return
      case "turn.delta":
        this.#stream(event.kind, event.text)
        return
      case "turn.ended":
        this.#push(partBlocks(event.parts, this.#setting))
        return
      case "call.ended":
        this.#open.get(event.id)?.end(event)
        this.#open.delete(event.id)
        return
      case "run.stopped":
        this.#why = event.why
        return
      case "run.settled":
        this.#settle(event)
        return
      case "turn.failed":
        if (event.wait === null) this.#keepDraft()
        else this.#push([]) // what had come of the answer is asked for again
        this.#tell(eventNote(event, this.#setting))
        return
      default:
        this.#tell(eventNote(event, this.#setting))
    }
  }

  #tell(block: Block | undefined): void {
    if (block) this.#stack.push([block])
  }

  /** Blocks in the place of what had come of them so far. */
  #push(blocks: readonly Block[]): void {
    const { text, reasoning } = this.#draft
    this.#stack.replace([...(text ? [text] : []), ...(reasoning ? [reasoning] : [])], blocks)
    this.#draft = {}
    for (const block of blocks) if (block instanceof CallBlock && !block.done) this.#open.set(block.call.id, block)
  }

  #stream(kind: "text" | "reasoning", text: string): void {
    const { theme, detail } = this.#setting
    if (kind === "reasoning" && detail === "brief") return
    const known = this.#draft[kind]
    known?.add(text)
    if (known) return
    const block = kind === "text" ? new Answer(theme, text) : new Thought(theme, text)
    this.#draft = { ...this.#draft, [kind]: block }
    this.#tell(block)
  }

  /** What it had begun to say, and will not end, has been read by then. */
  #keepDraft(): void {
    this.#draft.text?.end()
    this.#draft.reasoning?.end()
    this.#draft = {}
  }

  #settle({ outcome }: Extract<Event, { type: "run.settled" }>): void {
    this.#keepDraft()
    for (const call of this.#open.values()) call.cutOff()
    this.#open.clear()
    this.#tell(endBlock(outcome, this.#setting, this.#why))
    this.#why = undefined
  }

  #others(event: Event): void {
    const run = this.#run()
    const text = run && returnedBy(event, run)
    this.#tell(text === undefined ? undefined : returnedBlock(text, this.#setting.theme.accent))
  }

  /** What stands at the end for as long as it lasts. */
  #live(): Block[] {
    const { dim, warning } = this.#setting.theme
    const run = this.#run()
    const isAtWork = run && !run.rest && run.messages.length > run.task
    const unheard = this.#unheard.map((block) =>
      isAtWork ? fixed(block.kind, (width) => [...block.render(width), dim(cutTo("  (not heard yet)", width))]) : block,
    )
    const short = run?.compacting === undefined ? [] : [noteBlock("↻", "making the conversation shorter …", warning)]
    return [...short, ...unheard]
  }
}

const returnedBlock = (text: string, paint: (text: string) => string): Block =>
  noteBlock("◂", `returned to its parent:\n${text}`, paint)
