import { type Asked, call, type Reply, type Script } from "../../src/testing.ts"

export const isChild = ({ system }: Asked): boolean => system.includes("You are a subagent")
export const turnsIn = ({ messages }: Asked): number => messages.filter(({ role }) => role === "assistant").length

/** How often each child's answer is in what the main agent was last asked, as a result that was sent to it. */
export function heard(asked: Asked | undefined, answers: readonly string[]): number[] {
  const sent = asked?.messages.flatMap(({ role, text }) => (role === "user" ? [text] : [])).join("\n") ?? ""
  return answers.map((answer) => sent.split(answer).length - 1)
}

export const behind = (label: string, more: object = {}) =>
  call("task", { description: label, prompt: label, subagent_type: "explore", run_in_background: true, ...more })
export const inFront = (label: string) => behind(label, { run_in_background: false })

/** The main agent makes these calls, says that it did, and then with each message how many results it has. */
export const launching =
  (calls: ReturnType<typeof call>[], child: (asked: Asked) => Reply | Promise<Reply>): Script =>
  (asked) => {
    if (isChild(asked)) return child(asked)
    if (turnsIn(asked) === 0) return calls
    const results = heard(
      asked,
      calls.map((_, n) => `found ${n + 1}`),
    ).filter((times) => times > 0).length
    return results === 0 ? "all are on their way" : `${results} of ${calls.length} are there`
  }

/** Something that is waited for until it is let go. */
export function latch(): { wait: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { wait: promise, open: resolve }
}

export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}
