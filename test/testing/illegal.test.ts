import assert from "node:assert/strict"
import test from "node:test"
import fc from "fast-check"
import { type Format, illegal } from "../../src/testing.ts"
import { bodies, formats } from "./client.ts"

/** Each line changes a legal request in one way, and says what must be complained of. */
type Case = [string, Record<string, unknown>, RegExp | undefined]

function judge(format: Format, legal: Record<string, unknown>, cases: Case[]): void {
  assert.equal(illegal(format, legal), undefined)
  for (const [what, change, complaint] of cases) {
    const said = illegal(format, JSON.parse(JSON.stringify({ ...legal, ...change })))
    if (complaint) assert.match(said ?? "it is legal", complaint, what)
    else assert.equal(said, undefined, what)
  }
}

const user = { role: "user", content: "hello" }
const marked = { type: "text", text: "x", cache_control: { type: "ephemeral" } }
const use = (id: string, more = {}) => ({ type: "tool_use", id, name: "read", input: {}, ...more })
const result = (id: string, more = {}) => ({ type: "tool_result", tool_use_id: id, content: "ok", ...more })
const uses = (...content: object[]) => ({ role: "assistant", content })
const says = (...content: object[]) => ({ role: "user", content })
const messages = (...list: object[]) => ({ messages: list })

test("the Messages API's rules", () => {
  const legal = {
    model: "m",
    max_tokens: 4_000,
    system: [{ type: "text", text: "be brief" }],
    tools: [{ name: "read", description: "", input_schema: { type: "object" } }],
    messages: [
      user,
      uses({ type: "text", text: "look" }, use("a"), use("b")),
      says(result("b"), result("a"), { type: "text", text: "go on" }),
    ],
  }
  judge("anthropic", legal, [
    ["no model", { model: undefined }, /^model/],
    ["no max_tokens", { max_tokens: undefined }, /^max_tokens/],
    ["an unknown key", { max_token: 5 }, /^max_token: Extra inputs/],
    ["no messages", messages(), /at least one message/],
    ["the assistant first", messages(uses({ type: "text", text: "hi" }), user), /first message/],
    ["the same role twice", messages(user, user), /alternate/],
    ["a system role", messages({ role: "system", content: "x" }, user), /role/],
    ["the assistant last", messages(user, uses({ type: "text", text: "hi" })), /must end with a user message/],
    ["no content", messages(says()), /non-empty content/],
    ["an empty string", messages({ role: "user", content: "" }), /non-empty content/],
    ["an empty text block", messages(says({ type: "text", text: "" })), /must be non-empty/],
    ["a blank text block", messages(says({ type: "text", text: " \n" })), /non-whitespace/],
    [
      "an empty system block",
      { system: [{ type: "text", text: "" }] },
      /system\.0: text content blocks must be non-empty/,
    ],
    ["a use without result", messages(user, uses(use("a")), user), /ids without `tool_result`.*: a$/],
    ["one of two without result", messages(user, uses(use("a"), use("b")), says(result("a"))), /: b$/],
    [
      "a result without use",
      messages(user, uses({ type: "text", text: "x" }), says(result("z"))),
      /unexpected `tool_use_id`.*z/,
    ],
    [
      "a result not directly after",
      messages(user, uses(use("a")), says(result("a")), uses({ type: "text", text: "x" }), says(result("a"))),
      /unexpected/,
    ],
    ["a result at the very start", messages(says(result("a"))), /unexpected/],
    ["two results of one use", messages(user, uses(use("a")), says(result("a"), result("a"))), /single result/],
    [
      "text before a result",
      messages(user, uses(use("a")), says({ type: "text", text: "x" }, result("a"))),
      /before all other content/,
    ],
    ["the same id twice in a turn", messages(user, uses(use("a"), use("a")), says(result("a"))), /unique: a/],
    [
      "the same id in two turns",
      messages(user, uses(use("a")), says(result("a")), uses(use("a")), says(result("a"))),
      /unique: a/,
    ],
    ["an id with odd characters", messages(user, uses(use("a.b")), says(result("a.b"))), /tool_use\.id/],
    ["a use without a name", messages(user, uses(use("a", { name: "" })), says(result("a"))), /tool_use\.name/],
    [
      "a use whose input is text",
      messages(user, uses(use("a", { input: "{}" })), says(result("a"))),
      /valid dictionary/,
    ],
    [
      "a result with an empty block",
      messages(user, uses(use("a")), says(result("a", { content: [{ type: "text", text: "" }] }))),
      /must be non-empty/,
    ],
    ["a result with no text at all", messages(user, uses(use("a")), says(result("a", { content: "" }))), undefined],
    [
      "a thought without signature",
      messages(user, uses({ type: "thinking", thinking: "hm" }, use("a")), says(result("a"))),
      /signature/,
    ],
    [
      "a thought with signature",
      messages(user, uses({ type: "thinking", thinking: "", signature: "s" }, use("a")), says(result("a"))),
      undefined,
    ],
    [
      "a thought that ends an answer",
      messages(user, uses({ type: "text", text: "so" }, { type: "thinking", thinking: "", signature: "s" }), user),
      /final block in an assistant message/,
    ],
    ["four cache marks", messages(says(marked, marked, marked, marked)), undefined],
    [
      "five cache marks, in three places",
      {
        system: [marked, marked],
        ...messages(user, uses(use("a", { cache_control: { type: "ephemeral" } })), says(result("a"), marked, marked)),
      },
      /maximum of 4.*Found 5/,
    ],
    ["an unknown cache mark", messages(says({ ...marked, cache_control: { type: "forever" } })), /ephemeral/],
    ["uses without any tools", { tools: undefined }, /must define tools/],
    ["two tools of one name", { tools: [...bothNamed("read")] }, /unique/],
    ["a tool without schema", { tools: [{ name: "read" }] }, /input_schema/],
    ["a provider's own tool", { tools: [{ name: "web_search", type: "web_search_20250305" }] }, undefined],
    ["a choice of nothing", { tools: [], tool_choice: { type: "auto" }, ...messages(user) }, /providing tools/],
    ["a choice of none", { tool_choice: { type: "none" } }, undefined],
    ["a choice as a word", { tool_choice: "none" }, /tool_choice\.type/],
    ["thinking that leaves no room", { thinking: { type: "enabled", budget_tokens: 4_000 } }, /must be greater/],
    ["thinking while cool", { thinking: { type: "enabled", budget_tokens: 2_000 }, temperature: 0 }, /temperature/],
    ["thinking", { thinking: { type: "enabled", budget_tokens: 2_000 } }, undefined],
    ["too hot", { temperature: 2 }, /temperature/],
  ])
})

const bothNamed = (name: string) => [0, 1].map(() => ({ name, input_schema: { type: "object" } }))

const calls = (...ids: string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "read", arguments: "{}" } })),
})
const tool = (tool_call_id: string) => ({ role: "tool", tool_call_id, content: "ok" })

test("the Chat Completions API's rules", () => {
  const legal = {
    model: "m",
    messages: [{ role: "system", content: "be brief" }, user, calls("a", "b"), tool("b"), tool("a"), user],
    tools: [{ type: "function", function: { name: "read", parameters: {} } }],
  }
  judge("chat", legal, [
    ["no model", { model: "" }, /model/],
    ["no messages", messages(), /messages/],
    ["an unknown role", messages({ role: "result", content: "" }), /role/],
    ["a tool message of no call", messages(user, tool("a")), /must be a response to a preceding message/],
    ["a tool message after a user's", messages(user, calls("a"), tool("a"), user, tool("a")), /must be a response/],
    ["a call answered twice", messages(user, calls("a"), tool("a"), tool("a")), /a second time/],
    ["a call without answer", messages(user, calls("a", "b"), tool("a"), user), /without response: b$/],
    ["a call without answer at the end", messages(user, calls("a")), /without response: a$/],
    ["the same id twice", messages(user, calls("a", "a"), tool("a")), /Duplicate/],
    ["an assistant with nothing to say", messages(user, { role: "assistant", content: null }), /content/],
    ["an empty list of calls", messages(user, { role: "assistant", content: "x", tool_calls: [] }), /too short/],
    [
      "arguments that are no text",
      messages(user, {
        role: "assistant",
        tool_calls: [{ id: "a", type: "function", function: { name: "read", arguments: {} } }],
      }),
      /arguments/,
    ],
    ["a user without content", messages({ role: "user" }), /content/],
    ["parts of content", messages({ role: "user", content: [{ type: "text", text: "x" }] }), undefined],
    ["an empty list of tools", { tools: [] }, /tools/],
    ["a choice without tools", { tools: undefined, tool_choice: "none" }, /tool_choice/],
    ["a tool in the Responses' form", { tools: [{ type: "function", name: "read" }] }, /function/],
    ["a tool's name with a space", { tools: [{ type: "function", function: { name: "re ad" } }] }, /name/],
    ["stream options without a stream", { stream_options: { include_usage: true } }, /stream_options/],
    ["two limits", { max_tokens: 1, max_completion_tokens: 1 }, /both/],
  ])
})

const input = (...list: object[]) => ({ input: list })
const called = (call_id: string) => ({ type: "function_call", call_id, name: "read", arguments: "{}" })
const output = (call_id: string) => ({ type: "function_call_output", call_id, output: "ok" })
const thought = { type: "reasoning", id: "rs", summary: [] }

test("the Responses API's rules", () => {
  const legal = {
    model: "m",
    input: [
      user,
      thought,
      called("a"),
      called("b"),
      output("b"),
      output("a"),
      { role: "assistant", content: [{ type: "output_text", text: "x" }] },
      user,
    ],
    tools: [{ type: "function", name: "read", parameters: {} }],
  }
  judge("responses", legal, [
    ["no model", { model: undefined }, /model/],
    ["no input", { input: undefined }, /input/],
    ["an empty input", input(), /input/],
    ["a plain text", { input: "hello" }, undefined],
    ["an output of no call", input(user, output("a")), /No tool call found.*a/],
    ["an output before its call", input(user, output("a"), called("a")), /No tool call found/],
    ["a call without output", input(user, called("a")), /No tool output found for function call a/],
    ["the same call twice", input(user, called("a"), called("a"), output("a")), /Duplicate/],
    ["the same output twice", input(user, called("a"), output("a"), output("a")), /Duplicate/],
    [
      "a user's words as output",
      input({ role: "user", content: [{ type: "output_text", text: "x" }] }),
      /supported for user/,
    ],
    [
      "an answer as input",
      input({ role: "assistant", content: [{ type: "input_text", text: "x" }] }, user),
      /supported for assistant/,
    ],
    ["a thought that led to nothing", input(user, thought, user), /without its required following item/],
    ["a thought nobody kept", { store: false }, /not persisted/],
    [
      "a thought sent along",
      { store: false, ...input(user, { ...thought, encrypted_content: "e" }, called("a"), output("a")) },
      undefined,
    ],
    ["an earlier response", { previous_response_id: "resp_1" }, /not found/],
    ["a reference", input(user, { type: "item_reference", id: "msg_1" }), /not found/],
    ["an unknown role", input({ role: "tool", content: "x" }), /role/],
    ["a tool in the Chat form", { tools: [{ type: "function", function: { name: "read" } }] }, /name/],
    ["an unknown choice", { tool_choice: "any" }, /tool_choice/],
  ])
})

test("what is no object is never legal", () => {
  for (const format of formats) for (const body of [undefined, null, "x", 1, []]) assert.ok(illegal(format, body))
})

test("law: no JSON whatsoever makes the check throw", () => {
  const junk = fc.jsonValue({ maxDepth: 4 })
  const body = fc.record({ model: junk, messages: junk, input: junk, tools: junk, system: junk, tool_choice: junk })
  const item = fc.record(
    { role: fc.constantFrom("user", "assistant", "tool"), type: junk, content: junk, tool_calls: junk, call_id: junk },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.constantFrom(...formats), fc.oneof(junk, body), fc.array(item), (format, body, items) => {
      illegal(format, body)
      illegal(format, { ...bodies[format], messages: items, input: items })
    }),
    { numRuns: 300 },
  )
})
