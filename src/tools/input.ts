import * as z from "zod"
import { badPath } from "./paths.ts"

/** A path as a model may write it. What is wrong with it is told like any other wrong argument. */
export const pathInput = z.string().superRefine((path, context) => {
  const wrong = badPath(path)
  if (wrong) context.addIssue(wrong)
})

/** A whole number between two others; checked here, so that the advertised schema stays small. */
export const count = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  z
    .number()
    .refine(
      (number) => Number.isInteger(number) && number >= least && number <= most,
      `must be a whole number from ${least} to ${most}`,
    )

const longestPattern = 10_000

export const patternInput = z
  .string()
  .refine((pattern) => pattern !== "" && !pattern.includes("\0"), "the pattern is empty or has a NUL character")
  .refine((pattern) => pattern.length <= longestPattern, `the pattern has over ${longestPattern} characters`)

/** Takes arguments under the names that other systems use too; `null` drops one. The own name wins. */
export const tolerant = <In extends z.ZodType>(names: Record<string, string | null>, schema: In) =>
  z.preprocess((input) => {
    if (typeof input !== "object" || input === null || Array.isArray(input)) return input
    const renamed = Object.entries(input).map(([key, value]) => [Object.hasOwn(names, key) ? names[key] : key, value])
    const foreign = renamed.filter(([key]) => key !== null && !Object.hasOwn(input, key))
    const own = Object.entries(input).filter(([key]) => !Object.hasOwn(names, key))
    return Object.fromEntries([...foreign, ...own])
  }, schema)
