import type * as tree from "unbash"
import type { Target } from "./shell.ts"
import { hole, type Word, wordOf } from "./word.ts"

/** A word of the tree, with holes where it is not spelled out. */
export function literal(node: tree.Word | tree.Assignment | tree.ArrayValue): Word {
  if (node.type === "ArrayValue") return wordOf(hole)
  if (node.type === "Word") return { raw: node.text, text: mayBrace(node) ? hole : textOf(node) }
  return {
    raw: node.text,
    text: `${node.name}${node.index ? hole : ""}${node.append ? "+" : ""}=${literal(node.value).text}`,
  }
}

const textOf = ({ parts, value }: tree.Word): string => (parts ? parts.map(said).join("") : value)

/** Bash makes several words of more braces than the parser knows, such as `{a},}`. */
function mayBrace({ parts, text }: tree.Word): boolean {
  const raw = parts?.map((part) => (part.type === "Literal" ? part.text : "q")).join("") ?? text
  const bare = raw.replaceAll(/\\./gs, "q")
  const [open, close] = [bare.indexOf("{"), bare.lastIndexOf("}")]
  return open >= 0 && close > open && /,|\.\./.test(bare.slice(open, close))
}

function said(part: tree.WordPart): string {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
      return part.value
    case "AnsiCQuoted":
      // Bash reads some escapes otherwise than the parser.
      return /\\([xc]\{|c|\n)/.test(part.text) ? hole : part.value
    case "DoubleQuoted":
    case "LocaleString":
      return part.parts.map(said).join("")
    default:
      return hole
  }
}

/** The files that redirections open. Descriptors and processes are none. */
export const targetsOf = (redirects: readonly tree.Redirection[]): Target[] =>
  redirects.flatMap((redirect) => {
    if (redirect.type !== "Redirect" || !redirect.target) return []
    const { operator, target } = redirect
    const word = literal(target)
    if (operator === ">&" || operator === "<&") {
      if (/^(\d+-?|-)$/.test(word.text)) return []
      // Bash expands such a word twice, and takes a number or a dash off its front.
      if (!/^[A-Za-z_./][\w./-]*$/.test(word.raw)) throw new Error("a redirection in it is read twice")
    }
    if (target.parts?.length === 1 && target.parts[0]?.type === "ProcessSubstitution") return []
    // Bash takes these for connections.
    const isNet = /^\/dev\/(tcp|udp)\//.test(word.text)
    return [{ way: operator === "<" && !isNet ? "read" : "write", word }]
  })

/** The text that a command is given to read, where it stands in the command line. */
export function inputOf(node: tree.Command): Word | undefined {
  const last = node.redirects.findLast(({ type }) => type !== "Redirect")
  if (last?.type === "HereString") return last.target ? literal(last.target) : undefined
  if (last?.type !== "HereDoc") return undefined
  const { body, delimiter } = last
  if (delimiter?.quoted) return wordOf(body.text)
  // An unquoted text loses some of its backslashes on the way.
  return wordOf(body.parts || body.text.includes("\\") ? hole : body.text)
}
