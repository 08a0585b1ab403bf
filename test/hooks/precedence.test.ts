import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import type { Said } from "../../src/core/hook.ts"
import { join } from "../../src/hooks/said.ts"
import { fire, hook, prints } from "./fire.ts"

const decision = fc.constantFrom("allow", "deny", "ask")
const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1 })

/** What one hook may say. */
const answer: fc.Arbitrary<Said> = fc.record(
  {
    decision,
    reason: text,
    input: fc.record({ command: text }),
    context: text,
    stop: text,
    notes: fc.array(text),
  },
  { requiredKeys: ["notes"] },
)

const joined = (answers: readonly Said[]): Said =>
  join(answers.map((said, at) => ({ hook: hook("PreToolUse", `hook ${at}`), said })))

/** Deny over ask over allow, said without any order of words. */
function expected(decisions: readonly (string | undefined)[]): string | undefined {
  if (decisions.includes("deny")) return "deny"
  if (decisions.includes("ask")) return "ask"
  return decisions.includes("allow") ? "allow" : undefined
}

test("of many answers the strictest decides, with the reasons of those who gave it", () => {
  fc.assert(
    fc.property(fc.array(answer), (answers) => {
      const said = joined(answers)
      assert.equal(said.decision, expected(answers.map((each) => each.decision)))
      const reasons = answers.flatMap((each) =>
        each.decision === said.decision && each.reason !== undefined ? [each.reason] : [],
      )
      assert.equal(said.reason, said.decision && reasons.length > 0 ? reasons.join("\n") : undefined)
    }),
  )
})

test("no answer makes what others decided looser, in whatever order they come", () => {
  const order = [undefined, "allow", "ask", "deny"]
  fc.assert(
    fc.property(fc.array(answer), answer, (answers, more) => {
      const [less, with_, turned] = [answers, [...answers, more], [more, ...answers]].map(
        (each) => joined(each).decision,
      )
      assert.ok(order.indexOf(with_) >= order.indexOf(less))
      assert.equal(with_, turned)
    }),
  )
})

test("the last changed input counts, unless the call is denied; nothing else that was said is lost", () => {
  fc.assert(
    fc.property(fc.array(answer), (answers) => {
      const said = joined(answers)
      const inputs = answers.flatMap((each) => (each.input === undefined ? [] : [each.input]))
      assert.deepEqual(said.input, said.decision === "deny" ? undefined : inputs.at(-1))
      const clash = said.decision !== "deny" && inputs.length > 1
      assert.deepEqual(
        said.notes.slice(0, clash ? -1 : undefined),
        answers.flatMap((each) => each.notes),
      )
      for (const key of ["context", "stop"] as const) {
        const texts = answers.flatMap((each) => each[key] ?? [])
        assert.equal(said[key], texts.length > 0 ? texts.join("\n") : undefined)
      }
    }),
  )
})

test("real hooks side by side decide likewise", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.option(decision, { nil: undefined }), { minLength: 1, maxLength: 6 }),
      async (decisions) => {
        const list = decisions.map((permissionDecision, at) =>
          hook(
            "PreToolUse",
            prints({
              systemMessage: `${at}`,
              hookSpecificOutput: { permissionDecision, permissionDecisionReason: `${at}` },
            }),
          ),
        )
        const wanted = expected(decisions)
        const reason = decisions.flatMap((each, at) => (each === wanted ? [`${at}`] : [])).join("\n")
        assert.deepEqual(await fire(list), {
          ...(wanted && { decision: wanted, reason }),
          notes: decisions.map((_, at) => `${at}`),
        })
      },
    ),
    { numRuns: 20 },
  )
})
