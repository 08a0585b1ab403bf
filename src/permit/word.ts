/** Stands for what only the shell will know. No command can hold this character itself. */
export const hole = "\0"

/** A word of a command: as it was written, and as the program gets it, with holes. */
export type Word = { raw: string; text: string }

export const isSure = ({ text }: Word): boolean => !text.includes(hole)

export const wordOf = (text: string): Word => ({ raw: text, text })

/** The last name of a path, as a file system without case would read it: what a program is called wherever it lies. */
export const baseOf = (program: string): string => program.slice(program.lastIndexOf("/") + 1).toLowerCase()

/** Quotes that change nothing are left out, so that a rule need not foresee them. */
export const spoken = (word: Word): string =>
  isSure(word) && /^[\w./:=@%+,-]+$/.test(word.text) ? word.text : word.raw

/** Whether a program is the system's own, as far as its name tells. */
export const isSystem = (program: string): boolean => /^((\/usr)?\/bin\/)?[^/]+$/.test(program)
