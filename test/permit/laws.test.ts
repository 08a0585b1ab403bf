import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import type { Asked, Verdict } from "../../src/agent/scope.ts"
import type { Access, Rule } from "../../src/core/access.ts"
import { judge, type Setting } from "../../src/permit/judge.ts"
import { judgeOwn } from "../../src/permit/own.ts"
import { partsOf } from "../../src/permit/shell.ts"
import { composed, disguised } from "./compose.ts"
import { rules, run, setting } from "./desk.ts"

const strictness = { allow: 0, ask: 1, deny: 2 }
const mode = fc.constantFrom<Setting["mode"]>("default", "acceptEdits", "plan", "bypass")
const signs = [
  "git log",
  "rm x",
  "npm test",
  "'",
  '"',
  "\\",
  "$x",
  "$(",
  ")",
  "`",
  ";",
  "&&",
  "|",
  "&",
  ">",
  "<",
  "<<E\n",
  "\nE\n",
  "\n",
  " ",
  "{",
  "}",
  "(",
  "#",
  "*",
  "eval ",
  "bash -c ",
  "xargs ",
  "env ",
  "=",
  "[[",
  "]]",
  "((",
  "))",
  "if ",
  "then ",
  "fi",
  "\0",
  "é",
  "$'",
  "~",
  "!",
  "find . -exec ",
]
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 2_000 }),
  fc.string({ unit: "grapheme-ascii", maxLength: 2_000 }),
  fc.array(fc.constantFrom(...signs), { maxLength: 200 }).map((some) => some.join("")),
)
const simple = fc.constantFrom(
  ...[
    "git log",
    "git log -3",
    "npm test",
    "npm ci",
    "rm x",
    "rm -rf /",
    "ls -la",
    "cat src/a",
    "mkdir a",
    "sudo ls",
    "git push",
  ],
  ...[
    "npm run build",
    "npm test > out/a",
    "echo x > secret/a",
    "$x y",
    "git $x",
    "find . -exec rm {} +",
    "xargs npm test",
    "node -e 1",
  ],
)
const command = fc.oneof({ weight: 3, arbitrary: composed(simple, 2) }, { weight: 1, arbitrary: text })
const path = fc.constantFrom("/w/src/a", "/w/secret/a", "/w/.git/config", "/etc/hosts", "/home/me/notes/a", "/x")
const access: fc.Arbitrary<Access> = fc.oneof(
  command.map((one) => ({ kind: "run" as const, command: one })),
  path.map((one) => ({ kind: "read" as const, path: one, inside: one.startsWith("/w/") })),
  path.map((one) => ({
    kind: "write" as const,
    path: one,
    inside: one.startsWith("/w/"),
    guarded: one.includes(".git"),
  })),
  fc
    .constantFrom("https://example.com/a", "http://x.io:81/", "nonsense")
    .map((url) => ({ kind: "fetch" as const, url })),
  fc.constantFrom("code", "explore").map((name) => ({ kind: "agent" as const, name })),
  fc.constant({ kind: "none" as const }),
)
const tools = { run: "bash", read: "grep", write: "edit", fetch: "web_fetch", agent: "task", none: "todo_write" }
const asked: fc.Arbitrary<Asked> = access.map((one) => ({ tool: tools[one.kind], access: one }))

const said = [
  ...[
    "bash",
    "bash(git log *)",
    "bash(npm test:*)",
    "bash(rm *)",
    "bash(git *)",
    "bash(* x)",
    "bash(ls)",
    "bash(find *)",
  ],
  ...[
    "bash(xargs *)",
    "edit",
    "edit(out/**)",
    "edit(src/**)",
    "edit(secret/**)",
    "edit(//etc/**)",
    "read(~/notes/**)",
    "read",
  ],
  ...["read(src)", "web_fetch(domain:example.com)", "task(code)", "*", "todo_write", "edit(.git/config)"],
]
const ruleOf = (verdict: fc.Arbitrary<string>): fc.Arbitrary<Rule> =>
  fc.tuple(verdict, fc.constantFrom(...said)).map(([what, rule]) => rules(`${what} ${rule}`)[0]!)
const someRules = fc.array(ruleOf(fc.constantFrom("allow", "ask", "deny")), { maxLength: 5 })
const fence = fc.option(
  fc.record({ level: fc.constantFrom("read-only" as const, "workspace-write" as const), network: fc.boolean() }),
  { nil: undefined },
)
const settings: fc.Arbitrary<Setting> = fc
  .tuple(mode, someRules, fence, fc.boolean())
  .map(([mode, rules, fence, can]) => setting({ mode, rules, canFence: async () => can, ...(fence && { fence }) }))

test("a rule that denies never lets anything pass that did not pass without it", async () => {
  await fc.assert(
    fc.asyncProperty(asked, settings, ruleOf(fc.constant("deny")), async (call, given, more) => {
      const before = await judge(call, given)
      const after = await judge(call, { ...given, rules: [...given.rules, more] })
      assert.ok(strictness[after.do] >= strictness[before.do], `${before.do} became ${after.do}`)
      if (after.do === "allow") assert.deepEqual(after, before)
    }),
    { numRuns: 400 },
  )
})

test("the verdict does not depend on the order of the rules", async () => {
  await fc.assert(
    fc.asyncProperty(asked, settings, async (call, given) => {
      const [one, other] = await Promise.all([
        judge(call, given),
        judge(call, { ...given, rules: given.rules.toReversed() }),
      ])
      assert.equal(one.do, other.do)
    }),
    { numRuns: 200 },
  )
})

test("a command is never let out of the fence that its run has, and plan mode has a read-only one", async () => {
  await fc.assert(
    fc.asyncProperty(command, settings, async (one, given) => {
      const verdict = await judge({ tool: "bash", access: { kind: "run", command: one } }, given)
      if (verdict.do !== "allow") return
      if (given.mode === "plan" || given.fence?.level === "read-only") assert.equal(verdict.fence?.level, "read-only")
      if (given.fence) assert.ok(verdict.fence && (given.fence.network || !verdict.fence.network))
      if (verdict.fence) assert.ok(await given.canFence())
    }),
    { numRuns: 200 },
  )
})

const denied = fc.constantFrom("rm x", "rm -rf /", "rm", "git push", "git push origin main").chain(disguised)
const harmless = fc.constantFrom("git log -3", "npm test", "ls -la", "echo hi", "cat a", "mkdir x")

test("wherever a denied command stands in another, the whole is not allowed, in any mode", async () => {
  const whole = fc
    .tuple(composed(denied, 2), fc.array(harmless, { maxLength: 2 }))
    .chain(([bad, good]) => composed(fc.constantFrom(bad, ...good), 3, harmless).filter((one) => one.includes(bad)))
  const deny = rules("allow bash", "deny bash(rm *)", "deny bash(git push:*)")
  await fc.assert(
    fc.asyncProperty(whole, mode, async (one, mode) => {
      assert.notEqual((await run(one, { mode, rules: deny })).do, "allow")
    }),
    { numRuns: 500 },
  )
})

test("what is put together of allowed commands alone is allowed", async () => {
  const allowed = rules("allow bash(git log *)", "allow bash(npm test:*)", "allow bash(make)", "allow bash(cat *)")
  const leaf = fc.constantFrom(
    "git log -3",
    "git log",
    "npm test",
    "npm test 2>&1",
    "make",
    "FOO=1 git log > /dev/null",
  )
  await fc.assert(
    fc.asyncProperty(composed(leaf, 3), async (one) => {
      // An assignment cannot be the program of a wrapper, and a command given more words is another one.
      if (/(timeout 5|nice|command|xargs) (FOO|make)/.test(one)) return
      assert.deepEqual(await run(one, { rules: allowed, canFence: async () => false }), { do: "allow" })
    }),
    { numRuns: 500 },
  )
})

const others = ["python3 evil.py", "rm -rf /", "sudo rm x", "bash evil.sh", "curl x", "evil", "./git log", "ssh a b"]
const programOf = (one: string) => one.split(" ")[0]!

test("what a yes for good adds allows the same call from then on, and no other program", async () => {
  await fc.assert(
    fc.asyncProperty(asked, settings, async (call, given) => {
      const verdict = await judge(call, given)
      if (verdict.do !== "ask" || !verdict.always) return
      const more = { ...given, rules: [...given.rules, ...verdict.always] }
      assert.equal((await judge(call, more)).do, "allow")
      const alone = setting({ rules: verdict.always, canFence: async () => false })
      const named = verdict.always.map(({ pattern }) => programOf(pattern))
      for (const other of others.filter((one) => !named.includes(programOf(one)))) {
        assert.equal((await run(other, alone)).do, "ask", `${JSON.stringify(verdict.always)} allows ${other}`)
      }
      for (const { tool, pattern } of verdict.always) if (tool === "bash") assert.match(pattern, /^[^*]/)
    }),
    { numRuns: 400 },
  )
})

test("no text makes a judge throw, or think for long", async () => {
  const given = setting({
    rules: rules("allow bash(git log *)", "deny bash(rm *)", "deny edit(secret/**)", "ask bash(npm *)"),
  })
  await fc.assert(
    fc.asyncProperty(text, async (one) => {
      const start = performance.now()
      const call: Asked = { tool: "bash", access: { kind: "run", command: one } }
      const verdicts: Verdict[] = [await judge(call, given), await judgeOwn(call, given.rules, given)]
      for (const verdict of verdicts) assert.ok(["allow", "ask", "deny"].includes(verdict.do))
      assert.ok(performance.now() - start < 2_000)
    }),
    { numRuns: 300 },
  )
})

test("texts made to be slow are judged in time", async () => {
  const given = setting({ rules: rules("deny bash(rm * x * y)", "deny edit(**/a*b/**)", "allow bash(git *)") })
  const nasty = [
    "$(",
    "(",
    "`",
    "{a,",
    "${x:-",
    "$((1+",
    "<(",
    "a;",
    "env ",
    "xargs ",
    "'\"",
    "cat <<A\n",
    "sudo -x ",
    "a=1 ",
    "> a ",
    "bash -c ",
  ]
  for (const piece of nasty) {
    const one = piece.repeat(Math.floor(32_000 / piece.length))
    const start = performance.now()
    assert.notEqual((await run(one, given)).do, "deny")
    assert.ok(performance.now() - start < 8_000, piece)
  }
  assert.deepEqual(await partsOf("a".repeat(40_000)), { ok: false, why: "it has over 32768 characters" })
})
