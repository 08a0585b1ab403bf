import { hole, isSure, type Word, wordOf } from "./word.ts"

/** What a command runs in turn: another command, or a text for a shell. `at`: where in its words that begins. */
export type Run =
  | { words: Word[]; at: number; set: string[] }
  | { script: Word; posix: boolean }
  /** Nobody can tell, and why. */
  | { doubt: string }

/** `bare`: it does nothing of its own, so only what it runs counts. `whole`: what allows it allows what it runs. */
export type Load = { bare: boolean; runs: Run[]; whole?: true }

export const loaded = (runs: Run[]): Load | undefined => (runs.length > 0 ? { bare: false, runs } : undefined)
export const doubtful = (doubt: string): Load => ({ bare: false, runs: [{ doubt }] })

export const joined = (words: readonly Word[]): string => words.map(({ text }) => text).join(" ")

/** A text for this very shell, and one for whatever shell is there. */
export const ours = (text: string): Run => ({ script: wordOf(text), posix: false })
export const foreign = (text: string): Run => ({ script: wordOf(text), posix: true })

/** A word in which a mark is filled in later. One that is not sure may turn out to hold the mark. */
export function opened(word: Word, mark: string): Word {
  if (!isSure(word)) return { ...word, text: hole }
  return mark === "" ? word : { ...word, text: word.text.replaceAll(mark, hole) }
}
