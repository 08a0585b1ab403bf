import { basename, dirname } from "node:path"
import { type Gate, stricter } from "./agent/scope.ts"
import { ownName } from "./agents/names.ts"
import type { Problem } from "./config/settings.ts"
import { type Config, ConfigError } from "./config.ts"
import { type Access, deniedReads, type Fence, type Rule } from "./core/access.ts"
import type { Role } from "./core/event.ts"
import { mainOf, type View } from "./core/view.ts"

type Place = {
  config: Config
  view: View
  root: string
  home: string
  canFence(): Promise<boolean>
  /** Where writing to a path really leads. Throws if it is no path. */
  writing(path: string): Extract<Access, { kind: "write" }>
  warn(text: string): void
}

/** What the user's settings, and what was allowed for good since, say to every call; and what a role says by itself. */
export type Judging = { gate: Gate; fence?: Fence; hidden: readonly string[]; own(role: Role): Gate | undefined }

export async function judging({ config, view, root, home, canFence, writing, warn }: Place): Promise<Judging> {
  const rules = await rulesIn(config, warn)
  const fence = fenceIn(config)
  const gateOf =
    (mode: Config["permissionMode"], rules: () => readonly Rule[]): Gate =>
    async (asked) => {
      const { judge } = await import("./permit/judge.ts")
      const { fence } = asked
      return judge(asked, { mode, rules: rules(), root, home, canFence, writing, ...(fence && { fence }) })
    }
  const allowed = () => mainOf(view)?.allowed ?? []
  return {
    gate: gateOf(config.permissionMode, () => [...rules, ...allowed()]),
    ...(fence && { fence }),
    hidden: deniedReads(rules),
    own({ rules, mode }) {
      const byRules: Gate | undefined =
        rules && (async (asked) => (await import("./permit/own.ts")).judgeOwn(asked, rules, { root, home }))
      const byMode = mode && gateOf(mode, () => [])
      return byRules && byMode ? stricter(byRules, byMode) : (byRules ?? byMode)
    },
  }
}

/** Plan mode is read-only for everybody. */
function fenceIn({ permissionMode, sandbox, network }: Config): Fence | undefined {
  if (permissionMode === "plan") return { level: "read-only", network: false }
  return sandbox === "off" ? undefined : { level: sandbox, network }
}

/**
 * Rules as people wrote them. One that cannot be read and was to restrict is for a person to put right. Rules made for
 * Claude may speak of what is not there: such a one gives no leave here, and where it was to restrict, a person decides.
 */
export async function rulesIn(
  { permissions, unreadable }: Config,
  warn: (text: string) => void = () => {},
): Promise<Rule[]> {
  if (permissions.length === 0 && unreadable.length === 0) return []
  const { readRule } = await import("./permit/rule.ts")
  const problems: Problem[] = []
  let doubtful = unreadable.length > 0
  const rules = permissions.flatMap(({ text, do: verdict, file }): Rule[] => {
    const read = readRule(text, verdict, (tool) => ownName(tool)?.slice())
    if (read) return read
    const key = `permissions.${verdict}`
    const message = `${JSON.stringify(text)} is no rule; write one such as bash(npm test *), edit(src/**) or web_fetch(domain:example.com)`
    if (!isClaudes(file)) problems.push({ where: file, key, message })
    else {
      doubtful ||= verdict !== "allow"
      warn(`${file}: ${key}: ${message}; until then ${verdict === "allow" ? "it gives no leave" : "every call asks"}`)
    }
    return []
  })
  if (problems.length > 0) throw new ConfigError(problems)
  // What a rule or a file that nobody can read may deny, a person decides.
  return doubtful ? [...rules, { tool: "*", pattern: "*", do: "ask" }] : rules
}

const isClaudes = (file: string): boolean => basename(dirname(file)) === ".claude"
