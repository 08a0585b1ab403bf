/** The most words that the hooks and servers of one file may have. */
const mostWords = 2_000

/** The words of what a file would run that may be names of files; undefined if they are too many to look at. */
export function namesIn(commands: readonly unknown[]): string[] | undefined {
  const names = new Set<string>()
  for (const text of textsIn(commands)) {
    for (const word of wordsOf(text)) names.add(word)
    if (names.size > mostWords) return undefined
  }
  return [...names]
}

/** Every text in a value. It may be nested deeper than calls can go. */
function* textsIn(value: unknown): Generator<string> {
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === "string") yield next
    else if (typeof next === "object" && next !== null) for (const each of Object.values(next)) open.push(each)
  }
}

const redirection = /\d*>{1,2}[|&]?\s*(?:"[^"]*"|'[^']*'|[^\s;|&<>()"']+)+/g
const variable = /\$\{[^}]*\}|\$\w+/g
const quotedWord = /(?:"[^"]*"|'[^']*'|\\.|[^\s;|&<>()"'\\])+/g

/** Rather too many than too few: as a shell would part them, as they stand within quotes, and the text as a whole. */
function wordsOf(text: string): string[] {
  // What is only written to is not run; and the variables that hooks may count on stand for the project's folder.
  const command = text.replace(redirection, " ").replace(variable, ".")
  const words = command.match(quotedWord) ?? []
  const all = [command, ...words.map((word) => word.replace(/["'\\]/g, "")), ...command.split(/[\s"'`;|&<>(){}=,$]+/)]
  return all.filter((word) => word !== "" && word.length < 4_096 && !word.includes("\0"))
}
