import {
  type Component,
  Container,
  Editor,
  matchesKey,
  ProcessTerminal,
  Text,
  type TuiInputListenerResult,
  TuiMainScreen,
} from "@earendil-works/pi-tui"
import type { Question, Reply } from "../../agent/permission.ts"
import type { Event, RunId } from "../../core/event.ts"
import { count } from "../../core/numbers.ts"
import { progressOf } from "../../core/progress.ts"
import type { Session } from "../../face.ts"
import { runCommand } from "../slash/commands.ts"
import type { Command, Ground, Item } from "../slash/ground.ts"
import type { Asked } from "./asked.ts"
import { completing } from "./complete.ts"
import { Conversation } from "./conversation.ts"
import { editOutside } from "./external.ts"
import { Footer } from "./footer.ts"
import type { History } from "./history.ts"
import { keys } from "./keys.ts"
import { Panel } from "./panel.ts"
import { Picker } from "./picker.ts"
import { Dialog } from "./question.ts"
import { Search } from "./search.ts"
import { type Theme, themeOf } from "./theme.ts"

export type Options = {
  session: Session
  /** What was said before the screen was there. */
  notes: readonly string[]
  asked: Asked
  history: History
  commands: readonly Command[]
  files(): Promise<readonly string[]>
  sessions: Ground["sessions"]
  env: NodeJS.ProcessEnv
  leave(code: number, next?: { resume: string }): void
  codes: { done: number; interrupted: number }
}

/** How often it is drawn anew while something is at work, for what changes with time alone. */
const beat = 500
/** A second ctrl+c counts as one if it comes within so many milliseconds. */
const twice = 2_000

/** The terminal UI: components over the view, and keys that become commands. */
export class Screen {
  #options: Options
  #theme: Theme
  #tui = new TuiMainScreen(new ProcessTerminal())
  #main: Conversation
  /** The transcript that is open instead of the conversation. */
  #opened: { run: RunId; conversation: Conversation; title: Text } | undefined
  #above = new Container()
  #panel: Panel
  #dialog: Dialog
  /** What is open above the input: a list to choose from, or a search. */
  #beside = new Container()
  #editor: Editor
  #timer: NodeJS.Timeout | undefined
  #unlisten = () => {}
  #stoppedAt = Number.NEGATIVE_INFINITY

  constructor(options: Options) {
    this.#options = options
    const { session, asked, commands, history, env } = options
    const { view } = session
    this.#theme = themeOf({ colors: !env.NO_COLOR, dark: !isLight(env) })
    const theme = this.#theme
    const rows = () => this.#tui.terminal.rows
    this.#main = new Conversation({ run: session.main, view, theme, detail: "brief" })
    this.#panel = new Panel({
      view,
      main: session.main,
      theme,
      now: Date.now,
      rows: () => Math.max(1, Math.floor(rows() / 3)),
    })
    this.#editor = new Editor(this.#tui, theme.editor)
    this.#dialog = new Dialog({
      theme,
      now: () => performance.now(),
      rows,
      reply: (question, reply) => this.#answer(question, reply),
      early: (data) => this.#editor.handleInput(data),
    })
    for (const text of history.entries()) this.#editor.addToHistory(text)
    this.#editor.onSubmit = (text) => void this.#submit(text)
    this.#editor.setAutocompleteProvider(
      completing({
        commands: () =>
          commands.map(({ name, about, hint }) => ({ name, description: about, ...(hint && { argumentHint: hint }) })),
        agents: () => session.agents().filter(({ hidden }) => !hidden),
        files: options.files,
      }),
    )
    const footer = new Footer({ session, view, theme, now: Date.now, hint: () => this.#hint() })
    this.#above.addChild(this.#main)
    for (const part of [this.#above, this.#panel, this.#dialog, this.#beside, this.#editor, footer])
      this.#tui.addChild(part)
    asked.use({ ask: (question) => this.#ask(question), withdraw: (question) => this.#withdraw(question) })
  }

  start(): void {
    const { session, notes } = this.#options
    for (const note of notes) this.#main.note(note)
    this.#unlisten = session.listen((event) => this.#event(event))
    this.#tui.addInputListener((data) => this.#key(data))
    this.#focus()
    this.#tui.start()
    this.#timer = setInterval(() => this.#hasWork() && this.#tui.requestRender(), beat)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#unlisten()
    this.#tui.stop()
  }

  note(text: string): void {
    this.#main.note(text)
    this.#tui.requestRender()
  }

  async prompt(text: string): Promise<void> {
    const report = await this.#options.session.prompt(text)
    // What was refused before anything was at work left no trace in the stream.
    if (report.error?.kind === "refused") this.note(report.error.message)
  }

  #event(event: Event): void {
    this.#main.event(event)
    this.#opened?.conversation.event(event)
    this.#panel.event(event)
    this.#tui.requestRender()
  }

  async #submit(text: string): Promise<void> {
    const { session, history, commands } = this.#options
    const run = this.#panel.chosen
    if (text.trim() === "") return run === undefined || this.#opened ? undefined : this.#open(run)
    history.add(text)
    this.#editor.addToHistory(text)
    try {
      if (this.#opened && !text.startsWith("/")) session.tell(this.#opened.run, text)
      else if (!(await runCommand(text, commands, this.#ground()))) await this.prompt(text)
    } catch (error) {
      this.note(error instanceof Error ? error.message : String(error))
    }
    this.#tui.requestRender()
  }

  #ground(): Ground {
    const { session, sessions, leave, codes } = this.#options
    return {
      session,
      sessions,
      view: session.view,
      theme: this.#theme,
      keys,
      note: (text) => this.note(text),
      open: (run) => this.#open(run),
      pick: (title, items) => this.#pick(title, items),
      prompt: (text) => void this.prompt(text),
      leave: (next) => leave(codes.done, next),
      now: Date.now,
    }
  }

  /** Keys that mean something wherever one is. All others go to whatever has the focus. */
  #key(data: string): TuiInputListenerResult {
    const done = this.#shortcut(data)
    if (!done) return undefined
    this.#tui.requestRender()
    return { consume: true }
  }

  #shortcut(data: string): boolean {
    if (matchesKey(data, "ctrl+c")) return this.#interrupt()
    if (this.#dialog.waiting > 0 || this.#beside.children.length > 0) return false
    const isEmpty = this.#editor.getText() === ""
    if (matchesKey(data, "ctrl+o")) return this.#toggle()
    if (matchesKey(data, "ctrl+b")) return this.#behind()
    if (matchesKey(data, "ctrl+r")) return this.#search()
    if (matchesKey(data, "ctrl+g")) return this.#outside()
    if (!isEmpty) return false
    if (data === "?") return this.#command("/help")
    if (matchesKey(data, "ctrl+d")) return this.#command("/exit")
    if (matchesKey(data, "escape")) return this.#escape()
    if (matchesKey(data, "up")) return this.#move(-1)
    if (matchesKey(data, "down")) return this.#move(1)
    return false
  }

  #command(line: string): true {
    void runCommand(line, this.#options.commands, this.#ground())
    return true
  }

  /** Once: what was typed goes, or what the main run does and waits for stops. Again: we leave. */
  #interrupt(): boolean {
    const { session, leave, codes } = this.#options
    const now = performance.now()
    if (now - this.#stoppedAt < twice) leave(codes.interrupted)
    else if (this.#beside.children.length > 0) return false
    else if (this.#editor.getText() !== "") this.#editor.setText("")
    else {
      this.#stoppedAt = now
      if (isAtWork(session)) void session.cancel(session.main, { reach: "run" })
      else this.note("ctrl+c again leaves")
    }
    return true
  }

  /** Goes back; else stops just the chosen agent; else the main run. */
  #escape(): boolean {
    const { session } = this.#options
    const { chosen } = this.#panel
    if (this.#opened) this.#close()
    else if (chosen !== undefined) void session.cancel(chosen)
    else if (isAtWork(session)) void session.cancel(session.main, { reach: "run" })
    else return false
    return true
  }

  /** With nothing typed the arrows choose among agents, as long as there are any; else they find what was typed before. */
  #move(by: 1 | -1): boolean {
    const before = this.#panel.chosen
    this.#panel.move(by)
    return this.#panel.chosen !== before
  }

  #toggle(): boolean {
    if (this.#opened) this.#close()
    else {
      const run = this.#panel.chosen ?? this.#latest()
      if (run === undefined) this.note("there is no agent whose transcript could be opened yet")
      else this.#open(run)
    }
    return true
  }

  /** The child to which something happened last. */
  #latest(): RunId | undefined {
    const children = [...this.#options.session.view.values()].filter(({ depth }) => depth > 0)
    return children.reduce((last, each) => (last && last.seenAt > each.seenAt ? last : each), children[0])?.id
  }

  #open(run: RunId): void {
    const { view } = this.#options.session
    const found = view.get(run)
    if (!found) return
    const conversation = new Conversation({ run, view, theme: this.#theme, detail: "all" })
    const name = `${found.agent} ${run}`
    const title = new Text(
      this.#theme.bold(`transcript of ${name} · what you type here steers it · esc goes back`),
      1,
      1,
    )
    this.#opened = { run, conversation, title }
    this.#panel.choose(run)
    this.#show([conversation, title])
  }

  #close(): void {
    this.#opened = undefined
    this.#panel.choose(undefined)
    this.#show([this.#main])
  }

  #show(parts: Component[]): void {
    this.#above.clear()
    for (const part of parts) this.#above.addChild(part)
    this.#tui.requestRender(true)
  }

  /** The chosen child, or all that the main run waits for, go on behind. */
  #behind(): boolean {
    const { session } = this.#options
    const { chosen } = this.#panel
    const runs = chosen === undefined ? [...(session.view.get(session.main)?.children.values() ?? [])] : [chosen]
    const sent = runs.filter((run) => session.sendBehind(run)).length
    this.note(
      sent > 0 ? `${count(sent, "agent")} sent behind; results will come by themselves` : "nobody is waited for",
    )
    return true
  }

  #search(): boolean {
    const { history } = this.#options
    const leave = () => this.#closeBeside()
    const take = (text: string) => {
      this.#closeBeside()
      this.#editor.setText(text)
    }
    this.#openBeside(new Search({ theme: this.#theme, entries: history.entries(), take, leave }))
    return true
  }

  #pick(title: string, items: Item[]): Promise<string | undefined> {
    return new Promise((resolve) => {
      const take = (value: string | undefined) => {
        this.#closeBeside()
        resolve(value)
      }
      this.#openBeside(new Picker({ title, items, theme: this.#theme, take }))
    })
  }

  #outside(): boolean {
    const { env } = this.#options
    const terminal = {
      stop: () => this.#tui.stop(),
      start: () => {
        this.#tui.start()
        this.#tui.requestRender(true)
      },
    }
    void editOutside({ text: this.#editor.getExpandedText(), env, terminal }).then((edited) => {
      if ("failed" in edited) this.note(edited.failed)
      else this.#editor.setText(edited.text)
      this.#tui.requestRender()
    })
    return true
  }

  #openBeside(part: Component): void {
    this.#beside.clear()
    this.#beside.addChild(part)
    this.#focus()
  }

  #closeBeside(): void {
    this.#beside.clear()
    this.#focus()
  }

  #ask(question: Question): void {
    this.#dialog.ask(question)
    this.#focus()
  }

  #withdraw(question: Question): void {
    this.#dialog.withdraw(question)
    this.#focus()
  }

  #answer(question: Question, reply: Reply): void {
    this.#options.asked.reply(question, reply)
    this.#focus()
  }

  /** A question comes before a list, and a list before the input. */
  #focus(): void {
    const beside = this.#beside.children[0]
    this.#tui.setFocus(this.#dialog.waiting > 0 ? this.#dialog : (beside ?? this.#editor))
    this.#tui.requestRender()
  }

  #hasWork(): boolean {
    for (const { rest, messages, mail } of this.#options.session.view.values())
      if (!rest && messages.length + mail.length > 0) return true
    return false
  }

  #hint(): string {
    const { session } = this.#options
    const { chosen } = this.#panel
    if (this.#dialog.waiting > 0) return "y: once · a: always · n: no · tab: no, with a word"
    if (this.#opened) return "enter: steer it · esc: back · ctrl+b: send behind"
    if (chosen !== undefined) {
      const run = session.view.get(chosen)
      const state = run ? progressOf(session.view, run, Date.now()).state : ""
      return `chosen: ${run?.agent ?? ""} (${state}) · enter: open · esc: stop it · ctrl+b: send behind`
    }
    return isAtWork(session)
      ? "esc: stop · up, down: choose an agent · ctrl+o: its transcript · ?: help"
      : "/: commands · @: files and agents · ctrl+r: earlier lines · ?: help"
  }
}

const isAtWork = ({ view, main }: Session): boolean => {
  const run = view.get(main)
  return run !== undefined && !run.rest && run.messages.length + run.mail.length > 0
}

/** What terminals that say so at all say of their background: 7 and 15 are white. */
const isLight = ({ COLORFGBG = "" }: NodeJS.ProcessEnv): boolean => /;(7|15)$/.test(COLORFGBG)
