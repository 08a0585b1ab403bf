import assert from "node:assert/strict"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import { call, type Format, serve, status } from "../../src/testing.ts"
import { home } from "./binary.ts"

const turns = 400
const window = 12_000
/** As a provider might count, and more strictly than most. */
const tokensOf = (body: string): number => Math.ceil(Buffer.byteLength(body) / 3.5)

const settings = (provider: string) =>
  JSON.stringify({
    providers: { [provider]: { models: { any: { window, maxTokens: 1_000 } } } },
    limits: { turns: 1_000 },
  })

for (const [provider, format] of [
  ["anthropic", "anthropic"],
  ["openai-chat", "chat"],
  ["openai-responses", "responses"],
] as [string, Format][]) {
  test(`${turns} turns with large outputs on a small window end well, asked in the format ${format}`, async (t) => {
    let turn = 0
    await using server = await serve(({ messages, tools, raw }) => {
      if (tokensOf(raw) > window)
        return status(400, { message: "prompt is too long: more tokens than the maximum context" })
      if (tools.length === 0) return `Notes after ${turn} turns. The user wants all lines read.`
      assert.ok(messages.some(({ role, text }) => role === "user" && text.includes("read it all")))
      return turn++ < turns ? [call("read", { file_path: "big.txt", offset: 1 + turn * 2, limit: 150 })] : "all read"
    })
    const big = Array.from({ length: 2_000 }, (_, n) => `line ${n} of a file that is read again and again`).join("\n")
    const { run, env } = await home(t, { "big.txt": big })
    await mkdir(join(env.XDG_CONFIG_HOME!, "legwork"), { recursive: true })
    await writeFile(join(env.XDG_CONFIG_HOME!, "legwork/settings.json"), settings(provider))
    const ran = await run(["-p", "read it all", "--model", `${provider}/any`, "--output-format", "json"], {
      env: server.env,
    })
    assert.equal(ran.code, 0, ran.stderr)
    const report = JSON.parse(ran.stdout)
    assert.deepEqual([report.status, report.text, report.toolCalls], ["completed", "all read", turns])
    assert.deepEqual(
      server.requests.filter(({ raw }) => tokensOf(raw) > window).map(({ raw }) => tokensOf(raw)),
      [],
    )
    assert.match(ran.stderr, /the conversation was made shorter: from \d+\.\dk tokens to about \d+\.\dk tokens/)
  })
}
