import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import * as yaml from "yaml"
import type { Definition } from "../../src/agents/definition.ts"
import type { Entry } from "../../src/agents/entry.ts"
import { frontMatter } from "../../src/agents/front-matter.ts"
import { parseAgent } from "../../src/agents/parse.ts"
import { plain } from "../../src/agents/plain.ts"
import { scan } from "../../src/agents/scanner.ts"
import { strict } from "../../src/agents/strict.ts"

const parse = (text: string, path = "/agents/sample.md"): Promise<Definition | null> =>
  parseAgent(text, { path, scope: "user" })

const known = ["name", "description", "tools", "model", "color", "maxTurns", "permission", "whenToUse", "hooks"]
const word = fc.stringMatching(/^[a-z][a-z_-]{0,8}$/)
const key = fc
  .oneof(fc.constantFrom(...known), word)
  .filter((text) => !/^(?:user|assistant|human|commentary)$/.test(text))
const line = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom(
    "a: b",
    "- x",
    "#f80",
    "404",
    "1.10",
    "true",
    "null",
    "~",
    "2024-05-01",
    "C# and F#",
    "a #b",
    "*",
    "\\n",
  ),
  fc.constantFrom("tools: Read", "<example>", "</example>", "user: hello", "It's", '"quoted"', "[a, b", "{", "---x"),
)
const text = fc.oneof(
  line,
  fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join("\n")),
)
const scalar = fc.oneof(
  text,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true, min: -10, max: 10 }),
)
const value = fc.oneof(
  { weight: 3, arbitrary: scalar },
  fc.array(scalar, { maxLength: 4 }),
  fc.dictionary(word, fc.oneof(scalar, fc.dictionary(word, scalar, { maxKeys: 3 })), { maxKeys: 3 }),
)
const style = fc.record({
  defaultStringType: fc.constantFrom<yaml.Scalar.Type>(
    "PLAIN",
    "QUOTE_DOUBLE",
    "QUOTE_SINGLE",
    "BLOCK_FOLDED",
    "BLOCK_LITERAL",
  ),
  defaultKeyType: fc.constant<yaml.Scalar.Type>("PLAIN"),
  collectionStyle: fc.constantFrom<"any" | "block" | "flow">("any", "block"),
  lineWidth: fc.constantFrom(0, 20, 80),
  indentSeq: fc.boolean(),
})

/** What a person may have written so that it says this, as lines. */
function written(fields: Record<string, unknown>, options: yaml.ToStringOptions): string[] | undefined {
  const lines = yaml.stringify(fields, options).trimEnd().split("\n")
  // A line of dashes would be the end of the front matter.
  return lines.some((each) => /^-{3}/.test(each)) ? undefined : lines
}

const values = (entries: readonly Entry[] | undefined): unknown =>
  entries && Object.fromEntries(entries.map(({ key, value, line }) => [key, { value, line }]))

test("on every valid front matter the scanner and YAML agree, value by value and line by line", () => {
  const read = (lines: readonly string[], at: number) => strict(yaml, lines, at)?.entries
  let compared = 0
  fc.assert(
    fc.property(fc.dictionary(key, value, { minKeys: 1, maxKeys: 6 }), style, (fields, options) => {
      const lines = written(fields, options)
      const whole = lines && strict(yaml, lines, 2)
      if (!lines || !whole) return
      compared++
      assert.deepEqual(values(scan(lines, 2, read).entries), values(whole.entries))
    }),
    { numRuns: 1_000 },
  )
  assert.ok(compared > 800, `only ${compared} were valid`)
})

test("what is read without a YAML parser is what a YAML parser reads", () => {
  const raw = fc.oneof(
    line,
    fc
      .tuple(fc.constantFrom("[", '"', "'", "- "), line, fc.constantFrom("]", '"', "'", ""))
      .map((parts) => parts.join("")),
  )
  const rows = fc.array(
    fc.oneof(
      fc.tuple(key, fc.constantFrom(": ", ":", ":  "), raw).map((parts) => parts.join("")),
      fc
        .tuple(key, fc.array(raw, { maxLength: 3 }))
        .map(([name, items]) => [`${name}:`, ...items.map((item) => `  - ${item}`)].join("\n")),
      fc.constantFrom("", "# a comment", "  more"),
    ),
    { minLength: 1, maxLength: 5 },
  )
  let plainly = 0
  fc.assert(
    fc.property(rows, (parts) => {
      const lines = parts.join("\n").split("\n")
      const entries = plain(lines, 2)
      if (!entries) return
      plainly++
      assert.deepEqual(values(entries), values(strict(yaml, lines, 2)?.entries), lines.join("\n"))
    }),
    { numRuns: 5_000 },
  )
  assert.ok(plainly > 200, `only ${plainly} were plain`)
})

test("whatever stands around it, a line that limits tools is never lost", async () => {
  const other = fc.constantFrom(
    "name: x",
    "description: |",
    "description: a: b",
    "  - x",
    "\t- y",
    "model: [x",
    "a: *b",
    "a:",
  )
  const junk = fc.array(
    fc.oneof(
      line.map((text) => text.replaceAll("\n", " ")),
      other,
    ),
    { maxLength: 5 },
  )
  const limits = fc.constantFrom(
    "tools: Read",
    "tools: [Read]",
    "tools: [Read",
    'tools: "Read"',

    "tools:Read",
  )
  await fc.assert(
    fc.asyncProperty(junk, limits, junk, async (before, limit, after) => {
      const lines = ["name: first", ...before, limit, ...after].filter(
        (each) => !/^\s*(?:-{3}|—$|tools: Read$)/.test(each) || each === limit,
      )
      const definition = await parse(`---\n${lines.join("\n")}\n---\nbody`)
      assert.notEqual(definition?.offered.allow, "*")
    }),
    { numRuns: 1_000 },
  )
})

test("a prompt of 64,000 characters is kept whole", async () => {
  const prompt = "Über alles. ".repeat(5_334).slice(0, 64_000).trimEnd()
  const definition = await parse(`---\nname: long\ndescription: Long\n---\n${prompt}\n`)
  assert.equal(definition?.prompt, prompt)
})

test("files that are about agents and have no front matter are no agents", async () => {
  for (const name of [
    "README",
    "readme",
    "CHANGELOG",
    "LICENSE",
    "CONTRIBUTING",
    "AGENTS",
    "CLAUDE",
    "GEMINI",
    "index",
    "README.de",
  ])
    assert.equal(await parse("# About\n\nThese are agents.", `/agents/${name}.md`), null, name)
  assert.equal(await parse("---\ntitle: About\n---\nThese are agents.", "/agents/README.md"), null)
  assert.equal(await parse(" \n\n"), null)
  assert.equal(
    (await parse("---\nname: reader\ndescription: Reads\n---\nYou read.", "/agents/README.md"))?.id,
    "reader",
  )
})

test("front matter that is too long is not read and gives no tools", async () => {
  for (const matter of [`description: ${"x".repeat(40_000)}`, "a: b\n".repeat(2_000)]) {
    const definition = await parse(`---\nname: long\n${matter}\n---\nbody`)
    assert.deepEqual(
      {
        id: definition?.id,
        allow: definition?.offered.allow,
        degraded: definition?.degraded,
        first: definition?.diagnostics[0],
      },
      {
        id: "sample",
        allow: [],
        degraded: true,
        first: {
          severity: "error",
          file: "/agents/sample.md",
          line: 2,
          message: "the front matter is over 32 KB or 1,000 lines, so the agent gets no tools; make it shorter",
        },
      },
    )
  }
})

test("what would keep a YAML parser busy for minutes is never given to it, and read line by line", async () => {
  const bombs = [
    "<<: *a\n".repeat(900),
    "? ".repeat(950),
    "[".repeat(30_000),
    "- ".repeat(15_000),
    "&a ".repeat(10_000),
  ]
  const never = () => assert.fail("the parser was called")
  for (const bomb of bombs) {
    const matter = `name: bomb\na: &a {b: c}\n${bomb}\ntools: Read`
    let called = false
    strict({ ...yaml, parseDocument: () => (called = true) && never() }, matter.split("\n"), 2)
    assert.equal(called, false)
    const read = await frontMatter(`---\n${matter}\n---\nbody`)
    assert.equal(read?.notes[0]?.message, "the front matter is not clean YAML; it was read line by line")
    assert.equal(read?.entries[0]?.value, "bomb")
  }
})
