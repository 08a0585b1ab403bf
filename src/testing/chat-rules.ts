import { isObject, isWord, type Json, objects, string } from "./json.ts"

/** What the Chat Completions API refuses. */
export function* chatRules(body: Json): Generator<string> {
  if (!isWord(body.model)) yield "you must provide a model parameter"
  if (!Array.isArray(body.messages) || body.messages.length === 0) {
    yield "Missing required parameter: 'messages'; at least one message is needed"
    return
  }
  if (body.stream_options && body.stream !== true) yield "'stream_options' is only allowed when 'stream' is enabled"
  if (body.max_tokens !== undefined && body.max_completion_tokens !== undefined)
    yield "'max_tokens' and 'max_completion_tokens' cannot both be set"
  yield* toolRules(body)
  for (const [index, message] of body.messages.entries()) {
    if (!isObject(message)) yield `messages.[${index}] is not an object`
    else yield* messageRules(message, `messages.[${index}]`)
  }
  yield* pairRules(objects(body.messages))
}

const namePattern = /^[a-zA-Z0-9_-]{1,64}$/

function* toolRules({ tools, tool_choice, parallel_tool_calls }: Json): Generator<string> {
  if (tools === undefined) {
    if (tool_choice !== undefined) yield "'tool_choice' is only allowed when 'tools' are specified"
    if (parallel_tool_calls !== undefined) yield "'parallel_tool_calls' is only allowed when 'tools' are specified"
    return
  }
  if (!Array.isArray(tools) || tools.length === 0) yield "'tools' must be a list with at least one tool"
  for (const [index, tool] of objects(tools).entries()) {
    if (!isWord(tool.type)) yield `Missing required parameter: 'tools[${index}].type'`
    if (tool.type !== "function") continue
    if (!isObject(tool.function)) yield `Missing required parameter: 'tools[${index}].function'`
    else if (!namePattern.test(string(tool.function.name)))
      yield `Invalid 'tools[${index}].function.name': expected a string that matches '${namePattern.source}'`
  }
}

function* messageRules(message: Json, at: string): Generator<string> {
  const { role, content, tool_calls } = message
  switch (role) {
    case "system":
    case "developer":
    case "user":
      if (!isContent(content)) yield `Invalid value for '${at}.content': expected a string or a list of parts`
      return
    case "tool":
      if (!isContent(content)) yield `Invalid value for '${at}.content': expected a string or a list of parts`
      if (!isWord(message.tool_call_id)) yield `Missing required parameter: '${at}.tool_call_id'`
      return
    case "assistant":
      if (tool_calls !== undefined) yield* callRules(tool_calls, at)
      else if (!isContent(content))
        yield `Invalid value for '${at}.content': expected a string, as there are no tool_calls`
      return
    default:
      yield `Invalid value for '${at}.role': ${JSON.stringify(role)}`
  }
}

const isContent = (content: unknown): boolean =>
  typeof content === "string" ||
  (Array.isArray(content) && content.length > 0 && objects(content).every(({ type }) => isWord(type)))

function* callRules(calls: unknown, at: string): Generator<string> {
  if (!Array.isArray(calls) || calls.length === 0) yield `[] is too short - '${at}.tool_calls'`
  const seen = new Set<string>()
  for (const [index, call] of objects(calls).entries()) {
    const where = `${at}.tool_calls[${index}]`
    if (!isWord(call.id)) yield `Missing required parameter: '${where}.id'`
    if (seen.has(string(call.id))) yield `Duplicate value for '${where}.id': ${call.id}`
    seen.add(string(call.id))
    if (call.type !== "function" || !isObject(call.function)) yield `Missing required parameter: '${where}.function'`
    else if (!namePattern.test(string(call.function.name))) yield `Invalid '${where}.function.name'`
    else if (typeof call.function.arguments !== "string")
      yield `Invalid type for '${where}.function.arguments': expected a string`
  }
}

function* pairRules(messages: Json[]): Generator<string> {
  let open = new Set<string>()
  let answerable = new Set<string>()
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      const id = string(message.tool_call_id)
      if (!answerable.has(id))
        yield `Invalid parameter: messages.[${index}] with role 'tool' must be a response to a preceding message with 'tool_calls'; there is none with id ${id}`
      else if (!open.has(id)) yield `Invalid parameter: messages.[${index}] answers tool_call_id ${id} a second time`
      open.delete(id)
      continue
    }
    if (open.size > 0) yield unanswered(open)
    answerable = new Set(objects(message.tool_calls).map(({ id }) => string(id)))
    open = new Set(answerable)
  }
  if (open.size > 0) yield unanswered(open)
}

const unanswered = (open: Set<string>): string =>
  `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'; without response: ${[...open].join(", ")}`
