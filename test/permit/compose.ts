import fc from "fast-check"

/** A text as one word for a shell, in one of the ways there are to write it. */
export const quoted = (text: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    `'${text.replaceAll("'", "'\\''")}'`,
    `"${text.replaceAll(/[\\"$`]/g, "\\$&")}"`,
    `$'${text.replaceAll(/[\\']/g, "\\$&").replaceAll("\n", "\\n")}'`,
  )

/** A plain word in one of the ways there are to write it. */
const spelled = (word: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    word,
    `"${word}"`,
    `'${word}'`,
    `\\${word}`,
    `${word[0]}''${word.slice(1)}`,
    `${word[0]}\\\n${word.slice(1)}`,
  )

/** A simple command with its words spelled in any way, and any blanks between them. */
export const disguised = (command: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.tuple(...command.split(" ").map(spelled)), fc.constantFrom(" ", "  ", "\t", " \\\n "))
    .map(([words, blank]) => words.join(blank))

/** Commands put together to one, by every means a shell has. `simple`: commands that wrappers may stand before. */
export function composed(leaf: fc.Arbitrary<string>, depth: number, simple = leaf): fc.Arbitrary<string> {
  const { tree } = fc.letrec<{ tree: string }>((tie) => {
    const one = tie("tree")
    const two = fc.tuple(one, one)
    const joined = (sign: string) => two.map(([a, b]) => `${a}${sign}${b}`)
    const inShell = (shell: string) => one.chain((text) => quoted(text).map((word) => `${shell} ${word}`))
    return {
      tree: fc.oneof(
        { maxDepth: depth, withCrossShrink: true },
        leaf,
        joined(" && "),
        joined(" || "),
        joined("; "),
        joined("\n"),
        joined(" | "),
        joined(" & "),
        one.map((a) => `( ${a} )`),
        one.map((a) => `{ ${a}\n}`),
        one.map((a) => `{ ! { ${a}\n}\n}`),
        one.map((a) => `echo "$( ${a} )"`),
        one.map((a) => `echo x$(\n${a}\n)y`),
        one.map((a) => `cat <( ${a} )`),
        one.map((a) => `{ cat <<E${a.length}\n$( ${a} )\nE${a.length}\n}`),
        one.map((a) => `X=$( ${a} )`),
        two.map(([a, b]) => `if ${a}\nthen ${b}\nfi`),
        one.map((a) => `for x in 1 2; do ${a}\ndone`),
        one.map((a) => `while ${a}\ndo break; done`),
        one.map((a) => `case x in x) ${a}\n;; esac`),
        inShell("bash -c"),
        inShell("eval"),
        simple.map((a) => `timeout 5 ${a}`),
        simple.map((a) => `env A=1 nice ${a}`),
        simple.map((a) => `command ${a}`),
        simple.map((a) => `echo 1 | xargs ${a}`),
      ),
    }
  })
  return tree
}
