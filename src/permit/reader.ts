import type * as tree from "unbash"
import { Doubts } from "./doubt.ts"
import { innerOf } from "./inner.ts"
import type { Run } from "./load.ts"
import { setBy } from "./naming.ts"
import type { Part } from "./shell.ts"
import { inputOf, literal, targetsOf } from "./syntax.ts"
import { hole, isSure, type Word, wordOf } from "./word.ts"

type Parser = Pick<typeof tree, "parse" | "forEachChild">

const deepest = 16
const most = 2_000

const empty = { words: [], set: [], targets: [], runs: [], bare: false } satisfies Part

/** A part that nobody can tell anything about, and why. */
export const unknown = (doubt: string): Part => ({ ...empty, words: [wordOf(hole)], doubt })

/** Reads one command line, and the texts in it that are command lines again. It throws at what cannot be read. */
export class Reader {
  readonly doubts = new Doubts()
  readonly #parser: Parser
  #count = 0

  constructor(parser: Parser) {
    this.#parser = parser
  }

  read(command: string): Part[] {
    const parts = this.#parts(command, { posix: false, depth: 0 })
    const doubt = this.doubts.verdict()
    return doubt === undefined ? parts : [...parts, unknown(doubt)]
  }

  #parts(source: string, { posix, depth }: { posix: boolean; depth: number }): Part[] {
    if (/(?<!\\)(\\\\)*\\$/.test(source)) throw new Error("it ends in the middle of a sign")
    const parts: Part[] = []
    const visit = (node: tree.SyntaxNode): void => {
      const broken = brokenIn(node)
      if (broken !== undefined) throw new Error(broken)
      if (posix && isOnlyBash(node)) parts.push(unknown("only bash reads this as it seems"))
      this.doubts.look(node)
      if (node.type === "Command") parts.push(this.#build(commandOf(node), inputOf(node), depth))
      if (node.type === "Redirected") parts.push({ ...empty, targets: targetsOf(node.redirects) })
      this.#parser.forEachChild(node, visit)
    }
    visit(this.#parser.parse(source))
    return parts
  }

  #build(part: Part, input: Word | undefined, depth: number): Part {
    this.#count += 1 + part.targets.length
    if (this.#count > most) throw new Error(`it has over ${most} commands and redirections`)
    if (depth > deepest) throw new Error(`commands are nested over ${deepest} deep in it`)
    this.doubts.command(part)
    const set = [...part.set, ...setBy(part.words)]
    const program = part.words[0]
    if (program && !isSure(program)) return { ...part, set, doubt: "its program is not spelled out" }
    const load = innerOf(part.words, input)
    const runs = load?.runs.flatMap((run) => this.#follow(run, depth + 1)) ?? []
    return { ...part, set, bare: load?.bare ?? false, runs, ...(load?.whole && { whole: true }) }
  }

  #follow(run: Run, depth: number): Part[] {
    if ("doubt" in run) return [unknown(run.doubt)]
    if ("words" in run) {
      const set = run.set.map((name) => ({ name, value: wordOf(hole) }))
      return [this.#build({ ...empty, words: run.words, set, at: run.at }, undefined, depth)]
    }
    const { script, posix } = run
    return isSure(script) ? this.#parts(script.text, { posix, depth }) : [unknown("it is put together as it runs")]
  }
}

function commandOf(node: tree.Command): Part {
  const set = node.prefix.flatMap((each) =>
    each.type === "Assignment" ? [{ name: each.name, value: literal(each.value) }] : [],
  )
  const words = [...(node.name ? [node.name] : []), ...node.args].map(literal)
  return { ...empty, words, set, targets: targetsOf(node.redirects) }
}

/** Other shells take these for plain words, or read the quotes and signs in them otherwise. */
const onlyBash = new Set<tree.SyntaxNode["type"]>([
  "ArithmeticCommand",
  "ArithmeticFor",
  "TestCommand",
  "Select",
  "Coproc",
  "AnsiCQuoted",
  "LocaleString",
  "ExtendedGlob",
])

const isOnlyBash = (node: tree.SyntaxNode): boolean =>
  onlyBash.has(node.type) ||
  (node.type === "Redirect" && node.operator.startsWith("&")) ||
  (node.type === "Pipeline" && node.operators.includes("|&"))

/** The parser reads on after a mistake; a shell may understand the text otherwise. */
function brokenIn(node: tree.SyntaxNode): string | undefined {
  if (node.type === "Script") return node.errors?.[0]?.message
  if (
    node.type === "CommandExpansion" ||
    node.type === "ProcessSubstitution" ||
    node.type === "ArithmeticCommandExpansion"
  )
    return node.script ? undefined : "a substitution in it cannot be read"
  return undefined
}
