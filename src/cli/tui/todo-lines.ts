import type { Todo } from "../../core/access.ts"
import { cutTo, safe } from "./text-lines.ts"
import type { Theme } from "./theme.ts"

const boxes = { pending: "[ ]", in_progress: "[>]", completed: "[x]" }

/** A to-do list as boxes. What is being done stands out, what is done steps back. */
export function todoLines(items: readonly Todo[], { width, theme }: { width: number; theme: Theme }): string[] {
  const paints = { pending: (text: string) => text, in_progress: theme.bold, completed: theme.dim }
  return items.map(({ content, status }) => paints[status](cutTo(`${boxes[status]} ${safe(content)}`, width)))
}
