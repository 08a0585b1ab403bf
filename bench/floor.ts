import { readFile } from "node:fs/promises"

/** The smallest program that does the same work: a fetch loop with no agent around it. */
const [url, folder, turns] = [process.env.BENCH_URL!, process.env.BENCH_FOLDER!, Number(process.env.BENCH_TURNS)]

type Block = { type: string; text: string; id: string; name: string; input: unknown; json: string }

const tools = [
  {
    name: "read",
    description: "Reads a file.",
    input_schema: { type: "object", properties: { file_path: { type: "string" } } },
  },
]

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

async function run(): Promise<string> {
  const messages: unknown[] = [{ role: "user", content: `read ${turns} files` }]
  for (;;) {
    const blocks = await ask(messages)
    const calls = blocks.filter(({ type }) => type === "tool_use")
    if (calls.length === 0) return blocks.map(({ text }) => text ?? "").join("")
    for (const each of calls) each.input = JSON.parse(each.json)
    messages.push({
      role: "assistant",
      content: blocks.map(({ type, text, id, name, input }) =>
        type === "text" ? { type, text } : { type, id, name, input },
      ),
    })
    const results = calls.map(async ({ id, input }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: await readFile(`${folder}/${(input as { file_path: string }).file_path}`, "utf8"),
    }))
    messages.push({ role: "user", content: await Promise.all(results) })
  }
}

// The median of several in one process: what the work costs once the code is warm.
await run()
const times: number[] = []
for (let n = 0; n < 7; n++) {
  const began = performance.now()
  const text = await run()
  times.push(performance.now() - began)
  if (!text.startsWith(`I read ${turns}`)) throw new Error(text)
}
console.log(JSON.stringify({ ms: times.toSorted((a, b) => a - b)[3], mb: process.memoryUsage().rss / 1e6 }))
