import fc from "fast-check"
import type { Access, Details, Rule, Touch } from "../../src/core/access.ts"
import type { Fact, Failure, Outcome, Stamped } from "../../src/core/event.ts"
import type { Image, Part } from "../../src/core/message.ts"
import type { Usage } from "../../src/core/usage.ts"

/** Every kind of fact, with every kind of letter; the number is unique and rises, as in a log. */
export const anyFacts = (): fc.Arbitrary<Stamped<Fact>[]> =>
  fc
    .array(fc.record({ body: anyFact, at: anyNumber, run: anyText, gap: fc.integer({ min: 1, max: 9 }) }), {
      maxLength: 12,
    })
    .map((items) => {
      let seq = 0
      // Through JSON once, because generated objects have no prototype and those of the engine have.
      return items.map(({ body, at, run, gap }) => plain({ seq: (seq += gap), at, run, ...body }))
    })

const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value))

const shortText = fc.string({ unit: "binary", maxLength: 40 })
/** Half surrogates, escapes, line ends, and what looks like our own marks. */
const oddText = fc.constantFrom(
  "\ud800",
  "a\udfff\ud83d",
  "\u0000\n\r\u2028",
  '{"$blob":"x"}',
  '"$blob":',
  "$$blob",
  "\ufeff",
)
const longText = fc
  .tuple(fc.oneof(shortText, oddText), fc.constantFrom(16_383, 16_384, 16_385, 40_000))
  .map(([text, length]) => (text || "🐘é\n").repeat(length).slice(0, length))
const anyText = fc.oneof(
  { weight: 6, arbitrary: shortText },
  { weight: 2, arbitrary: oddText },
  { weight: 1, arbitrary: longText },
)
/** JSON has neither NaN nor a negative zero. */
const anyNumber = fc
  .oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.maxSafeInteger(),
    fc.constantFrom(5e-324, Number.MAX_VALUE),
  )
  .map((number) => number || 0)
const flag = fc.boolean()

const lookalike = fc.oneof(
  fc.constant({ $blob: "a".repeat(64), length: 3 }),
  fc.constant({ $$blob: 1, $blob: { $blob: "x" } }),
  fc.constant(JSON.parse('{"__proto__":{"$blob":"x"},"constructor":1,"9":1,"a":2}')),
)
const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue(),
  lookalike,
  fc.record({ path: anyText, content: longText, more: lookalike }),
)

const some = <T>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }, required: (keyof T & string)[]): fc.Arbitrary<T> =>
  fc.record(shape, { requiredKeys: required }) as unknown as fc.Arbitrary<T>

const images: fc.Arbitrary<Image[]> = fc.array(fc.record({ mediaType: shortText, data: anyText }), { maxLength: 2 })
const usage: fc.Arbitrary<Usage> = fc.record({
  input: anyNumber,
  output: anyNumber,
  cacheRead: anyNumber,
  cacheWrite: anyNumber,
  reasoning: anyNumber,
})
const cost = fc.option(anyNumber)
const failure = some<Failure>(
  { kind: fc.constantFrom("network", "store", "refused"), message: anyText, status: fc.nat() } as never,
  ["kind", "message"],
)
const outcome = fc.oneof(
  fc.record({
    status: fc.constantFrom("completed", "max_turns", "timeout", "budget", "cancelled"),
    text: anyText,
  }),
  fc.record({ status: fc.constant("failed"), text: anyText, error: failure }),
) as fc.Arbitrary<Outcome>
const part = fc.oneof(
  fc.record({ type: fc.constant("text"), text: anyText }),
  fc.record({ type: fc.constant("reasoning"), text: anyText, by: shortText, proof: anyJson }),
  fc.record({ type: fc.constant("reasoning"), text: anyText, by: shortText }),
  fc.record({ type: fc.constant("call"), id: shortText, name: shortText, input: anyJson }),
  fc.record({ type: fc.constant("call"), id: shortText, name: shortText, input: anyJson, broken: anyText }),
) as fc.Arbitrary<Part>
const details = fc.oneof(
  fc.record({ kind: fc.constant("diff"), path: shortText, diff: anyText, added: fc.nat(), removed: fc.nat() }),
  fc.record({
    kind: fc.constant("command"),
    command: anyText,
    exit: fc.option(fc.nat()),
    signal: fc.option(shortText),
    timedOut: flag,
  }),
  fc.record({ kind: fc.constant("found"), shown: fc.nat(), total: fc.nat() }),
  fc.record({ kind: fc.constant("task"), run: shortText }),
  fc.record({ kind: fc.constant("page"), url: shortText, status: fc.nat(), bytes: fc.nat() }),
  fc.record({
    kind: fc.constant("todo"),
    items: fc.array(fc.record({ content: anyText, status: fc.constantFrom("pending", "in_progress", "completed") })),
  }),
) as fc.Arbitrary<Details>
const touched = fc.array(
  fc.oneof(
    fc.record({ did: fc.constant("read"), path: shortText, hash: shortText }),
    fc.record({ did: fc.constant("wrote"), path: shortText, hash: shortText, before: fc.option(shortText) }),
  ),
  { maxLength: 3 },
) as fc.Arbitrary<Touch[]>
const access = fc.oneof(
  fc.record({ kind: fc.constant("none") }),
  fc.record({ kind: fc.constant("read"), path: shortText, inside: flag }),
  fc.record({ kind: fc.constant("write"), path: shortText, inside: flag, guarded: flag }),
  fc.record({ kind: fc.constant("run"), command: anyText }),
  fc.record({ kind: fc.constant("fetch"), url: shortText }),
  fc.record({ kind: fc.constant("agent"), name: shortText }),
) as fc.Arbitrary<Access>

const rule: fc.Arbitrary<Rule> = fc.record({
  tool: shortText,
  pattern: shortText,
  do: fc.constantFrom("allow", "ask", "deny"),
})

const limits = some(
  { turns: fc.nat(), tokens: fc.nat(), cost: anyNumber, tools: fc.nat(), timeout: fc.nat(), idle: fc.nat() },
  ["turns"],
)

const place = fc.record({ channel: shortText, chatId: shortText })

/** A new kind of fact does not compile until it is here too. */
const kinds: { [F in Fact as F["type"]]: fc.Arbitrary<Omit<F, "type">> } = {
  "run.opened": some(
    {
      agent: shortText,
      model: shortText,
      depth: fc.nat(),
      root: shortText,
      system: anyText,
      role: some(
        {
          tools: fc.oneof(fc.constant("*" as const), fc.array(shortText)),
          denied: fc.array(shortText),
          readonly: fc.constant(true as const),
          mayStart: fc.array(shortText),
          rules: fc.array(rule),
          mode: fc.constantFrom("default" as const, "acceptEdits" as const),
          fence: fc.record({ level: fc.constantFrom("read-only", "workspace-write"), network: flag }),
        },
        ["tools", "denied"],
      ),
      limits,
      tuning: some({ temperature: anyNumber, effort: fc.constantFrom("low" as const, "high" as const) }, []),
      label: shortText,
      session: shortText,
      origin: fc.record({ run: shortText, call: shortText }),
      history: fc.oneof(
        fc.record({ as: fc.constant("fork" as const) }),
        fc.record({ as: fc.constant("filtered" as const), tools: fc.array(shortText) }),
      ),
      priority: fc.constantFrom("high", "low"),
      behind: fc.constant(true),
      announce: place,
      shares: fc.constant(true),
    },
    ["agent", "model", "depth", "root", "system", "role", "limits"],
  ),
  "run.told": fc.record({
    reason: fc.constantFrom("turns", "tokens", "cost", "tools", "length", "empty", "refusal", "report", "hook"),
    text: anyText,
  }),
  "tools.offered": fc.record({
    tools: fc.oneof(
      shortText,
      fc.array(fc.record({ name: shortText, description: anyText, schema: fc.dictionary(shortText, anyJson) })),
    ),
  }),
  "run.compacted": some(
    {
      from: fc.nat(),
      summary: anyText,
      most: fc.nat(),
      before: anyNumber,
      after: anyNumber,
      usage,
      cost,
      ms: anyNumber,
    },
    ["from", "before", "after", "usage", "cost", "ms"],
  ),
  "model.chosen": fc.record({ model: shortText }),
  "run.moved": some({ behind: flag, limits, announce: place }, ["behind"]),
  "run.stopped": some(
    {
      status: fc.constantFrom("cancelled", "timeout", "budget"),
      why: anyText,
      above: fc.constant(true),
      goesOn: fc.constant(true),
    },
    ["status", "why"],
  ),
  "run.retried": fc.record({ error: failure, wait: anyNumber }),
  "run.settled": some({ outcome, ms: anyNumber, cached: fc.constant(true) }, ["outcome", "ms"]),
  "mail.sent": some({ text: anyText, images, key: shortText, from: shortText, quiet: fc.constant(true) }, ["text"]),
  "mail.read": some({ note: anyText }, []),
  "note.posted": fc.record({ key: shortText, text: anyText }),
  "bus.posted": some(
    {
      id: shortText,
      way: fc.constantFrom("in", "out"),
      channel: shortText,
      chatId: shortText,
      sender: shortText,
      text: anyText,
      plain: anyText,
      replyTo: shortText,
    },
    ["id", "way", "channel", "chatId", "sender", "text"],
  ),
  "bus.taken": fc.record({ id: shortText }),
  "turn.failed": fc.record({ error: failure, wait: fc.option(anyNumber), usage, cost }),
  "turn.ended": fc.record({
    parts: fc.array(part, { maxLength: 5 }),
    stop: fc.constantFrom("end", "calls", "length", "refusal", "other"),
    usage,
    cost,
    ms: anyNumber,
  }),
  "call.planned": fc.record({
    id: shortText,
    change: fc.record({ path: shortText, before: fc.option(shortText), after: shortText }),
  }),
  "call.started": fc.record({ id: shortText, name: shortText }),
  "call.ended": some(
    {
      id: shortText,
      ok: flag,
      text: anyText,
      ms: anyNumber,
      images,
      details,
      touched,
      fault: fc.constantFrom("input", "unknown"),
    },
    ["id", "ok", "text", "ms"],
  ),
  "gate.asked": some({ call: shortText, access, parts: fc.array(shortText), always: fc.array(rule), details }, [
    "call",
    "access",
  ]),
  "gate.answered": some(
    {
      call: shortText,
      access,
      allow: flag,
      by: fc.constantFrom("user", "nobody", "rule", "hook"),
      word: anyText,
      always: fc.array(rule),
    },
    ["call", "access", "allow", "by"],
  ),
  "hook.ran": some(
    {
      event: fc.constantFrom("PreToolUse", "Stop"),
      call: shortText,
      said: some({ decision: fc.constantFrom("allow", "deny", "ask"), reason: anyText, notes: fc.array(anyText) }, [
        "notes",
      ]),
    },
    ["event", "said"],
  ),
}

const anyFact: fc.Arbitrary<Fact> = fc.oneof(
  ...Object.entries(kinds).map(([type, body]) =>
    (body as fc.Arbitrary<object>).map((fields) => ({ type, ...fields }) as Fact),
  ),
)
