/** `pattern` finds comments, strings, numbers and words, in this order of groups; a word has none. */
type Language = { pattern: RegExp; keywords: ReadonlySet<string>; anyCase?: true }

type Kind = { comment: string; string: string; keywords: string; names: string; anyCase?: true }

const slashes = String.raw`\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)`
const hash = String.raw`(?<![^\s;(])#[^\n]*`
const double = String.raw`"(?:\\[^]|[^"\\\n])*"?`
const single = String.raw`'(?:\\[^]|[^'\\\n])*'?`
const ticks = "`(?:\\\\[^]|[^`\\\\])*`?"
const triple = `"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)`
const number = String.raw`\b(?:0[xX][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)n?\b`
const word = String.raw`[\p{L}_$][\p{L}\p{N}_$]*`

const kinds: readonly Kind[] = [
  {
    names: "js jsx javascript mjs cjs ts tsx typescript mts cts",
    comment: slashes,
    string: `${double}|${single}|${ticks}`,
    keywords:
      "abstract as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace new null of private protected public readonly return satisfies set static super switch this throw true try type typeof undefined var void while with yield",
  },
  {
    names: "py python python3 pyi",
    comment: hash,
    string: `${triple}|${double}|${single}`,
    keywords:
      "False None True and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield",
  },
  {
    names: "sh bash zsh shell console fish",
    comment: hash,
    string: String.raw`"(?:\\[^]|[^"\\])*"?|'[^']*'?`,
    keywords:
      "alias break case cd continue do done echo elif else esac eval exec exit export fi for function if in local readonly return set shift source then trap unset until while",
  },
  {
    names: "go golang",
    comment: slashes,
    string: `${double}|${single}|${ticks}`,
    keywords:
      "any bool break byte case chan const continue default defer else error fallthrough false for func go goto if import int interface iota map nil package range return select string struct switch true type var",
  },
  {
    names: "rs rust",
    comment: slashes,
    string: String.raw`${double}|'(?:\\[^']+|[^'\\\n])'`,
    keywords:
      "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
  },
  {
    names: "c h cc cpp cxx hpp c++ java cs csharp c# kotlin kt swift scala dart php",
    comment: slashes,
    string: `${double}|${single}`,
    keywords:
      "abstract auto bool boolean break byte case catch char class const constexpr continue default delete do double else enum explicit extends extern false final finally float for foreach fun func function goto guard if implements import in include inline instanceof int interface internal let long namespace new null nullptr operator override package private protected public record return short signed sizeof static string struct super switch template this throw throws true try typedef typename union unsigned using val var virtual void volatile when while",
  },
  {
    names: "rb ruby",
    comment: hash,
    string: `${double}|${single}`,
    keywords:
      "alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo require rescue retry return self super then true undef unless until when while yield",
  },
  {
    names: "sql postgres postgresql mysql sqlite",
    comment: String.raw`--[^\n]*|\/\*[^]*?(?:\*\/|$)`,
    string: `'(?:''|[^'])*'?|${double}`,
    anyCase: true,
    keywords:
      "add all alter and as asc between by case check column constraint create cross default delete desc distinct drop else end exists false foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right select set table then true union unique update using values view when where with",
  },
  {
    names: "lua",
    comment: String.raw`--\[\[[^]*?(?:\]\]|$)|--[^\n]*`,
    string: `${double}|${single}`,
    keywords:
      "and break do else elseif end false for function goto if in local nil not or repeat return then true until while",
  },
  { names: "json json5 jsonc", comment: slashes, string: double, keywords: "true false null" },
  {
    names: "yaml yml toml ini dockerfile docker makefile make",
    comment: hash,
    string: `${double}|(?<![\\w])${single}`,
    keywords: "true false null yes no on off FROM RUN CMD COPY ADD ENV ARG WORKDIR ENTRYPOINT EXPOSE USER",
  },
  { names: "css scss less", comment: slashes, string: `${double}|${single}`, keywords: "important" },
]

const languages: ReadonlyMap<string, Language> = new Map(
  kinds.flatMap(({ names, comment, string, keywords, anyCase }) => {
    const pattern = new RegExp(`(${comment})|(${string})|(${number})|${word}`, "gu")
    const language: Language = { pattern, keywords: new Set(keywords.split(" ")), ...(anyCase && { anyCase }) }
    return names.split(" ").map((name) => [name, language] as const)
  }),
)

export const languageOf = (name: string): Language | undefined => languages.get(name)
