import { resolve } from "node:path"
import type { Asked } from "../agent/scope.ts"
import type { Access } from "../core/access.ts"
import { isWithin } from "../core/within.ts"
import { type Named, namedBy } from "./argument.ts"
import type { Place } from "./path.ts"
import { isNowhere } from "./reading.ts"
import type { Part, Target } from "./shell.ts"
import { isSure, type Word } from "./word.ts"

type Writing = Extract<Access, { kind: "write" }>

/** A workspace as commands see it. `writing` follows links and knows what is guarded; without it every dotted name is. */
export type Ground = Place & { writing?(path: string): Writing }

/**
 * A file that a command opens, as a tool would have asked for it: one for each place it may lie in; none if that depends.
 * `by`: the shell opens it, a program that it is named to, or perhaps one.
 */
export type Opened = { way: Target["way"]; word: Word; asked: Asked[]; by: "shell" | Named["by"] }

const longest = 4_096

/** The files that parts open by name, as far as can be told. */
export function openedBy(all: readonly Part[], folders: readonly string[] | undefined, ground: Ground): Opened[] {
  const targets = all.flatMap((part) => [
    ...part.targets.map((target) => ({ ...target, by: "shell" as const })),
    ...namedBy(part),
  ])
  return targets
    .filter(({ word }) => !isNowhere(word.text))
    .map((target) => ({ ...target, asked: places(target, folders, ground) }))
}

/** To write needs to know for sure where; what is read is looked up where it seems to lie. */
function places({ way, word }: Target, folders: readonly string[] | undefined, ground: Ground): Asked[] {
  if (!isSure(word) || word.text === "" || word.text.length > longest) return []
  if (way === "read") return pathsOf(word, folders ?? ["."], ground).map((path) => reading(path, ground))
  // The shell follows a link before it goes up.
  const isPlain = folders && !word.text.split("/").includes("..")
  return isPlain ? pathsOf(word, folders, ground).map((path) => ({ tool: "edit", access: written(path, ground) })) : []
}

function pathsOf({ raw, text }: Word, folders: readonly string[], { root, home }: Place): string[] {
  if (raw === "~" || raw.startsWith("~/")) return [resolve(home, text.slice(2))]
  if (raw.startsWith("~")) return []
  return folders.map((folder) => resolve(root, folder, text))
}

const reading = (path: string, { root }: Place): Asked => ({
  tool: "read",
  access: { kind: "read", path, inside: isWithin(path, root) },
})

function written(path: string, { root, writing }: Ground): Writing {
  const found = writing?.(path)
  if (found) return found
  const guarded = path
    .slice(root.length)
    .split("/")
    .some((name) => name.startsWith("."))
  return { kind: "write", path, inside: isWithin(path, root), guarded }
}
