import { median } from "./result.ts"

/** What a turn costs about turn 20 and about turn 200, from what had been spent after each, in the unit of that. */
export function growthOf(marks: readonly number[]): { early: number; late: number } {
  const each = marks.slice(1).map((mark, n) => mark - marks[n]!)
  return { early: median(each.slice(10, 30)), late: median(each.slice(180, 200)) }
}

/** How large the last request was, if the server says so in its report. */
export const bytesIn = (text: string): number => Number(/(\d+) bytes/.exec(text)?.[1] ?? 0)
