import { isAbsolute, join } from "node:path"
import type { Dialect } from "./definition.ts"

type System = {
  dialect: Dialect
  /** Below a folder of the project. */
  project: readonly string[]
  /** Below the user's home and config folder. */
  user: (places: { home: string; config: string; env: NodeJS.ProcessEnv }) => readonly string[]
  /** How the names of its agent files end. */
  ending?: string
}

/** Where each system keeps its agents, in the order in which they win over one another. */
const systems: readonly System[] = [
  {
    dialect: "legwork",
    project: [".legwork/agents"],
    user: ({ home, config }) => [join(config, "legwork/agents"), join(home, ".legwork/agents")],
  },
  {
    dialect: "claude",
    project: [".claude/agents"],
    user: ({ home, env }) => [join(absolute(env.CLAUDE_CONFIG_DIR) ?? join(home, ".claude"), "agents")],
  },
  {
    dialect: "opencode",
    project: [".opencode/agent", ".opencode/agents"],
    user: ({ home, config }) =>
      [join(config, "opencode"), join(home, ".opencode")].flatMap((base) => [
        join(base, "agent"),
        join(base, "agents"),
      ]),
  },
  ...(
    [
      ["gemini", ".gemini/agents"],
      ["qwen", ".qwen/agents"],
      ["kimi", ".kimi-code/agents"],
      ["agents", ".agents/agents"],
    ] as const
  ).map(([dialect, folder]) => ({
    dialect,
    project: [folder],
    user: ({ home }: { home: string }) => [join(home, folder)],
  })),
  {
    dialect: "copilot",
    project: [".github/agents"],
    user: ({ home }) => [join(home, ".copilot/agents"), join(home, ".github/agents")],
    ending: ".agent.md",
  },
  { dialect: "cursor", project: [".cursor/agents"], user: ({ home }) => [join(home, ".cursor/agents")] },
]

const absolute = (path: string | undefined): string | undefined => (path && isAbsolute(path) ? path : undefined)

/** A folder of agent files. */
export type Place = { folder: string; dialect: Dialect; ending: string }

const place = ({ dialect, ending = ".md" }: System, folder: string): Place => ({ folder, dialect, ending })

/** The folders of a project, the closest first. */
export const projectPlaces = (closestFirst: readonly string[]): Place[] =>
  closestFirst.flatMap((base) =>
    systems.flatMap((system) => system.project.map((folder) => place(system, join(base, folder)))),
  )

export function userPlaces(home: string, env: NodeJS.ProcessEnv): Place[] {
  const config = absolute(env.XDG_CONFIG_HOME) ?? join(home, ".config")
  return systems.flatMap((system) => system.user({ home, config, env }).map((folder) => place(system, folder)))
}

/** Whose file it is, where its folder does not say: by its path, its name, or the fields that only one system has. */
export function guessed(path: string, keys: readonly string[]): Dialect {
  const named = systems.find(({ project }) => project.some((folder) => path.includes(`/${folder}/`)))
  if (named) return named.dialect
  if (path.endsWith(".agent.md")) return "copilot"
  if (keys.includes("mode") || keys.includes("permission")) return "opencode"
  if (keys.includes("timeout_mins") || keys.includes("max_turns") || keys.includes("kind")) return "gemini"
  if (keys.includes("is_background")) return "cursor"
  return "claude"
}
