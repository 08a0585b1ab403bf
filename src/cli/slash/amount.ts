import { tokenCount } from "../../core/numbers.ts"

/** Tokens where the word need not be said again: `12.3k`. */
export const amount = (tokens: number): string => tokenCount(Math.round(tokens)).replace(/ tokens?$/, "")
