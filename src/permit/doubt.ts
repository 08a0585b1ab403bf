import type * as tree from "unbash"
import type { Part } from "./shell.ts"
import { literal } from "./syntax.ts"
import { isRisky } from "./variable.ts"
import { hole, isSure, type Word, wordOf } from "./word.ts"

const comparisons = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"])
const declaring = new Set(["export", "declare", "typeset", "local", "readonly"])
const reading = new Set(["read", "mapfile", "readarray", "getopts"])

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

  verdict(): string | undefined {
    const evaluated = this.#calculates && this.#unknown
    return this.#dark ?? (evaluated ? "bash would evaluate a text in it once more" : undefined)
  }

  look(node: tree.SyntaxNode): void {
    switch (node.type) {
      case "For":
      case "Select":
        this.#unknown ||= node.type === "Select" || (node.wordlist ?? []).some(isLoose)
        if (isRisky(node.name.value)) this.#dark = `it sets ${node.name.value}`
        break
      case "Function":
        this.#unknown = true
        break
      case "Word":
        this.#unknown ||= node.parts === undefined && smuggles(node.value)
        break
      case "Literal":
      case "SingleQuoted":
      case "AnsiCQuoted":
        this.#unknown ||= smuggles(node.value)
        break
      case "Assignment":
        this.#unknown ||= node.value.type === "ArrayValue" ? node.value.elements.some(isLoose) : isLoose(node.value)
        this.#calculates ||= node.index !== undefined && !isNumber(node.index)
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
        break
      case "TestBinary":
        this.#calculates ||= comparisons.has(node.operator) && !(isNumber(node.left) && isNumber(node.right))
        break
      case "TestUnary":
        this.#calculates ||= node.operator === "-v" || node.operator === "-R"
        break
      case "ParameterExpansion":
        this.#calculates ||= calculates(node)
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
    const option = (text: string) => rest.some((word) => word.text === text)
    if (name === "let" || name === "unset" || (/^(test|\[|printf)$/.test(name) && option("-v"))) this.#calculates = true
    if (reading.has(name) || ((name === "set" || name === "printf") && !rest.every(isSure))) this.#unknown = true
    if (!declaring.has(name)) return
    if (rest.some(({ text }) => /^-\w*[ni]/.test(text))) this.#dark = `${name} makes one name mean another`
    if (rest.some(({ text }) => text.split("=")[0]!.includes(hole)))
      this.#dark = "it sets a variable that is not spelled out"
  }
}

/** The variables that a builtin sets by name. */
export function setBy(words: readonly Word[]): Part["set"] {
  const name = words[0]?.text ?? ""
  const isSetter = declaring.has(name) || reading.has(name) || name === "printf" || name === "unset"
  if (!isSetter) return []
  return words.slice(1).flatMap(({ text }) => {
    const [, variable] = /^(?:-v)?([A-Za-z_]\w*)(?:\+?=.*)?$/s.exec(text) ?? []
    return variable === undefined ? [] : [{ name: variable, value: wordOf(hole) }]
  })
}

/** Bash counts the parentheses of a sum before it reads what is in it; if they do not match, it is a command after all. */
function mayBeCommand(sum: string): boolean {
  const [opening = [], closing = []] = [sum.match(/\(/g) ?? [], sum.replace(/\)?\)$/, "").match(/\)/g) ?? []]
  return opening.length !== closing.length || (/[$<>]\(|`/.test(sum) && /["'\\#]|case|<</.test(sum))
}

const smuggles = (text: string): boolean => text.includes("$(") || text.includes("`") || text.includes("${")
const isNumber = ({ value }: tree.Word): boolean => /^-?\d+$/.test(value)

/** Whether a word is more than plain text, braces and sums. */
const isLoose = (word: tree.Word): boolean =>
  !isSure(literal(word)) &&
  !(word.parts ?? []).every(({ type }) => ["Literal", "BraceExpansion", "ArithmeticExpansion"].includes(type))

function calculates({ index, prefix, operation }: tree.ParameterExpansionPart): boolean {
  if (index && !isNumber(index) && index.value !== "@" && index.value !== "*") return true
  if (prefix === "!" && !index && operation?.type !== "Names") return true
  if (operation?.type === "Slice")
    return !isNumber(operation.offset) || (operation.length ? !isNumber(operation.length) : false)
  return operation?.type === "Transform" && operation.operand.value.includes("P")
}
