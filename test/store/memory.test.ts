import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { test } from "node:test"
import { memory } from "../../src/store/memory.ts"
import { conforms } from "./conformance.ts"
import { headerOf, said } from "./samples.ts"

conforms("memory", () => memory())

test("the memory store reads its own clock", async () => {
  let now = 5
  const store = memory({ clock: () => now })
  const held = await store.create(headerOf("session-one"))
  now = 7
  held.append(said(1, "hi"))
  assert.deepEqual(await store.list(), [
    {
      header: headerOf("session-one"),
      updatedAt: 7,
      bytes: JSON.stringify(said(1, "hi")).length,
      title: "hi",
      running: true,
    },
  ])
})

test("the memory store leaves no kept text behind", async () => {
  const held = await memory().create(headerOf("session-one"))
  const path = await held.keep("out.txt", "long")
  assert.ok(existsSync(path))
  await held.close()
  assert.ok(!existsSync(path))
})

test("the memory store says so when it has nowhere to keep a text", async () => {
  const held = await memory({ folder: "/nowhere/at/all" }).create(headerOf("session-one"))
  await assert.rejects(held.keep("out.txt", "long"), {
    code: "io",
    message: /could not keep a text in \/nowhere\/at\/all/,
  })
})
