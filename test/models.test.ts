import assert from "node:assert/strict"
import { test } from "node:test"
import type { Agent } from "../src/agent/scope.ts"
import type { Config } from "../src/config.ts"
import { ModelError } from "../src/model/providers.ts"
import { modelFor } from "../src/models.ts"

const agent = (model?: string | string[]): Agent => ({
  name: "scout",
  description: "",
  prompt: "",
  role: { tools: "*", denied: [] },
  limits: {},
  ...(model !== undefined && { model }),
})

function choose(wish: { call?: string; settings?: string; definition?: string | string[] }): string {
  const agents = wish.settings === undefined ? {} : { scout: { model: wish.settings } }
  const checked = (name: string) => {
    if (name === "keyless") throw new ModelError("missing_key", "set SOME_API_KEY")
    if (name === "GPT-4.5 (Preview)") throw new ModelError("unknown_model", "names no model")
    return `full/${name}`
  }
  return modelFor({ config: { agents } as Config, checked })(agent(wish.definition), wish.call, "parent/model")
}

test("the call's wish comes before the settings', those before the definition's, and the parent's is last", () => {
  assert.equal(choose({ call: "a", settings: "b", definition: "c" }), "full/a")
  assert.equal(choose({ settings: "b", definition: "c" }), "full/b")
  assert.equal(choose({ definition: "c" }), "full/c")
  assert.equal(choose({}), "parent/model")
})

test("inherit is no wish, at every level", () => {
  assert.equal(choose({ call: "inherit", settings: "Inherit", definition: "inherit" }), "parent/model")
  assert.equal(choose({ call: "inherit", settings: "b" }), "full/b")
})

test("of several models the first that can be used is taken", () => {
  assert.equal(choose({ definition: ["keyless", "b", "c"] }), "full/b")
})

test("a name from another system means nothing in a definition, and is an error in a call", () => {
  assert.equal(choose({ definition: "GPT-4.5 (Preview)" }), "parent/model")
  assert.throws(
    () => choose({ call: "GPT-4.5 (Preview)" }),
    /agent scout asks for the model GPT-4\.5 \(Preview\): names no model/,
  )
})

test("a model that cannot be used is an error that names the agent and what to set", () => {
  assert.throws(() => choose({ definition: "keyless" }), {
    message: "agent scout asks for the model keyless: set SOME_API_KEY",
  })
})
