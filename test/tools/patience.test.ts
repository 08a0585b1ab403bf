import assert from "node:assert/strict"
import { test } from "node:test"
import { patiently } from "../../src/tools/patience.ts"

const failing = (times: number, code: string) => {
  let tried = 0
  return async () => {
    if (++tried <= times) throw Object.assign(new Error(`${code} at try ${tried}`), { code })
    return `done at try ${tried}`
  }
}

test("out of descriptors or processes: three more tries", async () => {
  assert.equal(await patiently(failing(3, "EMFILE")), "done at try 4")
  await assert.rejects(patiently(failing(4, "EAGAIN")), { message: "EAGAIN at try 4" })
})

test("any other failure is final", async () => {
  await assert.rejects(patiently(failing(1, "ENOENT")), { message: "ENOENT at try 1" })
})
