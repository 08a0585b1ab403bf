import type { Context } from "../agent/scope.ts"
import type { Price } from "../model/price.ts"
import type { ProviderSettings } from "../model/providers.ts"
import type { Permissions, Stated } from "./permissions.ts"

/** From the tightest to the loosest. */
export const modes = ["plan", "default", "acceptEdits", "bypass"] as const
export type Mode = (typeof modes)[number]

/** From the tightest to the loosest. */
export const sandboxes = ["read-only", "workspace-write", "off"] as const
type Sandbox = (typeof sandboxes)[number]

export const contexts = ["fresh", "fork", "filtered"] as const satisfies Context[]

export const efforts = ["low", "medium", "high"] as const
type Effort = (typeof efforts)[number]

/** Where a run must end. Times are in seconds, costs in US dollars. */
export type RunSettings = { tokens?: number; cost?: number; tools?: number; timeout?: number; idle?: number }

/** What settings may say of one agent, over what its definition does. */
type AgentSettings = RunSettings & { turns?: number; model?: string; context?: Context }

/** What one layer may say. Each key is optional: what a layer leaves out, the layers below decide. */
export type Settings = {
  $schema?: string
  model?: string
  smallModel?: string
  planModel?: string
  permissionMode?: Mode
  permissions?: Permissions
  hooks?: unknown
  sandbox?: Sandbox
  network?: boolean
  /** Of the main run, and so of all that it sets going. */
  limits?: { turns?: number; parallel?: number; depth?: number } & RunSettings
  /** Of every child. */
  children?: RunSettings & { turns?: number }
  /** By agent, over what its definition says. */
  agents?: Record<string, AgentSettings>
  /** Work that names no agent goes to a fork. */
  fork?: boolean
  /** `after`: seconds that anybody waits for a child before it goes on behind. */
  background?: { after?: number }
  temperature?: number
  effort?: Effort
  providers?: Record<string, ProviderSettings>
  prices?: Record<string, Price>
  directories?: { readable?: string[]; writable?: string[] }
  environment?: string[]
  web?: { allowPrivate?: boolean; searchBaseURL?: string }
  aliases?: Record<string, string>
}

/** All layers in one. */
export type Config = {
  model?: string
  smallModel?: string
  planModel?: string
  permissionMode: Mode
  /** Of all layers, lowest first. */
  permissions: Stated[]
  /** As they stand in each file, lowest layer first. */
  hooks: { value: unknown; file: string }[]
  /** The user wants no hooks of Claude's files to run, nor those of its agents. */
  claudeHooks?: "off"
  /** What commands are kept to. */
  sandbox: Sandbox
  /** Whether commands in a sandbox may use the network. */
  network: boolean
  limits: { turns: number; parallel: number; depth: number } & RunSettings
  children: RunSettings & { turns: number }
  agents: Record<string, AgentSettings>
  fork: boolean
  background: { after?: number }
  temperature?: number
  effort?: Effort
  providers: Record<string, ProviderSettings>
  prices: Record<string, Price>
  /** Absolute folders beyond the workspace. */
  directories: { readable: string[]; writable: string[] }
  /** Names of variables that commands may see, beyond those that they always do. */
  environment: string[]
  web: { allowPrivate: boolean; searchBaseURL?: string }
  aliases: Record<string, string>
  /** The settings files that were read, lowest layer first. */
  files: string[]
  /** Files that may deny something, and nobody knows what. */
  unreadable: string[]
  diagnostics: Diagnostic[]
}

/** Something in a file that had no effect, and why. The program goes on without it. */
export type Diagnostic = { severity: "warning"; file: string; key?: string; message: string }

/** Something wrong with the settings that only a person can put right. `where` is a file, a variable or an option. */
export type Problem = { where: string; line?: number; key?: string; message: string }

/** Everything that is wrong with the settings, at once. */
export class ConfigError extends Error {
  override readonly name = "ConfigError"
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(["The settings cannot be used:", ...problems.map((problem) => `  ${line(problem)}`)].join("\n"))
    this.problems = problems
  }
}

function line({ where, line, key, message }: Problem): string {
  const place = line === undefined ? where : `${where}:${line}`
  return printable(key === undefined ? `${place}: ${message}` : `${place}: ${key}: ${message}`)
}

/** Names in a file that came with a repository must not steer the terminal that shows them. */
export const printable = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "\ufffd")
