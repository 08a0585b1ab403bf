import assert from "node:assert/strict"
import { createInterface } from "node:readline"
import { PassThrough } from "node:stream"
import { test } from "node:test"
import { paper } from "../../src/cli/plain/paper.ts"

/** All that was written since the last look; the terminal's own way of drawing a prompt is left out. */
function page() {
  let text = ""
  const out = new PassThrough().on("data", (chunk) => (text += chunk))
  const rl = createInterface({ input: new PassThrough(), output: out, terminal: true, prompt: "> " })
  const look = () => {
    const seen = text.replaceAll(/\u001b\[\d+G/g, "").replaceAll("\u001b[0J", "")
    text = ""
    return seen.replaceAll("\u001b[J", "<clear>").replaceAll("\r", "")
  }
  return { rl, look, ...paper(rl, out) }
}

test("a line goes above what is being typed, which stays", () => {
  const { rl, look, prompt, line } = page()
  prompt()
  rl.write("hel")
  assert.equal(look(), "> hel")
  line("an agent ended")
  assert.equal(look(), "<clear>an agent ended\n> hel")
})

test("text and lines do not run into each other, and nothing steers the terminal", () => {
  const { look, write, line, prompt } = page()
  write("the ans")
  write("wer\u001b[2J")
  line("a call")
  line("another")
  write("more")
  prompt()
  assert.equal(look(), "the answer\na call\nanother\nmore\n> ")
})

test("a text that comes while nothing is typed takes the place of the prompt", () => {
  const { look, write, prompt } = page()
  prompt()
  look()
  write("woken")
  assert.equal(look(), "<clear>woken")
})

test("what was being typed when a question came is no answer to it, and is there again after it", () => {
  const { rl, look, prompt, ask, answered, entered } = page()
  prompt()
  rl.write("yes we can")
  rl.write(null, { name: "left" })
  look()
  ask("allow? ")
  assert.equal(look().split("<clear>").at(-1), "allow? ")
  assert.equal(rl.line, "")
  rl.write("n")
  rl.write(null, { name: "enter" })
  entered()
  look()
  answered()
  assert.deepEqual([look(), rl.line], ["> yes we can", "yes we can"])
})

test("once a question is gone, a line is waited for again only if one was", () => {
  const { look, ask, answered, entered } = page()
  ask("allow? ")
  look()
  answered()
  assert.equal(look(), "<clear>> ")
  ask("allow? ")
  entered()
  look()
  answered()
  assert.equal(look(), "")
})

test("what is dropped is not joined to the next line", () => {
  const { rl, look, prompt, drop } = page()
  prompt()
  rl.write("rm everything")
  drop()
  assert.equal(rl.line, "")
  look()
  prompt()
  assert.equal(look(), "> ")
})
