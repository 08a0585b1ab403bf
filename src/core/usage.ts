/** Tokens of one or more requests. `input` leaves out what the cache read or wrote; `output` includes `reasoning`. */
export type Usage = { input: number; output: number; cacheRead: number; cacheWrite: number; reasoning: number }

/** US dollars; null when the price of anything in it is unknown. */
export type Cost = number | null

export const noUsage = (): Usage => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 })

export function addUsage(to: Usage, more: Usage): void {
  to.input += more.input
  to.output += more.output
  to.cacheRead += more.cacheRead
  to.cacheWrite += more.cacheWrite
  to.reasoning += more.reasoning
}

export const addCost = (a: Cost, b: Cost): Cost => (a === null || b === null ? null : a + b)

export const totalTokens = ({ input, output, cacheRead, cacheWrite }: Usage): number =>
  input + output + cacheRead + cacheWrite
