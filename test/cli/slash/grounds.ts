import { builtInCommands, runCommand } from "../../../src/cli/slash/commands.ts"
import type { Ground, Item } from "../../../src/cli/slash/ground.ts"
import { themeOf } from "../../../src/cli/tui/theme.ts"
import type { View } from "../../../src/core/view.ts"

type Picked = { title: string; items: Item[] }

/**
 * A face that notes what commands ask of it. `picks`: what somebody chooses, one after the other; without them nothing
 * can be chosen from lists.
 */
export function groundOn(
  view: View,
  {
    picks,
    session = {},
    ...more
  }: { picks?: (string | undefined)[]; session?: Partial<Ground["session"]> } & Partial<Omit<Ground, "session">> = {},
) {
  const did: string[] = []
  const picked: Picked[] = []
  const ground: Ground = {
    session: {
      id: "20261115-120000-00000000000000aa",
      main: [...view.values()].find(({ depth }) => depth === 0)?.id ?? "",
      cancel: async (run) => void did.push(`cancel ${run}`),
      sendBehind: () => false,
      agents: () => [],
      diagnostics: () => [],
      models: () => [],
      useModel: async (name) => name,
      capacity: () => ({ window: 100_000 }),
      compact: async () => false,
      ...session,
    },
    sessions: async () => [],
    view,
    theme: themeOf({ colors: false, dark: true }),
    note: (text) => void did.push(...text.split("\n")),
    open: (run) => void did.push(`open ${run}`),
    prompt: (text) => void did.push(`prompt ${text}`),
    leave: (next) => void did.push(next ? `leave for ${next.resume}` : "leave"),
    now: () => 0,
    ...(picks && {
      async pick(title, items) {
        picked.push({ title, items })
        return picks.shift()
      },
    }),
    ...more,
  }
  /** What came of a line; undefined if it is meant for the model. */
  const say = async (line: string): Promise<string[] | undefined> => {
    did.length = 0
    const known = await runCommand(line, builtInCommands(), ground)
    return known ? [...did] : undefined
  }
  return { say, picked, ground }
}
