import * as z from "zod"
import { tool } from "../agent/scope.ts"
import type { Todo } from "../core/access.ts"
import { plain } from "./plain.ts"

const todo = z.strictObject({
  content: z.string().trim().min(1).max(500),
  status: z.enum(["pending", "in_progress", "completed"]),
})

const input = z.strictObject({
  todos: z
    .array(todo)
    .min(1)
    .max(50)
    .refine((todos) => active(todos) <= 1, "only one item may be in_progress at a time; set the others to pending"),
})

const active = (todos: Todo[]): number => todos.filter(({ status }) => status === "in_progress").length

export const todoWrite = () =>
  tool({
    name: "todo_write",
    description:
      "Replaces your to-do list, for work of several steps. Give the whole list; at most one item is in_progress.",
    input,
    repeatable: true,
    access: () => ({ kind: "none" }),
    run: async ({ todos }) => {
      const items = todos.map(({ content, status }) => ({ content: plain(content).replace(/\s+/g, " "), status }))
      return { ok: true, text: shown(items), details: { kind: "todo", items } }
    },
  })

const boxes = { pending: "[ ]", in_progress: "[>]", completed: "[x]" }

function shown(items: Todo[]): string {
  const done = items.filter(({ status }) => status === "completed").length
  return [
    ...items.map(({ content, status }) => `${boxes[status]} ${content}`),
    `(${done} of ${items.length} done)`,
  ].join("\n")
}
