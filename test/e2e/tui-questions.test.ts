import assert from "node:assert/strict"
import { test } from "node:test"
import { type Asked, call, type Script, steps } from "../../src/testing.ts"
import { inFront, isChild, turnsIn } from "./behind.ts"
import { calm, done, keys, type Screen, stopped, talk } from "./screen.ts"

const told = ({ last }: Asked): string => `told: ${last}`
const running = (command: string): Script => steps([call("bash", { command })], told)

/** Answers the question that is on the screen. */
async function answer(shown: Screen, key: string): Promise<void> {
  await shown.see("── permission")
  await calm(shown)
  shown.type(key)
}

test("a command is asked about in its parts, and y does it once", async (t) => {
  const shown = await talk(t, running("mkdir one && mkdir two"))
  shown.type("go\r")
  await shown.see("main wants to run a command:")
  const question = shown.rows().map((row) => row.trim())
  const at = question.indexOf("main wants to run a command:")
  assert.deepEqual(question.slice(at + 1, at + 5), [
    "mkdir one && mkdir two",
    "which consists of:",
    "mkdir one",
    "mkdir two",
  ])
  await answer(shown, "y")
  await shown.see("told: ")
  await shown.miss("── permission")
  assert.match(await shown.see(done), /● bash mkdir one && mkdir two/)
})

test("n says no, and the model hears that it was the user", async (t) => {
  const shown = await talk(t, running("mkdir one"))
  shown.type("go\r")
  await answer(shown, "n")
  await shown.see("told: not permitted: the user said no")
})

test("d says no with a word that the model hears", async (t) => {
  const shown = await talk(t, running("mkdir one"))
  shown.type("go\r")
  await answer(shown, "d")
  await shown.see("no, because:")
  shown.type("use the other folder")
  await shown.see("use the other folder")
  shown.type("\r")
  await shown.see("told: not permitted: the user said no: use the other folder")
})

test("a allows what the question says that it would, and the like is not asked again", async (t) => {
  const script = steps([call("bash", { command: "mkdir one" })], [call("bash", { command: "mkdir two" })], told)
  const shown = await talk(t, script)
  shown.type("go\r")
  assert.match(await shown.see("── permission"), /always would allow:\n +bash\(mkdir /)
  await answer(shown, "a")
  await shown.see(done)
  assert.match(shown.text(), /● bash mkdir two/)
})

test("an edit is asked about with its change", async (t) => {
  const script = steps(
    [call("read", { path: "a.txt" })],
    [call("edit", { path: "a.txt", old_string: "alpha", new_string: "beta" })],
    "mended",
  )
  const shown = await talk(t, script, { files: { "a.txt": "alpha\n" } })
  shown.type("go\r")
  assert.match(await shown.see("── permission"), /main wants to write:\n.*a\.txt\n(.*\n)+ +-alpha\n +\+beta\n/)
  await answer(shown, "y")
  await shown.see("mended")
  assert.equal(await shown.place.file("a.txt"), "beta\n")
})

/** The main agent starts one, that one starts another, and the last makes these calls. */
const deep =
  (...calls: ReturnType<typeof call>[]): Script =>
  (asked) => {
    const first = asked.messages[0]!.text
    if (turnsIn(asked) > 0) return isChild(asked) ? told(asked) : "all is done"
    if (!isChild(asked)) return [call("task", { description: "lead it", prompt: "lead", subagent_type: "general" })]
    return first.startsWith("lead")
      ? [call("task", { description: "do it", prompt: "do", subagent_type: "code" })]
      : calls
  }

test("a question from two levels down says who asks, by the whole way", async (t) => {
  const shown = await talk(t, deep(call("bash", { command: "mkdir deep" })), { settings: { limits: { depth: 2 } } })
  shown.type("go\r")
  await shown.see("main > general > code wants to run a command:")
  assert.match(shown.text(), /^ {2}… tool|^ {2}\S tool +general lead it/m)
  assert.match(shown.text(), /^ {4}\? asking +code do it/m)
  await answer(shown, "y")
  await shown.see("all is done")
})

test("several questions wait in a line with a count, and each is answered for itself", async (t) => {
  const script: Script = (asked) => {
    if (isChild(asked))
      return turnsIn(asked) === 0
        ? [call("bash", { command: `mkdir ${asked.messages[0]!.text.split("\n")[0]}` })]
        : told(asked)
    return turnsIn(asked) === 0
      ? ["one", "two", "three"].map((each) => ({
          ...inFront(each),
          input: { description: each, prompt: each, subagent_type: "code" },
        }))
      : "all is done"
  }
  const shown = await talk(t, script, { rows: 40 })
  shown.type("go\r")
  await shown.see("── permission · 1 of 3 ")
  await answer(shown, "y")
  await shown.see("── permission · 1 of 2 ")
  await answer(shown, "n")
  await shown.see(/── permission ──/)
  await answer(shown, "y")
  await shown.see("all is done")
})

test("keys that were on their way when a question appears are typed, not taken for an answer", async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const script = steps(async () => {
    await promise
    return [call("bash", { command: "mkdir one" })]
  }, told)
  const shown = await talk(t, script)
  shown.type("go\r")
  await shown.see("thinking ·")
  resolve()
  await shown.see("── permission")
  shown.type("y")
  await shown.see(/^y$/m)
  assert.match(shown.text(), /── permission/)
})

test("a question is gone when what it was asked for is stopped", async (t) => {
  const shown = await talk(t, running("mkdir one"))
  shown.type("go\r")
  await shown.see("── permission")
  shown.type(keys.ctrl("c"))
  await shown.miss("── permission")
  await shown.see(stopped)
})
