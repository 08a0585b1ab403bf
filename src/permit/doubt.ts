import type * as tree from "unbash"
import { declaring, givesText, isCalculated, namesIn, reading, variableOf } from "./naming.ts"
import type { Part } from "./shell.ts"
import { literal } from "./syntax.ts"
import { isRisky } from "./variable.ts"
import { hole, isSure, type Word } from "./word.ts"

const comparisons = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"])

/**
 * Where bash calculates, it evaluates the text of a variable once more, and runs the substitutions that it finds in it.
 * So a command that calculates with names, and gives variables texts that nobody knows, may run anything.
 */
export class Doubts {
  /** Whether a part of it may run more than once. */
  repeats = false
  #calculates = false
  #unknown = false
  #dark: string | undefined
  /** Names of arrays, and names that are given a text by a builtin: it reads that as code for an array. */
  readonly #arrays = new Set(["DIRSTACK", "BASH_REMATCH", "COPROC", "MAPFILE"])
  readonly #given = new Set<string>()

  verdict(): string | undefined {
    const evaluated = (this.#calculates && this.#unknown) || [...this.#given].some((name) => this.#arrays.has(name))
    return this.#dark ?? (evaluated ? "bash would evaluate a text in it once more" : undefined)
  }

  look(node: tree.SyntaxNode): void {
    if ("redirects" in node) for (const redirect of node.redirects) this.#descriptor(redirect)
    switch (node.type) {
      case "For":
      case "Select":
        this.#unknown ||= node.type === "Select" || (node.wordlist ?? []).some(isLoose)
        this.#calculates ||= isCalculated(node.name.value)
        if (isRisky(node.name.value)) this.#dark = `it sets ${node.name.value}`
        break
      case "Coproc":
        if (node.name) this.#arrays.add(node.name.value)
        break
      case "Function":
        this.#unknown = true
        break
      case "Word":
        this.#unknown ||= node.parts === undefined && (smuggles(node.value) || node.value === "_")
        break
      case "SimpleExpansion":
        this.#unknown ||= node.text === "$_"
        break
      case "Literal":
      case "SingleQuoted":
      case "AnsiCQuoted":
        this.#unknown ||= smuggles(node.value)
        break
      case "Assignment":
        this.#unknown ||= node.value.type === "ArrayValue" ? node.value.elements.some(isLoose) : isLoose(node.value)
        this.#calculates ||= isCalculated(node.name) || (node.index !== undefined && !isNumber(node.index))
        if (node.index || node.value.type === "ArrayValue") this.#arrays.add(node.name)
        if (/^BASH_(ALIASES|CMDS)$/.test(node.name)) this.#dark = "it changes what commands mean"
        break
      case "ArithmeticExpansion":
        if (mayBeCommand(node.text.slice(node.text.startsWith("$((") ? 3 : 2)))
          this.#dark = "a sum in it may be a command"
        break
      case "ArithmeticCommand":
        if (mayBeCommand(node.body)) this.#dark = "a sum in it may be a command"
        break
      case "ArithmeticWord":
        this.#calculates ||= !/^\d+$/.test(node.value)
        this.#unknown ||= node.value === "_"
        break
      case "TestBinary":
        this.#calculates ||= comparisons.has(node.operator) && !(isNumber(node.left) && isNumber(node.right))
        break
      case "TestUnary":
        this.#calculates ||= node.operator === "-v" || node.operator === "-R"
        break
      case "ParameterExpansion":
        this.#calculates ||= calculates(node)
        this.#unknown ||= node.parameter === "_"
        if (node.operation?.type !== "Default" || !node.operation.operator.endsWith("=")) break
        this.#unknown ||= isLoose(node.operation.operand)
        if (isRisky(node.parameter)) this.#dark = `it sets ${node.parameter}`
        break
    }
    this.repeats ||= ["For", "Select", "While", "ArithmeticFor", "Function"].includes(node.type)
  }

  command({ words }: Part): void {
    const name = words[0]?.text ?? ""
    const rest = words.slice(1)
    const names = namesIn(words)
    this.#calculates ||= name === "let" || names.some(({ text }) => isCalculated(text))
    this.#unknown ||= reading.has(name) || (name === "printf" && hasOption(rest.slice(0, 1), /^-v/))
    this.#unknown ||= name === "set" && !rest.every(isSure)
    const isArray = name === "mapfile" || name === "readarray" || hasOption(rest, /^-\w*[aA]/)
    for (const each of names) {
      if (isArray || each.text.includes("[")) this.#arrays.add(variableOf(each.text))
      if (givesText(each)) this.#given.add(variableOf(each.text))
    }
    if (!declaring.has(name)) return
    if (hasOption(rest, /^-\w*[ni]/)) this.#dark = `${name} makes one name mean another`
    if (rest.some(({ text }) => text.split("=")[0]!.includes(hole)))
      this.#dark = "it sets a variable that is not spelled out"
  }

  /** `{name}>file` puts a number into a variable. */
  #descriptor({ descriptor }: tree.Redirection): void {
    if (descriptor?.type !== "FileDescriptorVariable") return
    if (isRisky(descriptor.name) || !/^\w+$/.test(descriptor.name)) this.#dark = `it sets ${descriptor.name}`
  }
}

/** Bash counts the parentheses of a sum before it reads what is in it; if they do not match, it is a command after all. */
function mayBeCommand(sum: string): boolean {
  const [opening = [], closing = []] = [sum.match(/\(/g) ?? [], sum.replace(/\)?\)$/, "").match(/\)/g) ?? []]
  return opening.length !== closing.length || (/[$<>]\(|`/.test(sum) && /["'\\#]|case|<</.test(sum))
}

const hasOption = (words: readonly Word[], form: RegExp): boolean => words.some(({ text }) => form.test(text))
const smuggles = (text: string): boolean => text.includes("$(") || text.includes("`") || text.includes("${")
const isNumber = ({ value }: tree.Word): boolean => /^-?\d+$/.test(value)

/** Whether a word is more than plain text, braces and sums. */
const isLoose = (word: tree.Word): boolean =>
  !isSure(literal(word)) &&
  !(word.parts ?? []).every(
    ({ type, text }) => ["Literal", "BraceExpansion", "ArithmeticExpansion"].includes(type) || /^\$[?!#$]$/.test(text),
  )

function calculates({ index, prefix, operation }: tree.ParameterExpansionPart): boolean {
  if (index && !isNumber(index) && index.value !== "@" && index.value !== "*") return true
  if (prefix === "!" && !index && operation?.type !== "Names") return true
  if (operation?.type === "Slice")
    return !isNumber(operation.offset) || (operation.length ? !isNumber(operation.length) : false)
  return operation?.type === "Transform" && operation.operand.value.includes("P")
}
