import assert from "node:assert/strict"
import { test } from "node:test"
import { isLight, isLightIn } from "../../src/cli/tui/background.ts"

test("a terminal may say in its environment whether its background is light", () => {
  const said = ["0;15", "0;default;7", "15;0", "0", ""].map((COLORFGBG) => isLightIn({ COLORFGBG }))
  assert.deepEqual(said, [true, true, false, undefined, undefined])
  assert.equal(isLightIn({}), undefined)
})

test("a colour is light if dark letters are seen on it", () => {
  const colors = { paper: [253, 246, 227], night: [0, 43, 54], lemon: [255, 255, 0], sea: [0, 0, 255] }
  const light = Object.values(colors).map(([r = 0, g = 0, b = 0]) => isLight({ r, g, b }))
  assert.deepEqual(light, [true, false, true, false])
})
