import type { Offer, Tool } from "../agent/scope.ts"
import cards from "./cards.json" with { type: "json" }
import type { World } from "./world.ts"

export type Web = { allowPrivate: boolean; search?: { key: string; baseURL?: string } }
export type BuiltIn = { world: World; environment: readonly string[]; web: Web }

type Loading = Record<keyof typeof cards, () => Promise<Tool>>

/** How each tool is made. Nothing of a tool is loaded before it is called; its card is all that a model needs. */
export const loading = ({ world, environment, web }: BuiltIn): Loading => ({
  bash: async () => (await import("./bash.ts")).bash(world, { allow: environment }),
  read: async () => (await import("./read.ts")).read(world),
  write: async () => (await import("./write.ts")).write(world),
  edit: async () => (await import("./edit.ts")).edit(world),
  glob: async () => (await import("./glob.ts")).glob(world),
  grep: async () => (await import("./grep.ts")).grep(world),
  ls: async () => (await import("./ls.ts")).ls(world),
  web_fetch: async () => (await import("./web-fetch.ts")).webFetch(world, { allowPrivate: web.allowPrivate }),
  web_search: async () => (await import("./web-search.ts")).webSearch(world, web.search ?? { key: "" }),
  task: async () => (await import("./task.ts")).task(world),
  task_status: async () => (await import("./task-status.ts")).taskStatus({ now: Date.now }),
  task_stop: async () => (await import("./task-stop.ts")).taskStop(),
  task_message: async () => (await import("./task-message.ts")).taskMessage(),
  todo_write: async () => (await import("./todo-write.ts")).todoWrite(),
  board: async () => (await import("./board.ts")).board(),
})

/** The tools that every session has, in the order in which models see them. */
export function builtIn(options: BuiltIn): Offer[] {
  return Object.entries(loading(options)).flatMap(([name, make]) => {
    if (name === "web_search" && !options.web.search) return []
    let made: Promise<Tool> | undefined
    const load = () => {
      made ??= make()
      return made
    }
    return [{ ...(cards[name as keyof typeof cards] as Omit<Offer, "load">), load }]
  })
}
