import { setImmediate } from "node:timers/promises"
import {
  type AutocompleteItem,
  type AutocompleteProvider,
  type AutocompleteSuggestions,
  fuzzyFilter,
  type SlashCommand,
} from "@earendil-works/pi-tui"
import { abortable } from "../../agent/abortable.ts"
import { oneLine } from "../../core/one-line.ts"

type Sources = {
  commands(): readonly SlashCommand[]
  agents(): readonly { name: string; description: string }[]
  /** The files of the project, by path from its folder. */
  files(): Promise<readonly string[]>
}

const mostItems = 50

/** Completes `/command` and its argument at the beginning, and `@agent` and `@file` anywhere. Never rejects. */
export function completing(sources: Sources): AutocompleteProvider {
  return {
    async getSuggestions(lines, cursorLine, cursorCol, { signal }) {
      const before = (lines[cursorLine] ?? "").slice(0, cursorCol)
      const mention = mentionIn(before)
      if (mention !== undefined) return offered(mention, await mentioned(sources, mention, signal))
      if (cursorLine > 0) return null
      const command = commandIn(before)
      if (command !== undefined) return offered(command, commandsLike(sources.commands(), command.slice(1)))
      const [, name, argument = ""] = /^\s*\/(\S+)\s+(.*)$/.exec(before) ?? []
      return name === undefined ? null : offered(argument, await argumentsOf(sources.commands(), name, argument))
    },
    applyCompletion(lines, cursorLine, cursorCol, item, offeredFor) {
      const line = lines[cursorLine] ?? ""
      const before = line.slice(0, cursorCol)
      // The list may be older than the last letters: they belong to what is replaced, and have a say in what is taken.
      const prefix = mentionIn(before) ?? commandIn(before) ?? offeredFor
      const isStale = prefix !== offeredFor && prefix.startsWith("/")
      const { value } = (isStale && commandsLike(sources.commands(), prefix.slice(1))[0]) || item
      const head = line.slice(0, cursorCol - prefix.length)
      const rest = line.slice(cursorCol)
      const after = prefix.startsWith('@"') && value.endsWith('"') ? rest.replace(/^"/, "") : rest
      const gap = /^[/@]/.test(prefix) && !after.startsWith(" ") ? " " : ""
      // Behind the space, whether it was put there or stood there.
      const cursor = head.length + value.length + (/^[/@]/.test(prefix) ? 1 : 0)
      return { lines: lines.with(cursorLine, head + value + gap + after), cursorLine, cursorCol: cursor }
    },
    shouldTriggerFileCompletion: (lines, cursorLine, cursorCol) =>
      mentionIn((lines[cursorLine] ?? "").slice(0, cursorCol)) !== undefined,
  }
}

const offered = (prefix: string, items: AutocompleteItem[]): AutocompleteSuggestions | null =>
  items.length > 0 ? { prefix, items } : null

/** The `@name` or `@"name with spaces` that ends a text; what stands before it must not be part of a word. */
const mentionIn = (text: string): string | undefined => /(?:^|[\s\p{P}])(@(?:"[^"]*|[^\s"@]*))$/u.exec(text)?.[1]

/** The `/name` that is all of a text. */
const commandIn = (text: string): string | undefined => /^\s*(\/[^\s/]*)$/.exec(text)?.[1]

function commandsLike(commands: readonly SlashCommand[], typed: string): AutocompleteItem[] {
  return fuzzyFilter([...commands], typed, ({ name }) => name)
    .slice(0, mostItems)
    .map(({ name, argumentHint, description }) => {
      const about = [argumentHint, description].filter((each) => each !== undefined && each !== "").join(" · ")
      return { value: `/${name}`, label: name, ...(about !== "" && { description: oneLine(about, 200) }) }
    })
}

async function argumentsOf(
  commands: readonly SlashCommand[],
  name: string,
  typed: string,
): Promise<AutocompleteItem[]> {
  const command = commands.find((each) => each.name.toLowerCase() === name.toLowerCase())
  try {
    return ((await command?.getArgumentCompletions?.(typed)) ?? []).slice(0, mostItems)
  } catch {
    return [] // nobody waits for it: what is typed counts without it
  }
}

/** Agents before files. */
async function mentioned(sources: Sources, mention: string, signal: AbortSignal): Promise<AutocompleteItem[]> {
  const typed = mention.replace(/^@"?/, "")
  const agents = fuzzyFilter([...sources.agents()], typed, ({ name }) => name)
  const files = await abortable(signal, sources.files()).catch((): readonly string[] => [])
  return [
    ...agents.map(({ name, description }) => ({
      value: `@${name}`,
      label: name,
      description: oneLine(`agent · ${description}`, 200),
    })),
    ...(await best(files, typed, signal)).map((path) => ({ value: quoted(path), label: path })),
  ].slice(0, mostItems)
}

const handful = 2_000

/** The paths that fit best. With many files this takes long: between handfuls of them, keys are heard. */
async function best(files: readonly string[], typed: string, signal: AbortSignal): Promise<string[]> {
  let top: string[] = []
  for (let at = 0; at < files.length && !signal.aborted; at += handful) {
    if (at > 0) await setImmediate()
    top = fuzzyFilter([...top, ...files.slice(at, at + handful)], typed, (path) => path).slice(0, mostItems)
  }
  return top
}

/** What would end a mention, spaces and the marks of Chinese and Japanese, is kept together by quotes. */
const quoted = (path: string): string =>
  /[\s@\u3000-\u303f\uff00-\uff0f\uff1a-\uff20]/.test(path) ? `@"${path}"` : `@${path}`
