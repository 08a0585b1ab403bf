import assert from "node:assert/strict"
import { test } from "node:test"
import type { Access } from "../../src/core/access.ts"
import { call } from "../../src/testing/reply.ts"
import { task } from "../../src/tools/task.ts"
import { desk } from "./desk.ts"
import { scene } from "./scene.ts"

test("whoever goes on with an agent needs leave for that agent, whether it is named or not", async (t) => {
  const { world } = await desk(t)
  const wanted: Access[] = []
  const each = scene(
    {
      main: (turn) => {
        if (turn === 0) return [call("task", { prompt: "p", subagent_type: "explore" })]
        if (turn === 1) return [call("task", { prompt: "more", resume: "r1" })]
        return turn === 2 ? [call("task", { prompt: "more", resume: "r1", subagent_type: "lead" })] : "end"
      },
    },
    [task(world)],
    {
      gate: ({ access }) => {
        wanted.push(access)
        return { do: "allow" }
      },
    },
  )
  await each.runtime.prompt(each.run, { text: "go" })
  const explore: Access = { kind: "agent", name: "explore" }
  assert.deepEqual(wanted, [explore, explore, explore])
})
