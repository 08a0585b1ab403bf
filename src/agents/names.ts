/** Our tools, and what other systems call them. */
const single: Record<string, readonly string[]> = {
  bash: [
    ...["Bash", "shell", "exec", "execute", "run_shell_command", "runCommands", "runInTerminal", "terminalCommand"],
    ...["execute/runInTerminal", "run_in_terminal", "run_terminal_cmd", "PowerShell"],
  ],
  read: ["Read", "NotebookRead", "read_file", "read_many_files", "view", "ReadFile", "read/readFile"],
  write: ["Write", "write_file", "write_to_file", "create_file", "WriteFile", "createFile", "edit/createFile"],
  edit: ["Edit", "MultiEdit", "NotebookEdit", "replace", "edit_file", "patch", "apply_patch", "StrReplaceFile"],
  glob: ["Glob", "find", "find_files", "glob_search", "fileSearch", "file_search", "search/fileSearch"],
  grep: ["Grep", "grep_search", "search_file_content", "textSearch", "text_search", "search/textSearch"],
  ls: ["LS", "list", "list_dir", "list_directory", "listDirectory", "list_files", "search/listDirectory"],
  web_fetch: ["WebFetch", "fetch", "web/fetch", "FetchURL"],
  web_search: ["WebSearch", "google_web_search", "google_search", "SearchWeb"],
  todo_write: [
    ...["TodoWrite", "TodoRead", "todo", "todos", "todowrite", "write_todos"],
    ...["TaskCreate", "TaskUpdate", "TaskList", "TaskGet"],
  ],
  task: ["Task", "Agent", "runSubagent", "agent/runSubagent"],
  task_status: [],
  task_stop: [],
  task_message: [],
  board: [],
  ask_user: ["AskUserQuestion", "question", "vscode/askQuestions"],
  skill: ["Skill"],
}

/** One name elsewhere, two tools here. */
const double: Record<string, readonly string[]> = {
  editFiles: ["edit", "write"],
  "edit/editFiles": ["edit", "write"],
  search: ["grep", "glob"],
  codebase: ["grep", "glob"],
  "search/codebase": ["grep", "glob"],
  web: ["web_fetch", "web_search"],
}

/** Tools of other systems that mean nothing here. BashOutput and KillShell are no shell: who lists them need not have one. */
const dropped = [
  ...["BashOutput", "KillShell", "KillBash", "TaskOutput", "TaskStop", "SendMessage", "ExitPlanMode", "EnterPlanMode"],
  ...["ListMcpResources", "ReadMcpResource", "ListMcpResourcesTool", "ReadMcpResourceTool", "SlashCommand", "think"],
  ...["LSP", "ToolSearch", "Monitor", "save_memory", "memory", "problems", "changes", "usages", "extensions", "new"],
  ...["vscodeAPI", "vscode", "testFailure", "openSimpleBrowser", "githubRepo", "runTests", "runTasks", "runNotebooks"],
  ...["findTestFiles", "searchResults", "getTerminalOutput", "terminalLastCommand", "terminalSelection"],
]

/** The groups in which Copilot keeps its own tools: a name with a slash that begins so is no tool of a server. */
const groups = new Set(["agent", "browser", "edit", "execute", "read", "search", "todo", "vscode", "web"])

const exact = new Map<string, readonly string[]>([
  ...dropped.map((name) => [name, []] as const),
  ...Object.entries(single).flatMap(([own, others]) => [own, ...others].map((name) => [name, [own]] as const)),
  ...Object.entries(double),
])
const folded = new Map([...exact].map(([name, own]) => [name.toLowerCase(), own]))

/**
 * Our names for a tool of any system: none for one that means nothing here, undefined for one that nobody knows. Tools
 * of MCP servers come out as `mcp__server__tool`, where either may be `*`.
 */
export const ownName = (name: string): readonly string[] | undefined =>
  exact.get(name) ?? folded.get(name.toLowerCase()) ?? serverTool(name)

/** What other systems call one of our tools, the usual name first. */
export const namesElsewhere = (own: string): readonly string[] => single[own] ?? []

/** Every tool that is ours. */
export const ownNames: readonly string[] = Object.keys(single)

function serverTool(name: string): readonly string[] | undefined {
  if (/\s/.test(name)) return undefined
  if (name.startsWith("mcp__")) return [name.indexOf("__", 5) > 0 || name.endsWith("*") ? name : `${name}__*`]
  if (name === "mcp_*") return ["mcp__*"]
  const [, server, tool] = /^mcp_([^_]+)_(.+)$/.exec(name) ?? /^([^/]+)\/([^/]+)$/.exec(name) ?? []
  if (!server || !tool) return undefined
  const group = server.toLowerCase()
  return name.includes("/") && groups.has(group) ? ofGroup(group, tool) : [`mcp__${server}__${tool}`]
}

/** `search/*` is all of a group; a single tool of one that is not named above means nothing here. */
function ofGroup(group: string, tool: string): readonly string[] {
  if (tool !== "*") return []
  return group === "edit" ? ["edit", "write"] : (folded.get(group) ?? [])
}
