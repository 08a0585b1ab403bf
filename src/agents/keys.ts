/** Every way in which some system spells a field, without regard to case, dashes and underscores. */
const spellings = {
  name: ["name", "agenttype"],
  description: ["description"],
  whenToUse: ["whentouse"],
  prompt: ["prompt", "systemprompt", "instructions"],
  tools: ["tools", "allowedtools"],
  disallowedTools: ["disallowedtools", "excludetools", "excludedtools", "deniedtools"],
  model: ["model", "models"],
  permissionMode: ["permissionmode", "approvalmode"],
  permission: ["permission", "permissions"],
  maxTurns: ["maxturns", "steps", "maxsteps"],
  minutes: ["timeoutmins", "timeoutminutes"],
  timeout: ["timeout"],
  temperature: ["temperature"],
  topP: ["topp"],
  effort: ["effort", "reasoningeffort"],
  budget: ["budget"],
  forkContext: ["forkcontext"],
  context: ["context"],
  background: ["background", "isbackground", "runinbackground"],
  isolation: ["isolation"],
  readonly: ["readonly"],
  sandbox: ["sandbox"],
  color: ["color", "colour"],
  hidden: ["hidden"],
  disable: ["disable", "disabled"],
  mode: ["mode"],
  userInvocable: ["userinvocable", "userinvokable"],
  disableModelInvocation: ["disablemodelinvocation"],
  infer: ["infer"],
  agents: ["agents"],
  kind: ["kind"],
  modelConfig: ["modelconfig"],
  runConfig: ["runconfig"],
  skills: ["skills"],
  mcpServers: ["mcpservers"],
  hooks: ["hooks"],
  memory: ["memory"],
}

export type Key = keyof typeof spellings

const keys = new Map(
  Object.entries(spellings).flatMap(([key, words]) => words.map((word) => [word, key as Key] as const)),
)

/** The field that a key of a front matter means, if it is one that some system has. */
export const meaning = (key: string): Key | undefined => keys.get(key.toLowerCase().replaceAll(/[-_]/g, ""))

/** Fields that take power away: if one is lost, the agent must not be the stronger for it. */
export const restricts = (key: string): boolean => restricting.has(meaning(key) ?? "name")

const restricting = new Set<Key>(["tools", "disallowedTools", "permission", "permissionMode", "readonly", "sandbox"])
