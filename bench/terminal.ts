import { spawn } from "@lydell/node-pty"

/** A program on a pseudo-terminal, and what it wrote when. */
export type Terminal = {
  pid: number
  type(text: string): void
  /** Resolves with the time at which this text first stood in what was written from here on. */
  shown(text: string): Promise<number>
  /** Everything written since the last time. */
  taken(): string
  kill(): Promise<void>
}

export function terminal(file: string, args: string[], options: { cwd: string; env: NodeJS.ProcessEnv }): Terminal {
  const pty = spawn(file, args, { ...options, cols: 120, rows: 40 })
  const gone = new Promise<void>((resolve) => pty.onExit(() => resolve()))
  let written = ""
  let awaited: { text: string; seen: string; resolve(at: number): void } | undefined
  pty.onData((data) => {
    written += data
    if (!awaited) return
    awaited.seen += data
    if (!awaited.seen.includes(awaited.text)) return
    awaited.resolve(performance.now())
    awaited = undefined
  })
  return {
    pid: pty.pid,
    type: (text) => pty.write(text),
    shown: (text) => new Promise((resolve) => (awaited = { text, seen: "", resolve })),
    taken: () => {
      const all = written
      written = ""
      return all
    },
    kill: () => {
      pty.kill("SIGKILL")
      return gone
    },
  }
}
