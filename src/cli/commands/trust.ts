import { homedir } from "node:os"
import { createInterface } from "node:readline/promises"
import type { Definition } from "../../agents/definition.ts"
import { loadAgents } from "../../agents/load.ts"
import { load } from "../../config.ts"
import { folderOf, stateFolder } from "../../folders.ts"
import { readHooks } from "../../hooks/settings.ts"
import { distrust, type Trust, trust, trustOf } from "../../trust.ts"
import { codes } from "../exit.ts"
import { visible } from "../plain/format.ts"

const print = (line: string): void => void process.stdout.write(`${visible(line)}\n`)
const place = () => ({ folder: stateFolder(process.env), env: process.env, home: process.env.HOME || homedir() })

export type TrustFlags = { show?: true; remove?: true; json?: true }

/** `legwork trust`: whoever types it has decided, and sees what was decided about. */
export async function trustFolder(flags: TrustFlags, folder?: string): Promise<number> {
  const cwd = await folderOf(folder)
  if (flags.remove) {
    const was = await distrust(cwd, place())
    print(was ? "no longer trusted" : "it was not trusted")
    return codes.done
  }
  const found = await trustOf(cwd, place())
  if (flags.json) process.stdout.write(`${JSON.stringify(found)}\n`)
  else for (const line of await described(cwd, found)) print(line)
  if (flags.show || found.state === "nothing" || found.state === "trusted") return codes.done
  await trust(cwd, { ...place(), hash: found.repository.hash })
  if (!flags.json)
    print("trusted; if any of this changes, you are asked again. To take it back: legwork trust --remove")
  return codes.done
}

/** Asked once at the start of a conversation, where there is anything to trust. */
export async function askForTrust(folder?: string): Promise<void> {
  const cwd = await folderOf(folder)
  const found = await trustOf(cwd, place())
  if (found.state === "nothing" || found.state === "trusted") return
  for (const line of await described(cwd, found)) print(line)
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const said = await terminal
    .question("Trust them? y or n (then they can only restrict): ")
    .catch(() => "")
    .finally(() => terminal.close())
  if (/^y(es)?$/i.test(said.trim())) await trust(cwd, { ...place(), hash: found.repository.hash })
}

/** Which files there are, and what of them would run or be allowed. */
async function described(cwd: string, found: Trust): Promise<string[]> {
  if (found.state === "nothing")
    return ["this project has no settings, hooks or agents of its own: there is nothing to trust"]
  const { root, files, problems } = found.repository
  const changed = found.state === "changed" ? new Set(found.changed) : new Set<string>()
  const config = await load({ cwd, env: process.env, home: homedir(), trusted: true })
  const hooks = [
    ...config.hooks
      .filter(({ file }) => file.startsWith(root))
      .flatMap(({ value, file }) => readHooks(value, file).hooks),
    ...(await agentsOf(cwd)).flatMap(({ hooks, source }) => readHooks(hooks, source.path ?? "").hooks),
  ]
  const allowed = config.permissions.filter(({ file, do: verdict }) => verdict === "allow" && file.startsWith(root))
  return [
    `${root} brings these files, ${words[found.state]}:`,
    ...files.map(({ path }) => `  ${path}${changed.has(path) ? "  (changed)" : ""}`),
    ...problems.map(({ path, message }) => `  ${path}: ${message}`),
    ...hooks.map(({ event, command }) => `  would run on ${event}: ${command}`),
    ...allowed.map(({ text }) => `  would allow without a question: ${text}`),
  ]
}

/** The agents that the project brings. */
async function agentsOf(cwd: string): Promise<Definition[]> {
  const { env, home } = place()
  const { agents, shadowed } = await loadAgents({ cwd, env, home, builtIn: [], trusted: true })
  const all = [...agents, ...shadowed.map(({ definition }) => definition)]
  return all.filter(({ source }) => source.scope === "project")
}

const words = {
  trusted: "which you trust",
  untrusted: "which nobody here has trusted yet",
  changed: "which have changed since you trusted them",
}
