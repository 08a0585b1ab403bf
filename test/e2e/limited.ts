import { spawn } from "node:child_process"
import type { TestContext } from "node:test"
import { bin, type Home, type Ran } from "./binary.ts"

type Limited = { args: string[]; env: NodeJS.ProcessEnv; cwd?: string }

/** Runs the program from a line of bash, as in `ulimit -n 64; exec "$0" "$@"`, where "$0" is the program. */
export function under(t: TestContext, line: string, { work, env: own }: Home, { args, env, cwd = work }: Limited) {
  const shell = spawn("bash", ["-c", line, bin, ...args], {
    cwd,
    env: { ...own, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  t.after(() => shell.kill("SIGKILL"))
  const ran: Ran = { code: null, signal: null, stdout: "", stderr: "" }
  shell.stdout.setEncoding("utf8").on("data", (text: string) => (ran.stdout += text))
  shell.stderr.setEncoding("utf8").on("data", (text: string) => (ran.stderr += text))
  return new Promise<Ran>((resolve) => shell.on("close", (code, signal) => resolve({ ...ran, code, signal })))
}
