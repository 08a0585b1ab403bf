import assert from "node:assert/strict"
import { test } from "node:test"
import type { Asked, Verdict } from "../../src/agent/scope.ts"
import type { Access, Fence, Rule } from "../../src/core/access.ts"
import { judge, type Mode, type Setting } from "../../src/permit/judge.ts"
import { allow, ask, denied, fenced, rules, run, setting } from "./desk.ts"

const deny = (why: string): Verdict => ({ do: "deny", why })
const asks = (always?: Rule[]): Verdict => ({ do: "ask", ...(always && { always }) })
const outside = deny("/etc/hosts is outside the workspace: not written")
const shut = deny("this run is read-only: describe the change instead of making it")
const missing = deny(
  "commands of this run may only run inside a sandbox, and there is none here; use read, grep, glob and ls, or go on without",
)

const calls: Record<string, Asked> = {
  none: { tool: "todo_write", access: { kind: "none" } },
  agent: { tool: "task", access: { kind: "agent", name: "explore" } },
  "read inside": { tool: "grep", access: { kind: "read", path: "/w/src/a", inside: true } },
  "read outside": { tool: "read", access: { kind: "read", path: "/etc/ssl/x", inside: false } },
  "write inside": { tool: "edit", access: { kind: "write", path: "/w/src/a", inside: true, guarded: false } },
  "write guarded": { tool: "write", access: { kind: "write", path: "/w/.git/hooks/x", inside: true, guarded: true } },
  "write outside": { tool: "write", access: { kind: "write", path: "/etc/hosts", inside: false, guarded: false } },
  fetch: { tool: "web_fetch", access: { kind: "fetch", url: "https://example.com/a" } },
  search: { tool: "web_search", access: { kind: "fetch", url: "https://search.example.com" } },
  "a command": { tool: "bash", access: { kind: "run", command: "npm ci" } },
  "a reading command": { tool: "bash", access: { kind: "run", command: "git log" } },
}
const always = {
  read: asks(rules("allow read(//etc/ssl/**)")),
  write: asks(rules("allow edit(src/**)")),
  guarded: asks(rules("allow edit(.git/hooks/x)")),
  fetch: asks(rules("allow web_fetch(domain:example.com)")),
  search: asks(rules("allow web_search")),
  command: ask(["npm ci"], ["npm ci *"]),
}

const table: Record<Mode, Verdict[]> = {
  default: [
    ...[allow, allow, allow, always.read, always.write, always.guarded, outside],
    ...[always.fetch, always.search, always.command, fenced],
  ],
  acceptEdits: [
    ...[allow, allow, allow, always.read, allow, always.guarded, outside],
    ...[always.fetch, always.search, always.command, fenced],
  ],
  plan: [allow, allow, allow, always.read, shut, shut, shut, always.fetch, always.search, fenced, fenced],
  bypass: [allow, allow, allow, allow, allow, allow, outside, allow, allow, allow, allow],
}

for (const [mode, expected] of Object.entries(table)) {
  test(`mode ${mode} decides every kind of call where no rule does`, async () => {
    const names = Object.keys(calls)
    const verdicts = await Promise.all(
      Object.values(calls).map((asked) => judge(asked, setting({ mode: mode as Mode }))),
    )
    assert.deepEqual(
      Object.fromEntries(names.map((name, n) => [name, verdicts[n]])),
      Object.fromEntries(names.map((name, n) => [name, expected[n]])),
    )
  })
}

test("deny beats ask beats allow, wherever they stand", async () => {
  const all = rules("allow bash(make *)", "ask bash(make *)", "deny bash(make *)")
  const [yes, perhaps, no] = all as [Rule, Rule, Rule]
  const verdict = async (...some: Rule[]) => (await run("make x", { rules: some })).do
  assert.equal(await verdict(yes), "allow")
  assert.equal(await verdict(yes, perhaps), "ask")
  assert.equal(await verdict(perhaps, yes), "ask")
  assert.equal(await verdict(no, perhaps, yes), "deny")
  assert.equal(await verdict(yes, perhaps, no), "deny")
})

test("rules that deny hold in every mode, and rules that ask ask in every mode but bypass", async () => {
  for (const mode of ["default", "acceptEdits", "plan", "bypass"] as const) {
    const over = {
      mode,
      rules: rules("deny bash(rm *)", "deny edit(src/**)", "ask bash(git log *)", "ask read(src/**)"),
    }
    assert.deepEqual(await run("rm x", over), denied("bash(rm *)"), mode)
    assert.deepEqual(await judge(calls["write inside"]!, setting(over)), denied("edit(src/**)"), mode)
    assert.equal((await run("git log", over)).do, mode === "bypass" ? "allow" : "ask", mode)
    assert.equal((await judge(calls["read inside"]!, setting(over))).do, mode === "bypass" ? "allow" : "ask", mode)
  }
})

test("a question that a rule asks offers nothing for good, for no other rule would help", async () => {
  assert.deepEqual(await run("make x", { rules: rules("ask bash(make *)") }), { ...ask(["make x"]), ruled: true })
  assert.deepEqual(await judge(calls["read inside"]!, setting({ rules: rules("ask read(src/**)", "allow read") })), {
    ...asks(),
    ruled: true,
  })
})

test("outside the workspace only a rule that names the path lets a tool write", async () => {
  const write = (...texts: string[]) => judge(calls["write outside"]!, setting({ rules: rules(...texts) }))
  assert.deepEqual(await write("allow edit"), outside)
  assert.deepEqual(await write("allow *"), outside)
  assert.deepEqual(await write("allow edit(**)"), outside)
  assert.deepEqual(await write("allow edit(/etc/hosts)"), outside)
  assert.deepEqual(await write("allow edit(//etc/hosts)"), allow)
  assert.deepEqual(await write("allow write(//etc/**)"), allow)
  assert.deepEqual(await write("ask edit(//etc/**)"), outside)
  const bypass = setting({ mode: "bypass", rules: rules("allow edit(//etc/hosts)") })
  assert.deepEqual(await judge(calls["write outside"]!, bypass), allow)
})

test("what is guarded is only allowed by its own name", async () => {
  const write = (mode: Mode, ...texts: string[]) =>
    judge(calls["write guarded"]!, setting({ mode, rules: rules(...texts) }))
  for (const mode of ["default", "acceptEdits"] as const) {
    assert.deepEqual(await write(mode, "allow edit", "allow edit(.git/**)", "allow edit(.git/hooks)"), always.guarded)
    assert.deepEqual(await write(mode, "allow edit(.git/hooks/x)"), allow)
    assert.deepEqual(await write(mode, "allow edit(//w/.git/hooks/x)"), allow)
  }
  assert.deepEqual(await write("plan", "allow edit(.git/hooks/x)"), shut)
})

test("without a sandbox, what looks as if it only read is a question, and plan mode has no commands", async () => {
  const without = { canFence: async () => false }
  assert.deepEqual(await run("git log", without), ask(["git log"], ["git log *"]))
  assert.deepEqual(await run("git log", { ...without, rules: rules("allow bash(git log *)") }), allow)
  assert.deepEqual(await run("git log", { ...without, mode: "plan" }), missing)
  assert.deepEqual(await run("git log", { ...without, mode: "plan", rules: rules("allow bash") }), missing)
  assert.deepEqual(await run("git log", { ...without, mode: "bypass" }), allow)
})

test("inside a read-only fence every command runs, but for what rules deny or ask", async () => {
  const fence: Fence = { level: "read-only", network: true }
  for (const mode of ["default", "acceptEdits", "bypass"] as const) {
    const over: Partial<Setting> = { mode, fence, rules: rules("deny bash(rm *)", "ask bash(curl *)", "allow edit") }
    assert.deepEqual(await run("npm ci > x && eval $y; rmdir z", { mode, fence }), { do: "allow", fence })
    assert.deepEqual(await run("rm x", over), denied("bash(rm *)"))
    assert.equal((await run("curl x", over)).do, mode === "bypass" ? "allow" : "ask")
    assert.deepEqual(await run("npm ci", { ...over, canFence: async () => false }), missing)
    assert.deepEqual(await judge(calls["write inside"]!, setting(over)), shut)
  }
})

test("a fence that a run has is kept, whatever else is said", async () => {
  const fence: Fence = { level: "workspace-write", network: false }
  const tight: Fence = { level: "read-only", network: false }
  assert.deepEqual(await run("npm ci", { fence, mode: "bypass" }), { do: "allow", fence })
  assert.deepEqual(await run("npm ci", { fence, rules: rules("allow bash") }), { do: "allow", fence })
  assert.deepEqual(await run("git log", { fence }), { do: "allow", fence: tight })
  assert.deepEqual(await run("npm ci", { fence, mode: "plan" }), { do: "allow", fence: tight })
  assert.deepEqual(await run("npm ci", { fence, rules: rules("allow bash"), canFence: async () => false }), missing)
})

test("what cannot be read is allowed by nothing but all of bash, and not while something is denied", async () => {
  for (const command of ['eval "$y"', "$x y", "git log 'open", "ls | sh", "make $("]) {
    const verdict = async (over: Partial<Setting>) => (await run(command, over)).do
    const specific = rules(
      "allow bash(eval *)",
      "allow bash(* y)",
      "allow bash(git log *)",
      "allow bash(ls *)",
      "allow bash(sh *)",
    )
    assert.equal(await verdict({ rules: specific }), "ask", command)
    assert.equal(await verdict({ rules: rules("allow bash") }), "allow", command)
    assert.equal(await verdict({ rules: rules("allow bash(*)", "deny bash(rm *)") }), "ask", command)
    assert.equal(await verdict({ mode: "bypass" }), "allow", command)
    assert.equal(await verdict({ mode: "bypass", rules: rules("deny bash(rm *)") }), "allow", command)
  }
})

test("in bypass mode, what cannot be read is denied where a denied program is named in it", async () => {
  const over: Partial<Setting> = {
    mode: "bypass",
    rules: rules("deny bash(rm *)", "deny bash(* --force)", "deny edit(secret/**)"),
  }
  const may = (rule: string) => deny(`the rule ${rule} may deny it: spell it out, or go on without it`)
  assert.deepEqual(await run("x=rm; $x y", over), may("bash(rm *)"))
  assert.deepEqual(await run("echo 'r''m y' | sh", over), may("bash(rm *)"))
  assert.deepEqual(await run('eval "$form"', over), allow)
  assert.deepEqual(await run("x=--force; git y $x", over), may("bash(* --force)"))
  assert.deepEqual(await run("git y $x", over), allow)
  assert.deepEqual(await run("f=secret/x; echo y > $f", over), may("edit(secret/**)"))
  assert.deepEqual(await run("echo y > $f", over), allow)
})

test("in mode acceptEdits a command may write where a tool might", async () => {
  const over: Partial<Setting> = {
    mode: "acceptEdits",
    rules: rules("allow bash(npm test *)", "deny edit(src/gen/**)"),
  }
  assert.deepEqual(await run("npm test > src/log", over), allow)
  assert.deepEqual(await run("echo hi > src/a", over), allow)
  assert.deepEqual(await run("cat > src/a <<'E'\nx\nE", over), allow)
  assert.deepEqual(await run("npm test > .npmrc", over), ask(["npm test > .npmrc"], ["edit(.npmrc)"]))
  assert.deepEqual(await run("npm test > /tmp/x", over), ask(["npm test > /tmp/x"], ["edit(//tmp/x)"]))
  assert.deepEqual(await run("npm test > src/gen/x", over), denied("edit(src/gen/**)"))
  assert.deepEqual(await run("npm ci > src/log", over), ask(["npm ci > src/log"], ["npm ci *"]))
})

test("where a command writes is looked up the way that tools do it", async () => {
  const writing = (path: string) =>
    ({ kind: "write", path: path.replace("/w/link", "/etc"), inside: !path.includes("link"), guarded: false }) as const
  const over: Partial<Setting> = { mode: "acceptEdits", writing, rules: rules("deny edit(//etc/passwd)") }
  assert.deepEqual(await run("echo x > a", over), allow)
  assert.deepEqual(await run("echo x > link/hosts", over), ask(["echo x > link/hosts"], ["edit(//etc/hosts)"]))
  assert.deepEqual(await run("echo x > link/passwd", over), denied("edit(//etc/passwd)"))
})

const named: [Asked, string[], Verdict["do"]][] = [
  [{ tool: "mcp__github__create", access: { kind: "none" } }, ["ask mcp__github"], "ask"],
  [{ tool: "mcp__github__create", access: { kind: "none" } }, ["deny mcp__github__*"], "deny"],
  [{ tool: "mcp__github__create", access: { kind: "none" } }, ["deny mcp__gitlab__*"], "allow"],
  [
    { tool: "mcp__github__create", access: { kind: "fetch", url: "https://x.io" } },
    ["allow mcp__github__create"],
    "allow",
  ],
  [{ tool: "mcp__github__create", access: { kind: "fetch", url: "https://x.io" } }, ["allow web_fetch"], "ask"],
  [{ tool: "mcp__github__create", access: { kind: "fetch", url: "https://x.io" } }, ["deny web_fetch"], "deny"],
  [{ tool: "deploy", access: { kind: "none" } }, ["ask deploy"], "ask"],
  [{ tool: "deploy", access: { kind: "none" } }, ["ask *"], "ask"],
  [{ tool: "todo_write", access: { kind: "none" } }, ["deny TodoWrite"], "deny"],
  [{ tool: "task", access: { kind: "agent", name: "code" } }, ["deny Agent(code)"], "deny"],
  [{ tool: "task", access: { kind: "agent", name: "code" } }, ["deny Agent(explore, plan)"], "allow"],
  [{ tool: "task", access: { kind: "agent", name: "code" } }, ["ask task"], "ask"],
  [{ tool: "web_search", access: { kind: "fetch", url: "https://x.io" } }, ["allow WebSearch"], "allow"],
  [{ tool: "web_search", access: { kind: "fetch", url: "https://x.io" } }, ["allow WebFetch(domain:x.io)"], "ask"],
  [{ tool: "web_search", access: { kind: "fetch", url: "https://x.io" } }, ["deny WebFetch(domain:x.io)"], "ask"],
  [{ tool: "bash", access: { kind: "run", command: "# nothing" } }, ["deny bash"], "deny"],
  [{ tool: "bash", access: { kind: "run", command: "" } }, ["ask bash"], "ask"],
  [{ tool: "web_fetch", access: { kind: "fetch", url: "https://x.io/a" } }, ["allow WebFetch(domain:x.io)"], "allow"],
  [{ tool: "glob", access: { kind: "read", path: "/etc/x", inside: false } }, ["allow Read(//etc/**)"], "allow"],
  [{ tool: "read", access: { kind: "read", path: "/etc/x", inside: false } }, ["allow grep(//etc/**)"], "ask"],
  [{ tool: "grep", access: { kind: "read", path: "/etc/x", inside: false } }, ["allow grep(//etc/**)"], "allow"],
  [
    { tool: "write", access: { kind: "write", path: "/w/a", inside: true, guarded: false } },
    ["allow Edit(a)"],
    "allow",
  ],
  [{ tool: "edit", access: { kind: "write", path: "/w/a", inside: true, guarded: false } }, ["deny Write(a)"], "deny"],
  [
    { tool: "mcp__x__put", access: { kind: "write", path: "/w/a", inside: true, guarded: false } },
    ["allow edit"],
    "ask",
  ],
]

for (const [asked, texts, expected] of named) {
  test(`${asked.tool} (${asked.access.kind}) under ${texts.join(", ")}: ${expected}`, async () =>
    assert.equal((await judge(asked, setting({ rules: rules(...texts) }))).do, expected))
}

test("what a yes for good would add is as narrow as the place asks for", async () => {
  const offered = async (tool: string, access: Access) => {
    const verdict = await judge({ tool, access }, setting())
    return verdict.do === "ask" ? verdict.always : undefined
  }
  const read = (path: string) => offered("read", { kind: "read", path, inside: false })
  assert.deepEqual(await read("/home/me/notes/a"), rules("allow read(~/notes/**)"))
  assert.deepEqual(await read("/home/me/.bashrc"), rules("allow read(~/.bashrc)"))
  assert.deepEqual(await read("/x"), rules("allow read(//x)"))
  assert.deepEqual(await read("/opt/a (b)/[c]*/d"), rules("allow read(//opt/a (b)/\\[c\\]\\*/**)"))
  const write = (path: string) => offered("edit", { kind: "write", path, inside: true, guarded: false })
  assert.deepEqual(await write("/w/README.md"), rules("allow edit(./*)"))
  assert.deepEqual(await write("/w/~/a"), rules("allow edit(./~/**)"))
  assert.deepEqual(await write("/other/a"), rules("allow edit(//other/**)"))
})
