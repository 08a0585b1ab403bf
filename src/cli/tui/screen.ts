import {
  type Component,
  Editor,
  ProcessTerminal,
  type TuiInputListenerResult,
  TuiMainScreen,
} from "@earendil-works/pi-tui"
import { reasonOf } from "../../core/error.ts"
import type { Event } from "../../core/event.ts"
import type { Session } from "../../face.ts"
import { runCommand } from "../slash/commands.ts"
import type { Command, Ground, Item } from "../slash/ground.ts"
import { Actions } from "./actions.ts"
import type { Asked } from "./asked.ts"
import { isLight, isLightIn } from "./background.ts"
import { completing } from "./complete.ts"
import { editOutside } from "./external.ts"
import { Footer } from "./footer.ts"
import { Front } from "./front.ts"
import { hintOf } from "./hint.ts"
import type { History } from "./history.ts"
import { keys } from "./keys.ts"
import { Page } from "./page.ts"
import { Panel } from "./panel.ts"
import { Picker } from "./picker.ts"
import { Dialog } from "./question.ts"
import { Reading } from "./reading.ts"
import { shortcutOf } from "./shortcut.ts"
import { suspend, untouched } from "./suspend.ts"
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

/** What happens in the stream within so many milliseconds is drawn together. */
const frame = 40
/** How often it is drawn anew while something is at work, for what changes with time alone. */
const beat = 500
/** So long a terminal may take to say what its background is. */
const patience = 200

/** The terminal UI: components over the view, and keys that become commands. */
export class Screen {
  #options: Options
  #theme: Theme
  #tui = new TuiMainScreen(new ProcessTerminal())
  #reading: Reading
  #panel: Panel
  #editor: Editor
  #front: Front
  #page: Page
  #timer: NodeJS.Timeout | undefined
  /** What happens in the stream is drawn together, a little later; keys are answered at once. */
  #soon: NodeJS.Timeout | undefined
  #unlisten = () => {}
  #actions: Actions
  #terminal = { stop: () => this.#tui.stop(), start: () => this.#startAgain() }

  constructor(options: Options) {
    this.#options = options
    const { session, asked, history, env } = options
    const { view, main } = session
    const theme = themeOf({ colors: !env.NO_COLOR, dark: !isLightIn(env) })
    this.#theme = theme
    const rows = () => this.#tui.terminal.rows
    this.#reading = new Reading({ main, view, theme })
    this.#panel = new Panel({
      view,
      main,
      theme,
      now: Date.now,
      rows: () => this.#panelRows(rows()),
      colors: (name) => session.agents().find((each) => each.name === name)?.color,
    })
    this.#editor = new Editor(this.#tui, theme.editor)
    const dialog = new Dialog({
      theme,
      now: () => performance.now(),
      rows,
      reply: (question, reply) => {
        asked.reply(question, reply)
        this.#front.focus()
      },
      early: (data) => this.#editor.handleInput(data),
    })
    this.#front = new Front({ dialog, editor: this.#editor, focus: (part) => this.#focus(part) })
    const footer = new Footer({ session, view, theme, now: Date.now, hint: () => this.#hint() })
    const below = [this.#panel, dialog, this.#front.place, this.#editor, footer]
    this.#page = new Page({ reading: this.#reading, below, rows })
    this.#tui.addChild(this.#page)
    for (const text of history.entries()) this.#editor.addToHistory(text)
    this.#editor.onSubmit = (text) => this.#try(this.#submit(text))
    this.#complete()
    this.#actions = this.#actionsOf()
    asked.use({
      ask: (question) => this.#front.ask(question),
      withdraw: (question) => this.#front.withdraw(question),
    })
  }

  start(): void {
    const { session, notes, env } = this.#options
    for (const note of notes) this.#reading.note(note)
    this.#unlisten = session.listen((event) => this.#event(event))
    this.#tui.addInputListener((data) => this.#key(data))
    this.#front.focus()
    this.#tui.start()
    this.#timer = setInterval(() => this.#hasWork() && this.#tui.requestRender(), beat)
    if (!env.NO_COLOR && isLightIn(env) === undefined) this.#try(this.#suitBackground())
  }

  stop(): void {
    clearInterval(this.#timer)
    clearTimeout(this.#soon)
    this.#unlisten()
    this.#tui.stop()
  }

  note(text: string): void {
    this.#reading.note(text)
    this.#tui.requestRender()
  }

  prompt(text: string): void {
    this.#try(this.#prompt(text))
  }

  /** Goes on with what was left unfinished. */
  proceed(): void {
    this.#try(this.#options.session.proceed())
  }

  async #prompt(text: string): Promise<void> {
    const report = await this.#options.session.prompt(text)
    // What was refused before anything was at work left no trace in the stream.
    if (report.error?.kind === "refused") this.note(report.error.message)
  }

  #actionsOf(): Actions {
    const { session, history, leave, codes, commands } = this.#options
    return new Actions({
      session,
      theme: this.#theme,
      reading: this.#reading,
      panel: this.#panel,
      editor: this.#editor,
      front: this.#front,
      entries: () => history.entries(),
      note: (text) => this.note(text),
      attempt: (work) => this.#try(work),
      command: (line) => runCommand(line, commands, this.#ground()),
      edit: () => this.#edit(),
      suspend: () => suspend({ stop: () => this.#tui.stop(), start: () => this.#startBelow() }),
      leave: () => leave(codes.interrupted),
      draw: () => this.#tui.requestRender(),
      redraw: () => this.#redraw(),
    })
  }

  /** What goes wrong with something that nobody waits for is said. */
  #try(work: Promise<unknown>): void {
    work.catch((error) => this.#reading.note(reasonOf(error))).finally(() => this.#tui.requestRender())
  }

  #event(event: Event): void {
    this.#reading.event(event)
    this.#panel.event(event)
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined
      this.#tui.requestRender()
    }, frame)
  }

  async #submit(text: string): Promise<void> {
    const { session, history, commands } = this.#options
    const { opened } = this.#reading
    const { chosen } = this.#panel
    if (text.trim() === "") return chosen === undefined || opened !== undefined ? undefined : this.#actions.open(chosen)
    history.add(text)
    this.#editor.addToHistory(text)
    if (await runCommand(text, commands, this.#ground())) return
    if (opened === undefined) await this.#prompt(text)
    else session.tell(opened, text)
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
      open: (run) => this.#actions.open(run),
      pick: (title, items) => this.#pick(title, items),
      prompt: (text) => this.prompt(text),
      leave: (next) => leave(codes.done, next),
      now: Date.now,
    }
  }

  /** Keys that mean something wherever one is. All others go to whatever has the focus. */
  #key(data: string): TuiInputListenerResult {
    const front = this.#front.isAsking || this.#front.hasList
    const action = shortcutOf(data, { front, typed: this.#editor.getText() !== "" })
    if (action === undefined) return undefined
    if (action !== "ignore" && !this.#actions.act(action)) return undefined
    this.#tui.requestRender()
    return { consume: true }
  }

  #pick(title: string, items: Item[]): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const take = (value: string | undefined) => {
      this.#front.close()
      resolve(value)
    }
    this.#front.open(new Picker({ title, items, theme: this.#theme, take }))
    return promise
  }

  async #edit(): Promise<void> {
    const { env } = this.#options
    const edited = await editOutside({ text: this.#editor.getExpandedText(), env, terminal: this.#terminal })
    if ("failed" in edited) this.note(edited.failed)
    else this.#editor.setText(edited.text)
  }

  #complete(): void {
    const { commands, session, files } = this.#options
    const named = commands.map(({ name, about, hint }) => ({
      name,
      description: about,
      ...(hint && { argumentHint: hint }),
    }))
    const agents = () => session.agents().filter(({ hidden }) => !hidden)
    this.#editor.setAutocompleteProvider(completing({ commands: () => named, agents, files }))
  }

  /** Colours that can be read on the background, if the terminal says which that is. */
  async #suitBackground(): Promise<void> {
    const background = await this.#tui.queryTerminalBackgroundColor({ timeoutMs: patience })
    if (!background || !isLight(background)) return
    Object.assign(this.#theme, themeOf({ colors: true, dark: false }))
    this.#tui.invalidate()
    this.#redraw()
  }

  #focus(part: Component): void {
    this.#tui.setFocus(part)
    this.#tui.requestRender()
  }

  #startAgain(): void {
    this.#tui.start()
    this.#redraw()
  }

  /** Below what the shell has written meanwhile, which stays. */
  #startBelow(): void {
    this.#page.anew()
    this.#tui.restoreRenderState(untouched)
    this.#tui.start()
  }

  /** Everything, from the beginning of what is read. */
  #redraw(): void {
    this.#page.anew()
    this.#tui.requestRender(true)
  }

  /** A third of the screen; what is left of it beside a question or a list. */
  #panelRows(rows: number): number {
    const third = Math.max(1, Math.floor(rows / 3))
    return this.#front.isAsking || this.#front.hasList ? Math.max(0, Math.min(third, rows - 22)) : third
  }

  #hasWork(): boolean {
    for (const { rest, messages, mail } of this.#options.session.view.values())
      if (!rest && messages.length + mail.length > 0) return true
    return false
  }

  #hint(): string {
    const { session } = this.#options
    const { opened } = this.#reading
    const { chosen } = this.#panel
    return hintOf({
      session,
      warned: this.#actions.isWarned(),
      asking: this.#front.isAsking,
      opened,
      chosen,
      now: Date.now(),
    })
  }
}
