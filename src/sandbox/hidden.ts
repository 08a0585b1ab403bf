import type { Dirent } from "node:fs"
import { access, constants, lstat, readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { codeOf, reasonOf } from "../core/error.ts"
import { isWithin } from "../core/within.ts"
import { deep, type Step, stepFits, waysOf } from "./pattern.ts"
import { real } from "./real.ts"

/** Where patterns start from, and where those are looked for that may lie anywhere. */
type Ground = { root: string; home: string; areas: readonly string[]; most?: number }

/**
 * The files and folders that patterns of rules mean, as they are now. `~/x` is from home, `//x` from the root of the
 * disk, a bare name anywhere, all else from the workspace. Throws when there is too much to look through.
 */
export async function hiddenBy(patterns: readonly string[], ground: Ground): Promise<string[]> {
  if (patterns.length === 0) return []
  const search = new Search(ground)
  const found = new Set<string>()
  for (const pattern of patterns) {
    const paths = (await search.all(startsOf(pattern, ground)).catch(unkept(pattern))).flatMap(real)
    if (paths.some((path) => isWithin(ground.root, path))) {
      throw new Error(`the rule read(${pattern}) hides the working folder itself; ${narrowing}`)
    }
    for (const path of paths) found.add(path)
    if (found.size > mostFound) {
      throw new Error(
        `the rule read(${pattern}) hides more than ${mostFound} files; name their folders, as in read(secrets/**)`,
      )
    }
  }
  return [...found, ...(await search.twins([...found]))]
}

/** Each is a mount, and the cost of mounts grows with their square: so many take a second or two. */
const mostFound = 1_000

const narrowing = "narrow it, or run the command without the fence"

const unkept = (pattern: string) => (error: unknown) => {
  throw new Error(`the rule read(${pattern}) cannot be kept: ${reasonOf(error)}`)
}

function startsOf(pattern: string, { root, home, areas }: Ground): [string, Step[]][] {
  const ways = (base: string, glob: string) => waysOf(glob).map((steps): [string, Step[]] => [base, steps])
  if (pattern === "~" || pattern.startsWith("~/")) return ways(home, pattern.slice(1))
  if (pattern.startsWith("//")) return ways("/", pattern)
  // Who writes one slash may have meant either root; but hardly all of the disk.
  const isWide = /^\/+[^/]*\*.*\*\*|^\/+\*\*/.test(pattern)
  if (pattern.startsWith("/")) return [...ways(root, pattern), ...(isWide ? [] : ways("/", pattern))]
  const [ups = ""] = /^(\.{1,2}(\/+|$))*/.exec(pattern) ?? []
  const rest = pattern.slice(ups.length).replace(/\/+$/, "")
  const anywhere = ups === "" && (rest.startsWith("**/") || !rest.includes("/"))
  return anywhere ? areas.flatMap((area) => ways(area, `**/${rest}`)) : ways(join(root, ups), rest)
}

/** Entries that one search looks at before it gives up: a second or two. */
const usual = 200_000

/** Looks at each folder once, however many patterns lead there. */
class Search {
  #areas: readonly string[]
  #most: number
  #seen = 0
  #entries = new Map<string, Promise<Dirent[]>>()

  constructor({ areas, most = usual }: Ground) {
    this.#areas = areas
    this.#most = most
  }

  all(starts: readonly [string, Step[]][]): Promise<string[]> {
    return this.#each(starts, ([folder, steps]) => this.from(folder, steps))
  }

  /** What lies at the end of these steps. */
  async from(folder: string, [step, ...rest]: readonly Step[]): Promise<string[]> {
    if (step === undefined) return [folder]
    if (step !== deep) {
      const fitting = (await this.#list(folder)).filter(({ name }) => stepFits(step, name))
      return this.#each(fitting, ({ name }) => this.from(join(folder, name), rest))
    }
    // A folder with all that is in it: the folder.
    if (rest.every((each) => each === deep)) return [folder]
    const within = this.#areas.filter((area) => area !== folder && isWithin(area, folder))
    return this.#each(within.length > 0 ? within : [folder], (start) => this.#below(start, rest))
  }

  /** Other names of the same files. */
  async twins(paths: readonly string[]): Promise<string[]> {
    const known = await Promise.all(paths.map((path) => stat(path, { bigint: true })))
    const ids = new Set(known.filter((each) => each.isFile() && each.nlink > 1n).map(({ dev, ino }) => `${dev} ${ino}`))
    if (ids.size === 0) return []
    const isTwin = async (path: string): Promise<string[]> => {
      const { dev, ino } = await lstat(path, { bigint: true })
      return ids.has(`${dev} ${ino}`) && !paths.includes(path) ? [path] : []
    }
    return this.#each(this.#areas, (area) => this.#files(area, isTwin))
  }

  async #below(folder: string, steps: readonly Step[]): Promise<string[]> {
    const found = await this.from(folder, steps)
    const folders = (await this.#folders(folder)).filter((path) => !found.includes(path))
    return [...found, ...(await this.#each(folders, (path) => this.#below(path, steps)))]
  }

  async #files(folder: string, look: (path: string) => Promise<string[]>): Promise<string[]> {
    const files = (await this.#list(folder)).filter((entry) => entry.isFile())
    return [
      ...(await this.#each(files, ({ name }) => look(join(folder, name)))),
      ...(await this.#each(await this.#folders(folder), (path) => this.#files(path, look))),
    ]
  }

  /** Links are not followed: where they lead inside is looked at anyway. Names of git's objects and of the kernel's files say nothing. */
  async #folders(folder: string): Promise<string[]> {
    const folders = (await this.#list(folder)).filter((entry) => entry.isDirectory())
    return folders
      .map(({ name }) => join(folder, name))
      .filter((path) => !/\/\.git\/objects$|^\/(proc|sys|dev)$/.test(path))
  }

  #list(folder: string): Promise<Dirent[]> {
    const known = this.#entries.get(folder)
    if (known) return known
    const entries = this.#read(folder)
    this.#entries.set(folder, entries)
    return entries
  }

  async #read(folder: string): Promise<Dirent[]> {
    this.#count(0)
    const entries = await readdir(folder, { withFileTypes: true }).catch(async (error) => {
      if (["ENOENT", "ENOTDIR", "ELOOP"].includes(codeOf(error) ?? "")) return []
      if (codeOf(error) === "EACCES" && !(await isReachable(folder))) return []
      throw new Error(`${folder} cannot be looked through (${codeOf(error)}); let its owner list it: chmod u+r`)
    })
    this.#count(entries.length)
    return entries
  }

  #count(more: number): void {
    this.#seen += more
    if (this.#seen <= this.#most) return
    throw new Error(
      `there are more than ${this.#most} files to look through; name folders in it, as in read(secrets/**)`,
    )
  }

  async #each<T>(items: readonly T[], find: (item: T) => Promise<string[]>): Promise<string[]> {
    return (await Promise.all(items.map(find))).flat()
  }
}

/** Whether a command could open what is in a folder that cannot be listed, by its name or after a change of rights. */
async function isReachable(folder: string): Promise<boolean> {
  const isOwn = await stat(folder).then(
    ({ uid }) => uid === process.getuid?.(),
    () => false,
  )
  const mayEnter = access(folder, constants.X_OK).then(
    () => true,
    () => false,
  )
  return isOwn || mayEnter
}
