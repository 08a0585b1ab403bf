/** Whether arguments leave a program one that only reads. */
export type Test = (args: readonly string[]) => boolean

export const listed = (text: string): string[] => text.split(" ")

/** Whether an option is there: alone, cut short, with its value attached, or as a letter among others. */
export const has = (args: readonly string[], option: string): boolean =>
  args.some((arg) =>
    option.startsWith("--")
      ? /^--./.test(arg) && option.startsWith(arg.split("=")[0]!)
      : /^-[A-Za-z0-9]/.test(arg) && arg.includes(option[1]!),
  )

export const without =
  (options: string): Test =>
  (args) =>
    !listed(options).some((option) => has(args, option))

/** For programs whose options are whole words after one dash. */
export const lacking =
  (words: string): Test =>
  (args) =>
    !args.some((arg) => listed(words).includes(arg))

export const operandsOf = (args: readonly string[]): string[] =>
  args.filter((arg) => !arg.startsWith("-") || arg === "-")

export const atMost =
  (count: number): Test =>
  (args) =>
    operandsOf(args).length <= count

/** For programs of which only some subcommands read. */
export const only =
  (words: string): Test =>
  ([first = ""]) =>
    listed(words).includes(first)
