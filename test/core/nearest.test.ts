import assert from "node:assert/strict"
import { test } from "node:test"
import { nearest } from "../../src/core/nearest.ts"

test("the word that was meant is found, whatever was mistyped", () => {
  const words = ["model", "smallModel", "limits", "web"]
  const meant = { modle: "model", MODEL: "model", smalModel: "smallModel", limit: "limits", wbe: "web" }
  for (const [word, found] of Object.entries(meant)) assert.equal(nearest(word, words), found)
})

test("what is not close to any word is no word's mistake", () => {
  for (const word of ["zebra", "", "x", "modelmodelmodel", "x".repeat(100_000)]) {
    assert.equal(nearest(word, ["model", "limits"]), undefined)
  }
})
