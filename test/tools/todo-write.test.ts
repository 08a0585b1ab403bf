import assert from "node:assert/strict"
import { test } from "node:test"
import { todoWrite } from "../../src/tools/todo-write.ts"
import { desk } from "./desk.ts"

test("a list is taken as a whole, shown in short, and handed to people item by item", async (t) => {
  const todos = [
    { content: "read the tests", status: "completed" },
    { content: " mend\nthe \u001b[31mloop ", status: "in_progress" },
    { content: "run everything", status: "pending" },
  ]
  assert.deepEqual(await (await desk(t)).call(todoWrite, { todos }), {
    ok: true,
    text: "[x] read the tests\n[>] mend the loop\n[ ] run everything\n(1 of 3 done)",
    details: { kind: "todo", items: [todos[0], { content: "mend the loop", status: "in_progress" }, todos[2]] },
  })
})

test("only one item may be in progress", async (t) => {
  const todos = ["a", "b"].map((content) => ({ content, status: "in_progress" }))
  assert.deepEqual(await (await desk(t)).call(todoWrite, { todos }), {
    ok: false,
    text: "only one item may be in_progress at a time; set the others to pending",
  })
})

test("empty lists, empty items, too many and unknown states are refused", async (t) => {
  const at = await desk(t)
  const item = { content: "a", status: "pending" }
  for (const todos of [
    [],
    [{ ...item, content: "  " }],
    Array(51).fill(item),
    [{ ...item, status: "done" }],
    [{ ...item, id: 1 }],
    "a",
  ]) {
    assert.equal((await at.call(todoWrite, { todos })).ok, false)
  }
  assert.equal((await at.call(todoWrite, { todos: Array(50).fill(item) })).ok, true)
})

test("it touches nothing", async (t) => {
  const todos = [{ content: "a", status: "pending" }]
  assert.deepEqual(await (await desk(t)).access(todoWrite, { todos }), { kind: "none" })
})
