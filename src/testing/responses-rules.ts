import { isObject, isWord, type Json, objects, string } from "./json.ts"

/** What the Responses API refuses. Nothing is stored here, so what refers to stored things is refused as well. */
export function* responsesRules(body: Json): Generator<string> {
  if (!isWord(body.model)) yield "Missing required parameter: 'model'"
  if (body.previous_response_id) yield `Previous response with id '${body.previous_response_id}' not found`
  yield* toolRules(body)
  if (isWord(body.input)) return
  if (!Array.isArray(body.input) || body.input.length === 0) {
    yield "Missing required parameter: 'input'; at least one item is needed"
    return
  }
  for (const [index, item] of body.input.entries()) {
    if (!isObject(item)) yield `Invalid type for 'input[${index}]': expected an object`
    else yield* itemRules(item, body, `input[${index}]`)
  }
  yield* pairRules(objects(body.input))
  yield* reasoningRules(objects(body.input))
}

const namePattern = /^[a-zA-Z0-9_-]{1,64}$/

function* toolRules({ tools, tool_choice }: Json): Generator<string> {
  if (tools !== undefined && !Array.isArray(tools)) yield "Invalid type for 'tools': expected a list"
  for (const [index, tool] of objects(tools).entries()) {
    if (!isWord(tool.type)) yield `Missing required parameter: 'tools[${index}].type'`
    if (tool.type !== "function") continue
    if (!namePattern.test(string(tool.name)))
      yield `Invalid 'tools[${index}].name': expected a string that matches '${namePattern.source}'`
    if (!isObject(tool.parameters)) yield `Missing required parameter: 'tools[${index}].parameters'`
  }
  if (isWord(tool_choice) && !["auto", "none", "required"].includes(tool_choice))
    yield `Invalid value for 'tool_choice': ${tool_choice}`
  if (tool_choice === "required" && objects(tools).length === 0)
    yield "Tool choice 'required' must be specified with 'tools'"
}

function* itemRules(item: Json, { store }: Json, at: string): Generator<string> {
  switch (item.type ?? "message") {
    case "message":
      yield* messageRules(item, at)
      return
    case "function_call":
      if (!isWord(item.call_id)) yield `Missing required parameter: '${at}.call_id'`
      if (!namePattern.test(string(item.name)))
        yield `Invalid '${at}.name': expected a string that matches '${namePattern.source}'`
      if (typeof item.arguments !== "string") yield `Invalid type for '${at}.arguments': expected a string`
      return
    case "function_call_output":
      if (!isWord(item.call_id)) yield `Missing required parameter: '${at}.call_id'`
      if (typeof item.output !== "string" && !Array.isArray(item.output))
        yield `Missing required parameter: '${at}.output'`
      return
    case "reasoning":
      if (!Array.isArray(item.summary)) yield `Missing required parameter: '${at}.summary'`
      if (store === false && !isWord(item.encrypted_content))
        yield `Item with id '${item.id}' not found. Items are not persisted when 'store' is false: ask for reasoning.encrypted_content and send it back`
      return
    case "item_reference":
      yield `Item with id '${item.id}' not found`
      return
    default:
      if (!isWord(item.type)) yield `Invalid value for '${at}.type'`
  }
}

const contentTypes: Record<string, string[]> = {
  user: ["input_text", "input_image", "input_file"],
  system: ["input_text"],
  developer: ["input_text"],
  assistant: ["output_text", "refusal"],
}

function* messageRules({ role, content }: Json, at: string): Generator<string> {
  const types = contentTypes[string(role)]
  if (!types) {
    yield `Invalid value for '${at}.role': ${JSON.stringify(role)}`
    return
  }
  if (typeof content === "string") return
  if (!Array.isArray(content) || content.length === 0) yield `Missing required parameter: '${at}.content'`
  for (const [index, { type }] of objects(content).entries())
    if (!types.includes(string(type)))
      yield `Invalid value for '${at}.content[${index}].type': ${JSON.stringify(type)}; supported for ${role} are ${types.join(", ")}`
}

function* pairRules(items: Json[]): Generator<string> {
  const called = new Set<string>()
  const answered = new Set<string>()
  for (const { type, call_id } of items) {
    const id = string(call_id)
    if (type === "function_call") {
      if (called.has(id)) yield `Duplicate function call with call_id ${id}`
      called.add(id)
    }
    if (type === "function_call_output") {
      if (!called.has(id)) yield `No tool call found for function call output with call_id ${id}.`
      if (answered.has(id)) yield `Duplicate function call output with call_id ${id}`
      answered.add(id)
    }
  }
  for (const id of called) if (!answered.has(id)) yield `No tool output found for function call ${id}.`
}

/** A thought belongs to what it led to. */
function* reasoningRules(items: Json[]): Generator<string> {
  for (const [index, { type, id }] of items.entries()) {
    if (type !== "reasoning") continue
    const next = items.slice(index + 1).find((item) => item.type !== "reasoning")
    if (next?.type !== "function_call" && next?.role !== "assistant")
      yield `Item '${id}' of type 'reasoning' was provided without its required following item.`
  }
}
