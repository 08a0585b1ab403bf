import { readFile } from "node:fs/promises"
import http from "node:http"
import { bytesIn, growthOf } from "./growth.ts"
import { median } from "./result.ts"

/** The smallest program that does the same work: a loop with no agent around it, over `fetch` or `node:http`. */
const {
  BENCH_URL: url = "",
  BENCH_FOLDER: folder,
  BENCH_PROMPT: prompt = "",
  BENCH_PAD: pad = "0",
  BENCH_TIMES: repeats = "7",
  BENCH_CLIENT: client = "fetch",
} = process.env

/** Figures that themselves cost time are taken only where they are wanted. */
const marking = process.env.BENCH_MARKS === "yes"

type Block = {
  type: string
  text: string
  id: string
  name: string
  input: { file_path: string; prompt: string; context?: string }
  json: string
}

const tools = ["read", "task"].map((name) => ({
  name,
  description: name,
  input_schema: { type: "object", properties: {} },
}))
const headers = { "x-api-key": "test", "anthropic-version": "2023-06-01", "content-type": "application/json" }
const agent = new http.Agent({ keepAlive: true })

type Post = (body: string) => Promise<AsyncIterable<Uint8Array>>

const clients: Record<string, Post> = {
  fetch: async (body) => (await fetch(`${url}/v1/messages`, { method: "POST", headers, body })).body!,
  http: (body) =>
    new Promise((resolve, reject) => {
      const request = http.request(`${url}/v1/messages`, { method: "POST", headers, agent }, resolve)
      request.on("error", reject).end(body)
    }),
}
const post = clients[client]!

/** Pieces of answers that came, and when the first and the last did. */
const came = { pieces: 0, first: Number.NaN, last: Number.NaN }

async function ask(messages: unknown[]): Promise<Block[]> {
  const asked = { model: "any", max_tokens: 1024, stream: true, system: "You read files.", tools, messages }
  const blocks: Block[] = []
  const decoder = new TextDecoder()
  let rest = ""
  for await (const chunk of await post(JSON.stringify(asked))) {
    const events = (rest + decoder.decode(chunk, { stream: true })).split("\n\n")
    rest = events.pop()!
    for (const event of events) {
      const data = event.slice(event.indexOf("data: ") + 6)
      const { type, index, content_block, delta } = JSON.parse(data)
      if (type === "content_block_start") blocks[index] = { ...content_block, json: "" }
      if (delta?.type === "text_delta") {
        blocks[index]!.text += delta.text
        came.last = performance.now()
        if (came.pieces++ === 0) came.first = came.last
      }
      if (delta?.type === "input_json_delta") blocks[index]!.json += delta.partial_json
    }
  }
  return blocks
}

/** The processor time taken when each answer had come, in microseconds. */
let marks: number[] = []

async function run(prompt: string, before: readonly unknown[] = []): Promise<string> {
  const messages: unknown[] = [...before, { role: "user", content: prompt }]
  for (;;) {
    const blocks = await ask(messages)
    if (marking) {
      const { user, system } = process.cpuUsage()
      marks.push(user + system)
    }
    const calls = blocks.filter(({ type }) => type === "tool_use")
    if (calls.length === 0) return blocks.map(({ text }) => text ?? "").join("")
    for (const each of calls) each.input = JSON.parse(each.json)
    const known = [...messages]
    const content = blocks.map(({ type, text, id, name, input }) =>
      type === "text" ? { type, text } : { type, id, name, input },
    )
    messages.push({ role: "assistant", content })
    const results = calls.map(async ({ id, name, input }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: await (name === "task"
        ? run(input.prompt, input.context === "fork" ? [...known, forked] : [])
        : readFile(`${folder}/${input.file_path}`, "utf8")),
    }))
    messages.push({ role: "user", content: await Promise.all(results) })
  }
}

const forked = { role: "assistant", content: "I go on." }

// The median of several in one process: what the work costs once the code is warm.
const times: number[] = []
let bytes = 0
const whole = prompt + " pad".repeat(Number(pad))
for (let n = 0; n <= Number(repeats); n++) {
  marks = []
  const began = performance.now()
  const text = await run(whole)
  if (n > 0 || repeats === "0") times.push(performance.now() - began)
  if (!/^I (read|led) \d+/.test(text)) throw new Error(text)
  bytes = bytesIn(text)
}
const mb = process.resourceUsage().maxRSS / 1_000
const perSecond = (1_000 * came.pieces) / (came.last - came.first)
console.log(JSON.stringify({ ms: median(times), mb, bytes, perSecond, ...growthOf(marks) }))
process.exit()
