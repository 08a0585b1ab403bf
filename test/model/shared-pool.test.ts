import assert from "node:assert/strict"
import { once } from "node:events"
import type { Socket } from "node:net"
import { test } from "node:test"
import { exchange, type Pool, sharedPool } from "../../src/model/http.ts"
import { serve, stream } from "./serve.ts"

const asked = (pool: Pool, url: string) =>
  exchange(pool, {
    url,
    headers: {},
    body: "{}",
    signal: new AbortController().signal,
    idle: 10_000,
    event: (_, done) => done(),
    explain: (status) => ({ kind: "bad_request", message: `${status}` }),
  })

test("sessions that follow each other use the same connection, which ends when nobody comes any more", async (t) => {
  const { url, sockets, server } = await serve(t, (response) => response.writeHead(200, stream).end("data: x\n\n"))
  const connected: Socket[] = []
  server.on("connection", (socket: Socket) => connected.push(socket))
  // A name of its own, so that no other test has this pool.
  const env = { follow_proxy: "1" }
  for (let n = 0; n < 3; n++) {
    const pool = sharedPool(env)
    assert.deepEqual(await asked(pool, url), { ok: true })
    pool.close()
    pool.close()
  }
  assert.equal(sockets(), 1)
  await once(connected[0]!, "close")
  const late = sharedPool(env)
  assert.deepEqual(await asked(late, url), { ok: true })
  assert.equal(sockets(), 2)
  late.close()
})

test("who still has the pool keeps it, whoever else gives it back", async (t) => {
  const { url, sockets } = await serve(t, (response) => response.writeHead(200, stream).end("data: x\n\n"))
  const env = { keep_proxy: "1" }
  const [one, other] = [sharedPool(env), sharedPool(env)]
  assert.deepEqual(await asked(one, url), { ok: true })
  one.close()
  assert.deepEqual(await asked(other, url), { ok: true })
  other.close()
  assert.equal(sockets(), 1)
})

test("sessions that go through other proxies share nothing", async (t) => {
  const { url, sockets } = await serve(t, (response) => response.writeHead(200, stream).end("data: x\n\n"))
  for (const no_proxy of ["a.example", "b.example"]) {
    const pool = sharedPool({ no_proxy })
    assert.deepEqual(await asked(pool, url), { ok: true })
    pool.close()
  }
  assert.equal(sockets(), 2)
})
