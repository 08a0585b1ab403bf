import { readFile } from "node:fs/promises"

/** The smallest program that does the same work: a fetch loop with no agent around it. */
const { BENCH_URL: url, BENCH_FOLDER: folder, BENCH_PROMPT: prompt = "", BENCH_TIMES: repeats = "7" } = process.env

type Block = {
  type: string
  text: string
  id: string
  name: string
  input: { file_path: string; prompt: string }
  json: string
}

const tools = ["read", "task"].map((name) => ({
  name,
  description: name,
  input_schema: { type: "object", properties: {} },
}))

async function ask(messages: unknown[]): Promise<Block[]> {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": "test", "anthropic-version": "2023-06-01", "content-type": "application/json" },
    body: JSON.stringify({ model: "any", max_tokens: 1024, stream: true, system: "You read files.", tools, messages }),
  })
  const blocks: Block[] = []
  const decoder = new TextDecoder()
  let rest = ""
  for await (const chunk of response.body!) {
    const events = (rest + decoder.decode(chunk, { stream: true })).split("\n\n")
    rest = events.pop()!
    for (const event of events) {
      const data = event.slice(event.indexOf("data: ") + 6)
      const { type, index, content_block, delta } = JSON.parse(data)
      if (type === "content_block_start") blocks[index] = { ...content_block, json: "" }
      if (delta?.type === "text_delta") blocks[index]!.text += delta.text
      if (delta?.type === "input_json_delta") blocks[index]!.json += delta.partial_json
    }
  }
  return blocks
}

async function run(prompt: string): Promise<string> {
  const messages: unknown[] = [{ role: "user", content: prompt }]
  for (;;) {
    const blocks = await ask(messages)
    const calls = blocks.filter(({ type }) => type === "tool_use")
    if (calls.length === 0) return blocks.map(({ text }) => text ?? "").join("")
    for (const each of calls) each.input = JSON.parse(each.json)
    const content = blocks.map(({ type, text, id, name, input }) =>
      type === "text" ? { type, text } : { type, id, name, input },
    )
    messages.push({ role: "assistant", content })
    const results = calls.map(async ({ id, name, input }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: await (name === "task" ? run(input.prompt) : readFile(`${folder}/${input.file_path}`, "utf8")),
    }))
    messages.push({ role: "user", content: await Promise.all(results) })
  }
}

// The median of several in one process: what the work costs once the code is warm.
const times: number[] = []
for (let n = 0; n <= Number(repeats); n++) {
  const began = performance.now()
  const text = await run(prompt)
  if (n > 0) times.push(performance.now() - began)
  if (!/^I (read|led) \d+/.test(text)) throw new Error(text)
}
const ms = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]
console.log(JSON.stringify({ ms, mb: process.resourceUsage().maxRSS / 1_000 }))
