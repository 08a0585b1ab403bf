import assert from "node:assert/strict"
import type { TestContext } from "node:test"
import { spawn } from "@lydell/node-pty"
import { bin, type Home } from "./binary.ts"

export type Terminal = {
  type(text: string): void
  /** Waits until the text has appeared since the last time; what came before it is returned. */
  see(text: string): Promise<string>
  kill(signal: NodeJS.Signals): void
  exit: Promise<number>
}

/** The program on a pseudo-terminal, line by line, in a home that is there already. */
export function terminal(t: TestContext, { work, env: own }: Home, env: NodeJS.ProcessEnv, args: string[]): Terminal {
  const pty = spawn(bin, ["--plain", ...args], { cwd: work, env: { ...own, ...env }, cols: 100, rows: 30 })
  t.after(() => pty.kill("SIGKILL"))
  let unseen = ""
  let wake = () => {}
  pty.onData((data) => {
    unseen += data
    wake()
  })
  const exit = new Promise<number>((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)))
  return {
    type: (text) => pty.write(text),
    kill: (signal) => pty.kill(signal),
    async see(text) {
      while (!unseen.includes(text)) {
        const more = new Promise<void>((resolve) => (wake = resolve))
        const gone = await Promise.race([more.then(() => false), exit.then(() => !unseen.includes(text))])
        if (gone) assert.fail(`it ended without showing ${JSON.stringify(text)}; it showed ${JSON.stringify(unseen)}`)
      }
      const at = unseen.indexOf(text)
      const passed = unseen.slice(0, at)
      unseen = unseen.slice(at + text.length)
      return passed
    },
    exit,
  }
}
