import headless from "@xterm/headless"
import { widths } from "./widths.ts"

export type Emulator = {
  write(data: string): void
  /** Called once all that was written before is on the screen. */
  flush(then: () => void): void
  resize(columns: number, rows: number): void
  /** The screen as it was when the last frame was whole: half of one is shown to nobody. */
  frame(): string[]
  /** All rows, with those that were scrolled out at the top. */
  all(): string[]
  dispose(): void
}

type Options = {
  columns: number
  rows: number
  /** Programs ask terminals what they can do, and wait for the answer. */
  answer(data: string): void
  /** Something may look otherwise now. */
  changed(): void
}

const [frameStart, frameEnd] = ["\u001b[?2026h", "\u001b[?2026l"]

/** A terminal that nobody sees, as wide in its letters as those of today. */
export function emulate({ columns, rows, answer, changed }: Options): Emulator {
  const terminal = new headless.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true })
  terminal.unicode.register(widths)
  terminal.unicode.activeVersion = widths.version
  terminal.onData(answer)
  let frame: string[] = []
  let written = ""
  const all = (): string[] => {
    const { active } = terminal.buffer
    return Array.from({ length: active.length }, (_, at) => (active.getLine(at)?.translateToString() ?? "").trimEnd())
  }
  const take = () => {
    frame = all().slice(terminal.buffer.active.baseY)
    changed()
  }
  return {
    write(data) {
      written += data
      const isWhole = written.lastIndexOf(frameEnd) >= written.lastIndexOf(frameStart)
      terminal.write(data, () => isWhole && take())
    },
    flush(then) {
      terminal.write("", () => {
        take()
        then()
      })
    },
    resize: (columns, rows) => terminal.resize(columns, rows),
    frame: () => frame,
    all,
    dispose: () => terminal.dispose(),
  }
}
