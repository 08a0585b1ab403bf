import fc from "fast-check"
import { type CallReply, call, type Said } from "../../src/testing.ts"

/** What a person says, and the turns of the model that answer it: each but the last calls tools. */
type Exchange = { prompt: string; turns: Said[] }

/** A conversation that was had, and the files that it was about. */
export type Past = { files: Record<string, string>; exchanges: Exchange[] }

const word = fc.oneof(
  { weight: 4, arbitrary: fc.string({ minLength: 1, maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom('"]}', "]", "\\", "ü😀", "\u2028", "\ud83d", '"cache_control"') },
)

/** Never blank, and so many lines long. */
const text = (lines: fc.IntegerConstraints): fc.Arbitrary<string> =>
  fc
    .tuple(fc.array(word, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, ...lines }))
    .map(([words, times]) => `so: ${words.join(" ")}\n`.repeat(times))

const names = ["a.txt", "b/c.md", "b/d.ts"]
const file = fc.constantFrom(...names)

/** Calls that change nothing, some of which fail. */
const looking: fc.Arbitrary<CallReply> = fc.oneof(
  file.map((file_path) => call("read", { file_path })),
  fc.tuple(file, fc.integer({ min: 1, max: 9 })).map(([file_path, limit]) => call("read", { file_path, limit })),
  fc.constantFrom("gone.txt", "b").map((file_path) => call("read", { file_path })),
  fc.constantFrom("**/*", "*.none").map((pattern) => call("glob", { pattern })),
  fc.constantFrom("so", "nowhere").map((pattern) => call("grep", { pattern, head_limit: 20 })),
)

const turn = (calls: fc.Arbitrary<CallReply[]>, said: fc.Arbitrary<string>): fc.Arbitrary<Said> =>
  fc.record(
    { reasoning: text({ max: 3 }), text: said, calls: calls },
    { requiredKeys: ["calls"] },
  ) as fc.Arbitrary<Said>

const filesOf = (lines: fc.IntegerConstraints): fc.Arbitrary<Past["files"]> =>
  fc
    .tuple(...names.map(() => text(lines)))
    .map((texts) => Object.fromEntries(names.map((name, i) => [name, texts[i]!])))

type Size = { exchanges: fc.ArrayConstraints; turns: fc.ArrayConstraints; files: fc.Arbitrary<Past["files"]> }

const pastOf = (calls: fc.Arbitrary<CallReply[]>, said: fc.Arbitrary<string>, size: Size): fc.Arbitrary<Past> => {
  const turns = fc
    .tuple(fc.array(turn(calls, said), size.turns), said)
    .map(([before, text]): Said[] => [...before, { text }])
  return fc.record({ files: size.files, exchanges: fc.array(fc.record({ prompt: said, turns }), size.exchanges) })
}

/** A few kilobytes. */
export const short: fc.Arbitrary<Past> = pastOf(fc.array(looking, { minLength: 1, maxLength: 4 }), text({ max: 5 }), {
  exchanges: { maxLength: 3 },
  turns: { maxLength: 3 },
  files: filesOf({ max: 40 }),
})

const wide = (letter: string): string => `${letter} is what this line says, "so" it goes on. `.repeat(2)

/** More than 600 kilobytes, in texts and in what tools brought back. */
export const long: fc.Arbitrary<Past> = pastOf(
  fc.array(
    file.map((file_path) => call("read", { file_path })),
    { minLength: 3, maxLength: 4 },
  ),
  text({ min: 500, max: 1_500 }),
  {
    exchanges: { minLength: 2, maxLength: 2 },
    turns: { minLength: 2, maxLength: 3 },
    files: fc.constant(Object.fromEntries(names.map((name) => [name, `${wide(name)}\n`.repeat(600)]))),
  },
)

/** So many turns of one run, of a few bytes or of many, and its last words. */
export const growing = (turns: number): fc.Arbitrary<Past> =>
  pastOf(fc.array(looking, { minLength: 1, maxLength: 3 }), text({ max: 30 }), {
    exchanges: { minLength: 1, maxLength: 1 },
    turns: { minLength: turns - 1, maxLength: turns - 1 },
    files: filesOf({ max: 300 }),
  })
