import assert from "node:assert/strict"
import { test } from "node:test"
import { createPool } from "../../src/model/http.ts"
import { openaiChat } from "../../src/model/openai-chat.ts"
import { openaiResponses } from "../../src/model/openai-responses.ts"
import { serve, stall } from "../../src/testing.ts"

for (const [name, client] of Object.entries({ openaiChat, openaiResponses })) {
  test(`pings without end are a stalled stream to ${name}`, async () => {
    await using server = await serve(() => stall({ pings: 5 }))
    const pool = createPool({ env: {} })
    const asked = { provider: "openai", name: "any", keyVariable: "OPENAI_API_KEY", key: "x" }
    const attempt = client({ ...asked, baseURL: `${server.url}/v1`, pool, idle: 40 })
    const request = { system: "", tools: [], messages: [{ role: "user" as const, text: "hi" }], memo: {} }
    const signal = AbortSignal.timeout(1_000)
    const answer = await attempt({ ...request, toolChoice: "auto" }, { signal, delta: () => {} })
    pool.close()
    assert.equal(!answer.ok && answer.error.kind, "stalled")
  })
}
