import type { Component } from "@earendil-works/pi-tui"
import type { Event, RunId } from "../../core/event.ts"
import { lineage, type View } from "../../core/view.ts"
import { type LastCall, lastCalls } from "./last-calls.ts"
import { foremost, type Row, rowsOf } from "./panel-rows.ts"
import { Roster } from "./roster.ts"
import { indent, painted, rowLine } from "./row-line.ts"
import type { Theme } from "./theme.ts"

export type PanelOptions = {
  view: View
  main: RunId
  theme: Theme
  /** The clock of the events. */
  now(): number
  /** The most lines that it may take. */
  rows(): number
  /** What people call a model; its id unless told. */
  models?(id: string): string
  /** The colour that an agent's file names. */
  colors?(agent: string): string | undefined
}

/** From here on there is room for calls below their agent. */
const wide = 60
const callsEach = 2
const marks: Record<LastCall["state"], string> = { running: "▸", asking: "?", good: "✓", bad: "✗" }

/** Everybody who works for the main run, a row each, in a few lines. */
export class Panel implements Component {
  /** Whom keys are about; the main run unless there is one. */
  chosen: RunId | undefined
  #options: PanelOptions
  #roster: Roster
  /** Lines that it took while there was anybody in it: what is below it does not jump with every call. */
  #taken = { width: 0, lines: 0 }

  constructor(options: PanelOptions) {
    this.#options = options
    this.#roster = new Roster(options.view, options.main)
  }

  event(event: Event): void {
    this.#roster.event(event)
  }

  choose(run: RunId | undefined): void {
    this.chosen = run === this.#options.main ? undefined : run
  }

  /** To the next of the rows on show, round by way of the main run. */
  move(by: 1 | -1): void {
    const all = [undefined, ...this.#layout().shown.map(({ run }) => run.id)]
    const at = Math.max(0, all.indexOf(this.chosen))
    this.chosen = all[(at + by + all.length) % all.length]
  }

  render(width: number): string[] {
    const { shown, counted, room } = this.#layout()
    const calls = width < wide ? shown.map(() => []) : callsWithin(shown, room - shown.length - counted.length)
    const { view, theme } = this.#options
    const visible = new Set(shown.map(({ run }) => run.id))
    const lines = shown.flatMap((row, at) => {
      const level = lineage(view, row.run).filter(({ id }) => visible.has(id)).length - 1
      const below = calls[at]!.map((call) => callLineOf(call, level, width, theme))
      return [this.#line(row, level, width), ...below]
    })
    lines.push(...counted.map((text) => painted([{ text: `  ${text}`, paint: theme.dim }], width)))
    const before = shown.length > 0 && width === this.#taken.width ? Math.min(this.#taken.lines, room) : 0
    this.#taken = { width, lines: Math.max(before, lines.length) }
    return [...Array<string>(this.#taken.lines - lines.length).fill(""), ...lines]
  }

  invalidate(): void {}

  /** Which rows there is room for, and the line that counts all others. */
  #layout(): { shown: Row[]; counted: string[]; room: number } {
    const { view, main, now, rows } = this.#options
    const { chosen } = this
    const room = Math.max(0, Math.floor(rows()))
    const all = rowsOf({ view, main, roster: this.#roster, chosen, now: now() })
    const others = this.#others(all)
    const fits = all.length + (others.length > 0 ? 1 : 0) <= room
    const shown = fits ? all : foremost(all, Math.max(0, room - 1), chosen)
    const more = all.length - shown.length
    const counted = [...(more > 0 ? [`+${more} more`] : []), ...others]
    return { shown, counted: counted.length > 0 && room > 0 ? [counted.join(" · ")] : [], room }
  }

  /** Those without a row, by what became of them. */
  #others(rows: Row[]): string[] {
    const counts = { ...this.#roster.counts }
    for (const { run } of rows) {
      const standing = this.#roster.standing(run.id)
      if (standing && standing !== "live") counts[standing]--
    }
    return Object.entries(counts).flatMap(([word, n]) => (n > 0 ? [`${n} ${word}`] : []))
  }

  #line({ run, progress }: Row, level: number, width: number): string {
    const { view, main, theme, models, colors } = this.#options
    const color = colors?.(run.agent)
    const look = {
      progress,
      level,
      chosen: run.id === this.chosen,
      behind: run.behind,
      parent: run.children.size > 0,
      ...(run.model !== view.get(main)?.model && { model: models?.(run.model) ?? run.model }),
      ...(color !== undefined && { color }),
    }
    return rowLine(look, width, theme)
  }
}

/** The last calls of each row: as many of each as there is room for, the same for all. */
function callsWithin(rows: Row[], room: number): LastCall[][] {
  if (room <= 0) return rows.map(() => [])
  const all = rows.map(({ run, progress }) => lastCalls(run, callsEach, progress.tool))
  for (let most = callsEach; most > 0; most--) {
    const some = all.map((calls) => calls.slice(-most))
    if (some.flat().length <= room) return some
  }
  return rows.map(() => [])
}

function callLineOf({ line, state }: LastCall, level: number, width: number, theme: Theme): string {
  const paint = { running: theme.accent, asking: theme.warning, good: theme.good, bad: theme.bad }[state]
  return painted(
    [{ text: `    ${indent(level, width)}` }, { text: marks[state], paint }, { text: ` ${line}`, paint: theme.dim }],
    width,
  )
}
