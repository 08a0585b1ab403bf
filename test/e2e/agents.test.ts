import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { home } from "./binary.ts"

const reviewer =
  "---\nname: Reviewer\ndescription: Reviews changes.\ntools: Read, Grep\nmodel: sonnet\nmaxTurns: 7\n---\nYou review.\n"

test("every agent is listed with where it comes from, and what it shadows", async (t) => {
  const { run, work } = await home(t, {
    ".claude/agents/reviewer.md": reviewer,
    ".legwork/agents/explore.md": "---\nname: explore\ndescription: Mine.\n---\nMine.\n",
    ".claude/agents/README.md": "# not an agent\n",
  })
  const rows = JSON.parse((await run(["agents", "list", "--json"])).stdout)
  assert.deepEqual(
    rows.map(({ id, source, shadowedBy }: { id: string; source: { scope: string }; shadowedBy?: string }) => [
      id,
      source.scope,
      shadowedBy,
    ]),
    [
      ["plan", "built-in", undefined],
      ["code", "built-in", undefined],
      ["general", "built-in", undefined],
      ["explore", "project", undefined],
      ["reviewer", "project", undefined],
      ["explore", "built-in", join(work, ".legwork/agents/explore.md")],
    ],
  )
  const { diagnostics, ...row } = rows.find(({ id }: { id: string }) => id === "reviewer")
  assert.deepEqual(row, {
    id: "reviewer",
    name: "Reviewer",
    description: "Reviews changes.",
    shortDescription: "Reviews changes.",
    tools: ["Read", "Grep"],
    disallowedTools: [],
    resolvedTools: ["read", "grep"],
    model: "sonnet",
    source: { path: join(work, ".claude/agents/reviewer.md"), scope: "project", dialect: "claude" },
    hidden: false,
    degraded: false,
  })
  assert.deepEqual(diagnostics, [])
  assert.match((await run(["agents", "list"])).stdout, /^explore +shadowed by .*explore\.md: built-in$/m)
})

test("one agent is shown with its effective powers and the lines they come from", async (t) => {
  const { run, work } = await home(t, { ".claude/agents/reviewer.md": reviewer })
  const { stdout } = await run(["agents", "show", "REVIEWER"])
  const file = join(work, ".claude/agents/reviewer.md")
  for (const line of [
    `tools        read, grep   (${file}:4)`,
    `model        sonnet   (${file}:5)`,
    "turns 7",
    "You review.",
  ]) {
    assert.ok(stdout.includes(line), `${line}\n${stdout}`)
  }
  const unknown = await run(["agents", "show", "reviwer"])
  assert.deepEqual([unknown.code, unknown.stdout], [2, ""])
  assert.match(unknown.stderr, /there is no agent named "reviwer"; there are reviewer, explore/)
})

test("doctor names file, line and what to do, and any folder can be looked at", async (t) => {
  const { run, work } = await home(t, {
    "some/where/broken.md": "---\nname: broken\ndescription: x\ntools: {read\n---\nx\n",
    "some/where/fine.md": reviewer,
  })
  const listed = JSON.parse((await run(["agents", "list", "--json", "--dir", "some"])).stdout)
  assert.deepEqual(
    listed.map(({ id, degraded, resolvedTools }: { id: string; degraded: boolean; resolvedTools: string[] }) => [
      id,
      degraded,
      resolvedTools,
    ]),
    [
      ["broken", true, []],
      ["reviewer", false, ["read", "grep"]],
    ],
  )
  const doctor = await run(["agents", "doctor", "--dir", "some"])
  assert.ok(doctor.stdout.includes(`${join(work, "some/where/broken.md")}:4: `), doctor.stdout)
  const json = JSON.parse((await run(["agents", "doctor", "--json", "--dir", "some"])).stdout)
  assert.ok(json.every((each: object) => ["severity", "file", "line", "message"].every((key) => key in each)))
})

test("a new agent file is one that loads, and an old one is not overwritten", async (t) => {
  const { run, file } = await home(t)
  assert.equal((await run(["agents", "new", "My Helper"])).code, 0)
  assert.match(await file(".legwork/agents/my-helper.md"), /^---\nname: "My Helper"/)
  assert.equal((await run(["agents", "new", "my helper"])).code, 2)
  const rows = JSON.parse((await run(["agents", "list", "--json"])).stdout)
  const mine = rows.find(({ id }: { id: string }) => id === "my-helper")
  assert.deepEqual([mine.degraded, mine.diagnostics], [false, []])
})

test("bad files and bad --agents are told once at start, and the rest goes on", async (t) => {
  const { run } = await home(t, {
    ".legwork/agents/broken.md": "---\nname: broken\ndescription: x\ntools: {read\n---\nx\n",
  })
  const ran = await run(["-p", "what is here", "--agents", "{not json"])
  assert.equal(ran.code, 0)
  assert.match(ran.stderr, /\(and \d+ more\); see: legwork agents doctor/)
})

test("what a definition asks for and does not get is said", async (t) => {
  const text =
    "---\nname: eager\ndescription: d\npermissionMode: bypassPermissions\ncontext: fork\nmodel: opus\n---\nx\n"
  const { run } = await home(t, { ".claude/agents/eager.md": text })
  const { stdout } = await run(["agents", "show", "eager"])
  for (const wish of ["model: a fork goes on", "permission mode bypass"])
    assert.ok(stdout.includes(`no effect    ${wish}`), stdout)
})
