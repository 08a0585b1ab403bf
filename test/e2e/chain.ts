import type { TestContext } from "node:test"
import { type Asked, call, type Reply, type Script, type Server, serve } from "../../src/testing.ts"
import { type Home, home, type Ran } from "./binary.ts"

/** The main agent, one that it starts, and one that this one starts, by what each is told to do. */
export const prompts = ["go", "one", "two"]
export const children = ["lead", "code"]

export const promptIn = ({ messages }: Asked): string => messages[0]!.text.split("\n")[0]!
export const turnsIn = ({ messages }: Asked): number => messages.filter(({ role }) => role === "assistant").length

/** At each depth: these calls, then the next agent, then a word. */
export const chain =
  (...calls: readonly ReturnType<typeof call>[]): Script =>
  (asked) => {
    const depth = prompts.indexOf(promptIn(asked))
    const next = children[depth]
    const steps: Reply[] = [
      ...(calls.length > 0 ? [calls] : []),
      ...(next && asked.tools.includes("task")
        ? [[call("task", { prompt: prompts[depth + 1], subagent_type: next })]]
        : []),
    ]
    return steps[turnsIn(asked)] ?? `done ${depth}`
  }

export type Hook = { event: string; command: string; matcher?: string; timeout?: number }

/** As settings have them. */
export const hooksOf = (all: readonly Hook[]): Record<string, object[]> =>
  Object.fromEntries(
    [...Map.groupBy(all, ({ event }) => event)].map(([event, hooks]) => [
      event,
      hooks.map(({ matcher, event: _, ...hook }) => ({
        ...(matcher && { matcher }),
        hooks: [{ type: "command", ...hook }],
      })),
    ]),
  )

/** A command that keeps what it is told, a line each. */
export const hears = 'printf "%s\\n" "$(cat)" >> "$HOME/heard"'
export const says = (answer: object): string => `echo '${JSON.stringify(answer)}'`

type Setup = { hooks?: readonly Hook[]; settings?: object; files?: Record<string, string> }

export type Stage = Home & {
  server: Server
  go(args: string[]): Promise<Ran>
  /** What hooks were told. */
  heard(): Promise<Record<string, unknown>[]>
  /** What came of the calls at each depth, those apart that started agents. */
  told(): string[][]
}

/** A home with these settings, an agent that leads, and a provider that says what the script says. */
export async function stage(t: TestContext, script: Script, { hooks = [], settings, files }: Setup): Promise<Stage> {
  const server = await serve(script)
  t.after(() => server.close())
  const place = await home(t, {
    "../config/legwork/settings.json": JSON.stringify({ limits: { depth: 2 }, hooks: hooksOf(hooks), ...settings }),
    "../config/legwork/agents/lead.md": "---\ndescription: d\n---\nYou lead.\n",
    ...files,
  })
  return {
    ...place,
    server,
    go: (args) => place.run(args, { env: server.env }),
    heard: async () =>
      (await place.file("../heard").catch(() => ""))
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    told: () =>
      prompts.map((prompt) => {
        const last = server.requests.findLast((asked) => promptIn(asked) === prompt)
        const results = last?.messages.filter(({ role }) => role === "result") ?? []
        return results.map(({ text }) => text).filter((text) => !/\n\nagent \w{8} · /.test(text))
      }),
  }
}
