import { spawn } from "node:child_process"
import { resolve } from "node:path"
import { timed } from "./compare.ts"
import type { Result } from "./result.ts"
import { ended } from "./start.ts"

/** One command as the bash tool runs it, bare and in the fence. What a shell alone costs is shown beside. */
export async function fence(root: string): Promise<Result> {
  const [{ findSandbox }, { run: command }] = await Promise.all([
    import("../src/sandbox/sandbox.ts"),
    import("../src/tools/process.ts"),
  ])
  const began = performance.now()
  const found = await findSandbox({ env: process.env })()
  const tested = performance.now() - began
  if (!found.ok) return { name: `a command in the fence: ${found.why}`, detail: {} }
  const env = { PATH: process.env.PATH ?? "", HOME: root }
  const profile = { level: "read-only", network: false, root, writable: [], readable: [] } as const
  const bash = ["--noprofile", "--norc", "-c", ":"]
  const { signal } = new AbortController()
  const options = { root: resolve(root), env, signal, timeout: 10_000, take: () => undefined }
  const detail = await timed(
    {
      "bare, ms": () => command(":", options),
      "fenced, ms": () =>
        command(":", {
          ...options,
          spawn: (file, args, { env, stdio }) =>
            found.sandbox.spawn([file, ...args], { ...profile, env: env as Record<string, string> }, { stdio: stdio! }),
        }),
      "bash alone, ms": () => ended(spawn("bash", bash, { env, stdio: "ignore" })),
      "bash alone fenced, ms": () =>
        ended(found.sandbox.spawn(["bash", ...bash], { ...profile, env }, { stdio: "ignore" })),
    },
    30,
  )
  const value = detail["fenced, ms"] / detail["bare, ms"]
  return { name: "a command in the fence", value, bar: 3, detail: { ...detail, "test of the fence, ms": tested } }
}
