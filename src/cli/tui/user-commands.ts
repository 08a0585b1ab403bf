import { realpath } from "node:fs/promises"
import { isAbsolute, join, relative } from "node:path"
import type { SlashCommand } from "@earendil-works/pi-tui"
import { type Entry, textOf } from "../../agents/entry.ts"
import { type Found, findFiles, type Problem, readFound } from "../../agents/files.ts"
import { frontMatter } from "../../agents/front-matter.ts"
import { foldersDown } from "../../config/repository.ts"
import { oneLine } from "../../core/one-line.ts"

/** A prompt that is kept in a file and sent by its name. */
export type UserCommand = {
  /** `review`, or `git:commit` for a file in a folder. */
  name: string
  description: string
  hint?: string
  model?: string
  /** Whose it is: one that came with the project was not written by the user. */
  origin: "project" | "user"
  path: string
  text: string
}

type Places = { cwd: string; home: string; env: NodeJS.ProcessEnv }
type Place = { folder: string; origin: UserCommand["origin"]; within?: string }

const mostCommands = 500
const mostBytes = 64 * 1024

/** All commands, sorted by name. Of one name the closest counts: folder by folder up the project, then the user's. */
export async function loadUserCommands(places: Places): Promise<{ commands: UserCommand[]; problems: Problem[] }> {
  const commands = new Map<string, UserCommand>()
  const problems: Problem[] = []
  for (const place of await placesOf(places)) {
    const found = findFiles({ folder: place.folder, ending: ".md", ...(place.within && { within: place.within }) })
    problems.push(...found.problems)
    for (const file of found.files) {
      const name = nameOf(place.folder, file.path)
      if (commands.has(name.toLowerCase())) continue
      if (commands.size >= mostCommands) {
        problems.push({ path: file.path, message: `is not read: there are ${mostCommands} commands already` })
        return { commands: sorted(commands), problems }
      }
      const read = await commandIn(file, place, name)
      if (typeof read === "string") problems.push({ path: file.path, message: read })
      else commands.set(name.toLowerCase(), read)
    }
  }
  return { commands: sorted(commands), problems }
}

const sorted = (commands: Map<string, UserCommand>): UserCommand[] =>
  [...commands.values()].sort((one, other) => (one.name < other.name ? -1 : 1))

async function placesOf({ cwd, env, ...user }: Places): Promise<Place[]> {
  const home = await realpath(user.home).catch(() => user.home)
  const absolute = (path: string | undefined) => (path && isAbsolute(path) ? path : undefined)
  const own = [
    join(absolute(env.XDG_CONFIG_HOME) ?? join(home, ".config"), "legwork", "commands"),
    join(home, ".legwork", "commands"),
    join(absolute(env.CLAUDE_CONFIG_DIR) ?? join(home, ".claude"), "commands"),
  ]
  const down = foldersDown(cwd)
  const project = down
    .toReversed()
    .flatMap((folder) => [join(folder, ".legwork", "commands"), join(folder, ".claude", "commands")])
    .filter((folder) => !own.includes(folder)) // whoever works at home has no other project there
  return [
    ...project.map((folder): Place => ({ folder, origin: "project", within: down[0] })),
    ...own.map((folder): Place => ({ folder, origin: "user" })),
  ]
}

const nameOf = (folder: string, path: string): string =>
  relative(folder, path).replace(/\.md$/i, "").replaceAll(/[\\/]/g, ":")

async function commandIn(file: Found, { origin, within }: Place, name: string): Promise<UserCommand | string> {
  if (!/^[\p{L}\p{N}_][\p{L}\p{M}\p{N}._:-]*$/u.test(name))
    return "has a name that cannot be typed as a command; use letters, digits, - and _"
  const bytes = readFound(file, within)
  if (typeof bytes === "string") return bytes
  if (bytes.length > mostBytes) return "is larger than 64 KB and is not read; make it shorter"
  const whole = bytes
    .toString("utf8")
    .replace(/^\ufeff/, "")
    .replaceAll("\r\n", "\n")
  const matter = await frontMatter(hintFirst(whole))
  const text = (matter?.body ?? whole).trim()
  if (text === "") return "says nothing to the agent; write what is to be done below its front matter"
  const field = (key: string, most: number) => fieldOf(matter?.entries ?? [], key, most)
  const [hint, model] = [field("argumenthint", 80), field("model", 100)]
  return {
    name,
    description: field("description", 200) ?? oneLine(text.split("\n", 1)[0]!.replace(/^#+\s*/, ""), 80),
    ...(hint !== undefined && { hint }),
    ...(model !== undefined && { model }),
    origin,
    path: file.path,
    text,
  }
}

/** `[file] [line]` is no YAML, and no field of agents: in quotes and at the top it keeps out of the way of the others. */
const hintFirst = (text: string): string =>
  text.replace(
    /^(---[ \t]*\n)((?:(?!---).*\n)*?)(argument[-_]?hint)[ \t]*:[ \t]*(.*)\n/i,
    (_, fence: string, before: string, key: string, value: string) =>
      `${fence}${key}: ${/^(["']).*\1\s*$/.test(value) ? value : JSON.stringify(value.trim())}\n${before}`,
  )

function fieldOf(entries: readonly Entry[], key: string, most: number): string | undefined {
  const entry = entries.find((each) => each.key.toLowerCase().replaceAll(/[-_]/g, "") === key)
  const text = entry && (Array.isArray(entry.value) ? entry.text : textOf(entry))
  return text === undefined ? undefined : oneLine(text, most) || undefined
}

/** A command in the list of all; those that came with the project say so. */
export const listed = ({ name, description, hint, origin }: UserCommand): SlashCommand => ({
  name,
  description: origin === "project" ? `(project) ${description}` : description,
  ...(hint !== undefined && { argumentHint: hint }),
})

/** What is sent for a command: nothing in it is run or read here. */
export function promptOf({ text }: Pick<UserCommand, "text">, given: string): string {
  const all = given.trim()
  const words = wordsIn(all)
  const place = /\$(?:ARGUMENTS\b|([1-9])(?!\d))/g
  // In one go: what was given is not looked through for more places.
  const filled = text.replaceAll(place, (_, at?: string) => (at === undefined ? all : (words[Number(at) - 1] ?? "")))
  const rest = all !== "" && text.search(place) < 0 ? `\n\n${all}` : ""
  return `${filled}${rest}${/(?:^|\s)!`[^`\n]+`/.test(text) ? unrun : ""}`
}

const unrun =
  "\n\n(What is written as !`command` above was not run. Run what you need of it yourself, as far as you may.)"

/** Words as in a shell: quotes keep spaces together. */
const wordsIn = (text: string): string[] =>
  [...text.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"']|["'])+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"),
  )
