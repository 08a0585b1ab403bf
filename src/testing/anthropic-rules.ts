import { isObject, isWord, type Json, objects, string } from "./json.ts"

/** What the Messages API refuses. */
export function* anthropicRules(body: Json): Generator<string> {
  for (const key of Object.keys(body)) if (!keys.has(key)) yield `${key}: Extra inputs are not permitted`
  if (!isWord(body.model)) yield "model: Field required"
  if (!Number.isInteger(body.max_tokens) || Number(body.max_tokens) < 1)
    yield "max_tokens: a positive integer is required"
  if (!Array.isArray(body.messages) || body.messages.length === 0) {
    yield "messages: at least one message is required"
    return
  }
  yield* systemRules(body.system)
  yield* toolRules(body)
  yield* thinkingRules(body)
  const messages = body.messages
  for (const [index, message] of messages.entries()) {
    if (!isObject(message)) yield `messages.${index}: Input should be an object`
    else yield* messageRules(message, `messages.${index}`)
  }
  yield* orderRules(objects(messages))
  yield* pairRules(objects(messages))
  yield* cacheRules(body)
  const used = objects(messages).some((message) => blocksOf(message, "tool_use").length > 0)
  if (used && objects(body.tools).length === 0)
    yield "Requests which include `tool_use` or `tool_result` blocks must define tools"
}

const keys = new Set(
  `model max_tokens messages system tools tool_choice stream temperature top_p top_k stop_sequences thinking metadata
  service_tier output_config container cache_control context_management mcp_servers inference_geo speed diagnostics
  user_profile_id workspace_id`.split(/\s+/),
)

const namePattern = /^[a-zA-Z0-9_-]{1,128}$/
const idPattern = /^[a-zA-Z0-9_-]+$/

function* systemRules(system: unknown): Generator<string> {
  if (system === undefined || typeof system === "string") return
  if (!Array.isArray(system)) yield "system: Input should be a string or a list of text blocks"
  for (const [index, block] of objects(system).entries()) yield* textRules(block, `system.${index}`)
}

function* toolRules({ tools, tool_choice }: Json): Generator<string> {
  if (tools !== undefined && !Array.isArray(tools)) yield "tools: Input should be a list"
  const seen = new Set<string>()
  for (const [index, tool] of objects(tools).entries()) {
    const name = string(tool.name)
    if (!namePattern.test(name)) yield `tools.${index}.name: String should match pattern '${namePattern.source}'`
    if (seen.has(name)) yield `tools: Tool names must be unique: ${name}`
    seen.add(name)
    // Tools that the provider brings along have a type and no schema.
    const own = tool.type === undefined || tool.type === "custom"
    if (own && (!isObject(tool.input_schema) || tool.input_schema.type !== "object"))
      yield `tools.${index}.input_schema.type: Input should be 'object'`
  }
  if (tool_choice === undefined) return
  if (!isObject(tool_choice) || !["auto", "any", "tool", "none"].includes(string(tool_choice.type)))
    yield "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'"
  if (seen.size === 0) yield "tool_choice: may only be specified while providing tools"
}

function* thinkingRules({ thinking, max_tokens, temperature, tool_choice }: Json): Generator<string> {
  if (typeof temperature === "number" && (temperature < 0 || temperature > 1)) yield "temperature: range: 0..1"
  if (!isObject(thinking) || thinking.type !== "enabled") return
  const budget = Number(thinking.budget_tokens)
  if (!Number.isInteger(budget) || budget < 1024) yield "thinking.enabled.budget_tokens: Input should be at least 1024"
  if (budget >= Number(max_tokens)) yield "`max_tokens` must be greater than `thinking.budget_tokens`"
  if (temperature !== undefined && temperature !== 1)
    yield "`temperature` may only be set to 1 when thinking is enabled"
  if (isObject(tool_choice) && (tool_choice.type === "any" || tool_choice.type === "tool"))
    yield "Thinking may not be enabled when tool_choice forces tool use"
}

function* messageRules(message: Json, at: string): Generator<string> {
  const { role, content } = message
  if (role !== "user" && role !== "assistant") {
    yield `${at}.role: Unexpected role ${JSON.stringify(role)}; allowed are "user" and "assistant"`
    return
  }
  if (typeof content === "string" ? content.trim() === "" : !Array.isArray(content) || content.length === 0)
    yield `${at}: ${role} messages must have non-empty content`
  if (!Array.isArray(content)) return
  for (const [index, block] of content.entries()) {
    if (!isObject(block)) yield `${at}.content.${index}: Input should be an object`
    else yield* blockRules(block, role, `${at}.content.${index}`)
  }
  const last = content.at(-1)
  if (role === "assistant" && isObject(last) && /^(redacted_)?thinking$/.test(string(last.type)))
    yield `${at}: The final block in an assistant message cannot be \`thinking\``
}

function* blockRules(block: Json, role: "user" | "assistant", at: string): Generator<string> {
  switch (block.type) {
    case "text":
      yield* textRules(block, at)
      return
    case "image":
      if (!isObject(block.source) || !isWord(block.source.type)) yield `${at}.image.source: Field required`
      return
    case "thinking":
    case "redacted_thinking":
      if (role === "user") yield `${at}: thinking blocks can only be in assistant messages`
      if (block.type === "thinking" && (typeof block.thinking !== "string" || typeof block.signature !== "string"))
        yield `${at}.thinking.signature: Field required`
      if (block.type === "redacted_thinking" && !isWord(block.data))
        yield `${at}.redacted_thinking.data: Field required`
      if (block.cache_control) yield `${at}.${block.type}.cache_control: Extra inputs are not permitted`
      return
    case "tool_use":
      if (role === "user") yield `${at}: \`tool_use\` blocks can only be in \`assistant\` messages`
      if (!idPattern.test(string(block.id)))
        yield `${at}.tool_use.id: String should match pattern '${idPattern.source}'`
      if (!namePattern.test(string(block.name)))
        yield `${at}.tool_use.name: String should match pattern '${namePattern.source}'`
      if (!isObject(block.input)) yield `${at}.tool_use.input: Input should be a valid dictionary`
      return
    case "tool_result":
      if (role === "assistant") yield `${at}: \`tool_result\` blocks can only be in \`user\` messages`
      for (const [index, inner] of objects(block.content).entries())
        if (inner.type === "text") yield* textRules(inner, `${at}.tool_result.content.${index}`)
      return
    default:
      if (!isWord(block.type)) yield `${at}.type: Field required`
  }
}

function* textRules({ type, text }: Json, at: string): Generator<string> {
  if (type !== "text") yield `${at}.type: Input should be 'text'`
  if (typeof text !== "string") yield `${at}.text: Field required`
  else if (text === "") yield `${at}: text content blocks must be non-empty`
  else if (text.trim() === "") yield `${at}: text content blocks must contain non-whitespace text`
}

function* orderRules(messages: Json[]): Generator<string> {
  if (messages[0]?.role !== "user") yield 'messages: first message must use the "user" role'
  for (const [index, { role }] of messages.entries())
    if (index > 0 && messages[index - 1]?.role === role)
      yield `messages.${index}: roles must alternate between "user" and "assistant", but found "${role}" twice in a row`
  if (messages.at(-1)?.role !== "user") yield "messages: the conversation must end with a user message"
}

function* pairRules(messages: Json[]): Generator<string> {
  const seen = new Set<string>()
  let open: string[] = []
  for (const [index, message] of messages.entries()) {
    const results = blocksOf(message, "tool_result").map(({ tool_use_id }) => string(tool_use_id))
    const stray = results.find((id) => !open.includes(id))
    if (stray !== undefined)
      yield `messages.${index}: unexpected \`tool_use_id\` in \`tool_result\`: ${stray}; it has no \`tool_use\` in the previous message`
    const missing = open.filter((id) => !results.includes(id))
    if (missing.length > 0)
      yield `messages.${index - 1}: \`tool_use\` ids without \`tool_result\` blocks immediately after: ${missing.join(", ")}`
    const twice = results.find((id, at) => results.indexOf(id) !== at)
    if (twice !== undefined)
      yield `messages.${index}: each tool_use must have a single result, found several for ${twice}`
    if (isLate(message)) yield `messages.${index}: \`tool_result\` blocks must come before all other content`
    open = blocksOf(message, "tool_use").map(({ id }) => string(id))
    for (const id of open) {
      if (seen.has(id)) yield `messages.${index}: \`tool_use\` ids must be unique: ${id}`
      seen.add(id)
    }
  }
  if (open.length > 0)
    yield `messages.${messages.length - 1}: \`tool_use\` ids without \`tool_result\` blocks immediately after: ${open.join(", ")}`
}

function isLate({ content }: Json): boolean {
  const types = objects(content).map(({ type }) => type)
  const first = types.findIndex((type) => type !== "tool_result")
  return first !== -1 && types.includes("tool_result", first)
}

const blocksOf = ({ content }: Json, type: string): Json[] => objects(content).filter((block) => block.type === type)

function* cacheRules(body: Json): Generator<string> {
  const contents = objects(body.messages).flatMap(({ content }) => objects(content))
  const inner = contents.flatMap(({ content }) => objects(content))
  const marked = [...objects(body.tools), ...objects(body.system), ...contents, ...inner].filter(
    (each) => each.cache_control,
  )
  for (const { cache_control } of marked)
    if (!isObject(cache_control) || cache_control.type !== "ephemeral")
      yield "cache_control.type: Input should be 'ephemeral'"
  if (marked.length > 4) yield `A maximum of 4 blocks with cache_control may be provided. Found ${marked.length}.`
}
