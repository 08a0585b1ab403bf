import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs"
import { basename, dirname, isAbsolute, relative, resolve } from "node:path"
import type { Use } from "../agent/scope.ts"
import type { Access } from "../core/access.ts"
import { isWithin } from "../core/within.ts"
import { isGuarded, isState } from "../sandbox/guarded.ts"
import type { World } from "./world.ts"

// Synchronous, all of it: each of these questions takes microseconds, and a round trip to a thread takes many more.
type Reading = Extract<Access, { kind: "read" }>
type Writing = Extract<Access, { kind: "write" }>

const longest = 4_096
const mostLinks = 40

/** What is wrong with a path as the model wrote it, or nothing. Nothing in a path is ever expanded. */
export function badPath(asked: string): string | undefined {
  if (asked === "") return "the path is empty"
  if (asked.length > longest) return `the path has over ${longest} characters`
  if (asked.includes("\0")) return "the path has a NUL character"
  if (asked === "~" || asked.startsWith("~/")) return "~ is not expanded: give the path in full, or from the root"
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(asked)) return "this is a URL, not a path"
  return undefined
}

export function readAccess(world: World, asked: string, root: string): Reading {
  const path = resolved(asked, root)
  return {
    kind: "read",
    path,
    inside: homeOf(path, [root, ...world.readable, ...world.writable]) !== undefined,
  }
}

export function writeAccess(world: World, asked: string, root: string): Writing {
  const path = resolved(asked, root)
  const home = homeOf(path, [root, ...world.writable])
  const guarded = isState(path) || isGuarded(home ? relative(home, path) : path)
  return { kind: "write", path, inside: home !== undefined, guarded }
}

/** The path that the gate let pass for reading. It is not resolved again: a link may have moved since. */
export function readable(world: World, asked: string, use: Use): string {
  if (use.access?.kind === "read") return use.access.path
  const access = readAccess(world, asked, use.root)
  if (!access.inside) throw new Error(`${asked} is outside the workspace: it may not be read`)
  return access.path
}

/** The path that the gate let pass for writing. Folders are made on the way, but never the workspace itself. */
export function writable(world: World, asked: string, use: Use): string {
  if (!isFolder(use.root)) throw new Error(`the workspace ${use.root} is gone: nothing can be written`)
  if (use.access?.kind === "write") return use.access.path
  const access = writeAccess(world, asked, use.root)
  if (!access.inside) throw new Error(`${asked} is outside the workspace: it may not be written`)
  if (access.guarded) throw new Error(`${asked} is protected: it may not be written`)
  return access.path
}

/** The path as people and models see it: from the root where it is below it, with nothing that a terminal would obey. */
export function shown(path: string, root: string): string {
  const home = homeOf(path, [root])
  return printable(home === undefined ? path : relative(home, path) || ".")
}

export const printable = (name: string): string =>
  name.replace(/[\x00-\x1f\x7f-\x9f]/g, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, "0")}`)

/** Where a path really leads, links followed, also when nothing is there yet. */
export function resolved(asked: string, root: string): string {
  const wrong = badPath(asked)
  if (wrong) throw new Error(wrong)
  return follow(isAbsolute(asked) ? resolve(asked) : resolve(root, asked), mostLinks)
}

/** Never fails: what cannot be followed stays as it is, and opening it then says what is wrong. */
function follow(path: string, links: number): string {
  try {
    return realpathSync.native(path)
  } catch {
    const above = dirname(path)
    if (above === path) return path
    const folder = follow(above, links)
    const here = resolve(folder, basename(path))
    const target = links > 0 ? linkOf(here) : undefined
    return target === undefined ? here : follow(resolve(folder, target), links - 1)
  }
}

/** The target of a link that leads nowhere yet: writing to it would make its target. */
function linkOf(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined
  } catch {
    return undefined
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/**
 * The folder that a resolved path is in. No link is left in such a path, so a folder that it begins with is a real one;
 * only folders that are given by a link need to be followed.
 */
function homeOf(path: string, folders: readonly string[]): string | undefined {
  return (
    folders.find((folder) => isWithin(path, folder)) ??
    folders.map((folder) => follow(resolve(folder), mostLinks)).find((home) => isWithin(path, home))
  )
}
