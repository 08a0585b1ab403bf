import assert from "node:assert/strict"
import { test } from "node:test"
import { ownName, ownNames } from "../../src/agents/names.ts"
import { defineAgent } from "../../src/agents/parse.ts"

const offered = (fields: Record<string, unknown>) =>
  defineAgent({ name: "a", description: "d", prompt: "p", ...fields }, { path: null, scope: "library" }).offered

const table: Record<string, string> = {
  read: "Read NotebookRead read_file read_many_files view",
  write: "Write write_file write_to_file create_file",
  edit: "Edit MultiEdit NotebookEdit replace edit_file patch apply_patch",
  "edit write": "editFiles edit/editFiles edit/*",
  bash: "Bash shell exec run_shell_command runCommands execute/runInTerminal PowerShell",
  glob: "Glob find find_files glob_search",
  grep: "Grep grep_search search_file_content",
  "grep glob": "search codebase search/codebase search/*",
  ls: "LS list list_dir list_directory",
  web_fetch: "WebFetch fetch web/fetch webfetch",
  web_search: "WebSearch google_web_search websearch",
  todo_write: "TodoWrite TodoRead todo todos todowrite write_todos TaskCreate TaskUpdate TaskList TaskGet",
  task: "Task Agent agent runSubagent",
  ask_user: "AskUserQuestion question",
  skill: "Skill",
  "": "BashOutput KillShell TaskOutput TaskStop SendMessage problems changes think vscodeAPI search/usages vscode/extensions",
  mcp__github__create_issue: "mcp__github__create_issue mcp_github_create_issue github/create_issue",
  "mcp__github__*": "mcp__github mcp__github__* github/*",
  "mcp__*": "mcp__* mcp_*",
}

test("every name that other systems use is understood", () => {
  for (const [own, names] of Object.entries(table))
    for (const name of names.split(" ")) assert.deepEqual(ownName(name), own ? own.split(" ") : [], name)
})

test("our own names mean themselves, and case does not matter", () => {
  for (const name of ownNames) assert.deepEqual([ownName(name), ownName(name.toUpperCase())], [[name], [name]])
  assert.equal(ownName("TimeMachine"), undefined)
  assert.equal(ownName("constructor"), undefined)
  assert.equal(ownName("All tools"), undefined)
})

test("tools: absent, all, a list, none, with denials, in the order and the numbers that they were written", () => {
  const cases: [Record<string, unknown>, unknown][] = [
    [{}, { allow: "*", deny: [] }],
    [{ tools: "*" }, { allow: "*", deny: [] }],
    [{ tools: ["*"] }, { allow: "*", deny: [] }],
    [{ tools: "" }, { allow: "*", deny: [] }],
    [{ tools: null }, { allow: "*", deny: [] }],
    [{ tools: {} }, { allow: "*", deny: [] }],
    [{ tools: [] }, { allow: [], deny: [] }],
    [{ tools: "none" }, { allow: [], deny: [] }],
    [{ tools: false }, { allow: [], deny: [] }],
    [{ tools: ["bash", "read_file"] }, { allow: ["bash", "read"], deny: [] }],
    [{ tools: "Bash, Read, bash, READ" }, { allow: ["bash", "read"], deny: [] }],
    [{ tools: ["Read, Grep", "Bash"] }, { allow: ["read", "grep", "bash"], deny: [] }],
    [{ disallowedTools: ["task", "edit", "write"] }, { allow: "*", deny: ["task", "edit", "write"] }],
    [
      { tools: ["Read", "Edit"], disallowedTools: "Edit" },
      { allow: ["read", "edit"], deny: ["edit"] },
    ],
    [
      { tools: ["Read"], disallowedTools: "*" },
      { allow: [], deny: [] },
    ],
    [{ disallowedTools: "" }, { allow: "*", deny: [] }],
    [
      { exclude_tools: ["Shell"], disallowedTools: ["Write"] },
      { allow: "*", deny: ["bash", "write"] },
    ],
    [{ tools: ["Deploy"] }, { allow: ["Deploy"], deny: [] }],
    [{ tools: { "*": false, read: true } }, { allow: ["read"], deny: [] }],
    [{ tools: { "*": true, bash: false } }, { allow: "*", deny: ["bash"] }],
    [{ tools: ["Agent", "Agent(a)"] }, { allow: ["task"], deny: [] }],
    [{ tools: ["Agent(a, b)", "Task(c)"] }, { allow: ["task"], deny: [], mayStart: ["a", "b", "c"] }],
    [{ agents: ["*"] }, { allow: "*", deny: [] }],
    [{ agents: [] }, { allow: "*", deny: [], mayStart: [] }],
    [{ readonly: true }, { allow: "*", deny: ["write", "edit"] }],
    [{ readonly: "mostly" }, { allow: "*", deny: ["write", "edit"] }],
  ]
  for (const [fields, expected] of cases) assert.deepEqual(offered(fields), expected, JSON.stringify(fields))
})

test("tools that cannot be made out are no tools", () => {
  for (const tools of [
    5,
    true,
    [{ name: "read" }],
    [["Read"]],
    { read: { a: 1 } },
    "[Read",
    "Read | Grep",
    "Agent(a",
    "*e",
    "Read, &x",
  ])
    assert.deepEqual(offered({ tools }), { allow: [], deny: [] }, JSON.stringify(tools))
  assert.deepEqual(offered({ disallowedTools: [{ write: true }] }), { allow: [], deny: [] })
  assert.deepEqual(offered({ permission: { bash: "perhaps" } }), { allow: [], deny: [] })
})
