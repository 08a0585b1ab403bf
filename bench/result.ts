/** One figure and what it may be at most; `detail` has the numbers behind it. A figure without a unit is a ratio. */
export type Result = { name: string; value?: number; unit?: string; bar?: number; detail: Record<string, number> }

export const rounded = (n: number): number => Math.round(n * 100) / 100

export const median = (all: readonly number[]): number => share(all, 0.5)

/** The number that this share of all do not exceed. */
export const share = (all: readonly number[], part: number): number =>
  all.toSorted((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * part))] ?? Number.NaN

export function line({ name, value, unit = "", bar, detail }: Result): string {
  const figure = value === undefined ? [] : [`${rounded(value)} ${unit}`.trim()]
  const judged = value === undefined || bar === undefined ? [] : [value <= bar ? "met" : "NOT MET"]
  const limit = bar === undefined ? [] : [`(bar ${bar})`]
  const numbers = Object.entries(detail).map(([key, each]) => `${key} ${rounded(each)}`)
  return `${name}: ${[[...figure, ...limit, ...judged].join(" "), ...numbers].filter(Boolean).join(", ")}`
}
