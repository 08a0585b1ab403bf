import { execFile } from "node:child_process"
import { access, constants } from "node:fs/promises"
import { homedir } from "node:os"
import { promisify } from "node:util"
import { type Config, ConfigError, load } from "../../config.ts"
import { reasonOf } from "../../core/error.ts"
import { printable } from "../../core/one-line.ts"
import { folderOf, packageFolders, stateFolder } from "../../folders.ts"
import { readHooks } from "../../hooks/settings.ts"
import { keysFound } from "../../model/providers.ts"
import { resolver } from "../../model/resolve.ts"
import { findSandbox } from "../../sandbox/sandbox.ts"
import { privateFolder } from "../../store/private.ts"
import { ripgrepPath } from "../../tools/ripgrep.ts"
import { trustOf } from "../../trust.ts"
import { codes } from "../exit.ts"
import type { Flags } from "../program.ts"

/** `missing` stops something from working; `note` is worth knowing. */
export type Finding = { what: string; state: "ok" | "note" | "missing"; said: string }

const run = promisify(execFile)

export async function doctor(flags: { json?: true }, { cwd, model }: Flags): Promise<number> {
  const folder = await folderOf(cwd)
  const env = process.env
  const findings: Finding[] = [
    node(),
    await program("ripgrep", ripgrep(), ["--version"], "reinstall legwork: npm i legwork"),
    await program("git", "git", ["--version"], "install it, on Debian: apt install git"),
    await program("bash", "bash", ["--version"], "install it, on Debian: apt install bash"),
    await sandbox(),
    await state(stateFolder(env)),
    ...(await settings(folder, env, model)),
  ]
  if (flags.json) process.stdout.write(`${JSON.stringify(findings)}\n`)
  else
    for (const { what, state, said } of findings)
      process.stdout.write(printable(`${state.padEnd(8)}${what.padEnd(12)}${said}\n`))
  return findings.some(({ state }) => state === "missing") ? codes.failed : codes.done
}

const node = (): Finding => ({ what: "node", state: "ok", said: `${process.version} at ${process.execPath}` })

function ripgrep(): string {
  try {
    return ripgrepPath()
  } catch {
    return "rg"
  }
}

async function program(what: string, file: string, args: string[], fix: string): Promise<Finding> {
  try {
    const { stdout } = await run(file, args, { timeout: 5_000 })
    return { what, state: "ok", said: stdout.split("\n")[0] ?? "" }
  } catch {
    return { what, state: "missing", said: fix }
  }
}

async function sandbox(): Promise<Finding> {
  const found = await findSandbox({ env: process.env })()
  if (found.ok)
    return { what: "sandbox", state: "ok", said: `${found.what}: read-only agents have a shell that cannot write` }
  return { what: "sandbox", state: "note", said: `${found.why}, so read-only agents have no shell; ${found.fix}` }
}

const consents = {
  trusted: "what this project brings is trusted",
  untrusted: "what this project brings can only restrict; see: legwork trust",
  changed: "what this project brings has changed and can only restrict; see: legwork trust",
}

async function consent(cwd: string, env: NodeJS.ProcessEnv): Promise<{ trusted: boolean; findings: Finding[] }> {
  const found = await trustOf(cwd, { folder: stateFolder(env), env, home: env.HOME || homedir() })
  if (found.state === "nothing") return { trusted: true, findings: [] }
  const trusted = found.state === "trusted"
  return { trusted, findings: [{ what: "trust", state: trusted ? "ok" : "note", said: consents[found.state] }] }
}

/** Every command that will be run around calls, and what is wrong with the rest. */
function hooksIn({ hooks }: Config): Finding[] {
  return hooks.flatMap(({ value, file }) => {
    const read = readHooks(value, file)
    return [
      ...read.hooks.map(
        ({ event, matcher, command, broken }): Finding => ({
          what: "hook",
          state: broken ? "note" : "ok",
          said: broken
            ? `${event} cannot be read (${broken}), so it denies   (${file})`
            : `${event}${matcher ? ` of ${matcher}` : ""}: ${command}   (${file})`,
        }),
      ),
      ...read.problems.map(({ message }): Finding => ({ what: "hook", state: "note", said: `${file}: ${message}` })),
    ]
  })
}

async function state(folder: string): Promise<Finding> {
  try {
    await privateFolder(folder)
    await access(folder, constants.W_OK)
    return { what: "sessions", state: "ok", said: folder }
  } catch {
    return { what: "sessions", state: "missing", said: `${folder} cannot be written: sessions will not be kept` }
  }
}

/** Bad settings are a finding like any other. */
function wrong(error: unknown): Finding {
  if (error instanceof ConfigError) return { what: "settings", state: "missing", said: error.message }
  throw error
}

async function settings(cwd: string, env: NodeJS.ProcessEnv, model: string | undefined): Promise<Finding[]> {
  const { trusted, findings } = await consent(cwd, env)
  const flags = model === undefined ? {} : { model }
  const config = await load({ cwd, env, home: homedir(), flags, trusted }).catch(wrong)
  if ("what" in config) return [...findings, config]
  const files = config.files.length > 0 ? config.files.join(", ") : "none; defaults apply"
  const keys = keysFound({ settings: config.providers, env })
  const models = resolver({ config, env, packages: packageFolders(env) })
  const resolved = await Promise.all(
    (["model", "small", "plan"] as const).map(async (which): Promise<Finding> => {
      const name = which === "model" ? undefined : which
      try {
        const { id } = await models.resolve(name)
        return { what: which === "model" ? which : `${which} model`, state: "ok", said: id }
      } catch (error) {
        return { what: which, state: "missing", said: reasonOf(error) }
      }
    }),
  )
  await models.close()
  return [
    ...findings,
    { what: "settings", state: "ok", said: files },
    ...hooksIn(config),
    ...config.diagnostics.map(
      ({ file, message }): Finding => ({ what: "settings", state: "note", said: `${file}: ${message}` }),
    ),
    {
      what: "keys",
      state: keys.length > 0 ? "ok" : "note",
      said:
        keys.length > 0
          ? keys.join(", ")
          : "none is set, so the offline model answers; set ANTHROPIC_API_KEY or another",
    },
    ...resolved,
  ]
}
