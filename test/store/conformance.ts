import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { describe, it, type TestContext } from "node:test"
import fc from "fast-check"
import type { Fact, Stamped } from "../../src/core/event.ts"
import type { Store } from "../../src/store/store.ts"
import { anyFacts } from "./facts.ts"
import { headerOf, opened, said } from "./samples.ts"

/** What any store must do, said through its interface alone. `makeStore` gives an empty one and may tidy up after `t`. */
export function conforms(name: string, makeStore: (t: TestContext) => Store | Promise<Store>): void {
  const checks = { ...writing, ...holding, ...listing }
  describe(`the ${name} store`, () => {
    for (const [law, check] of Object.entries(checks)) it(law, async (t) => check(await makeStore(t)))
  })
}

const first = headerOf("session-one")
const second = headerOf("session-two", first.at + 1)

const writing: Record<string, (store: Store) => Promise<void>> = {
  "reads a new session back as its header alone": async (store) => {
    const held = await store.create(first)
    assert.deepEqual(held.header, first)
    assert.deepEqual(await store.read(first.id), { header: first, facts: [], lost: [] })
    await held.close()
    assert.deepEqual(await store.read(first.id), { header: first, facts: [], lost: [] })
  },

  "has every fact, in order, once `synced` says so, also while the session is held": async (store) => {
    const held = await store.create(first)
    const facts = [opened(1), said(2, "hello"), said(5, "world")]
    for (const fact of facts) held.append(fact)
    await held.synced()
    assert.deepEqual((await store.read(first.id)).facts, facts)
    await held.close()
  },

  "has every fact after `close`, without a call of `synced`": async (store) => {
    const held = await store.create(first)
    held.append(opened(1))
    await held.close()
    assert.deepEqual((await store.read(first.id)).facts, [opened(1)])
  },

  "stores a fact as it was when appended": async (store) => {
    const held = await store.create(first)
    const fact = said(1, "before") as Stamped<Extract<Fact, { type: "mail.sent" }>>
    held.append(fact)
    fact.text = "after"
    await held.close()
    assert.deepEqual((await store.read(first.id)).facts, [said(1, "before")])
  },

  "gives back any list of facts as it was": async (store) => {
    let count = 0
    const law = fc.asyncProperty(anyFacts(), async (facts) => {
      const header = headerOf(`session-law-${count++}`)
      const held = await store.create(header)
      for (const fact of facts) held.append(fact)
      await held.close()
      assert.deepEqual(await store.read(header.id), { header, facts, lost: [] })
      const again = await store.hold(header.id)
      await again.held.close()
      assert.deepEqual(again.stored, { header, facts, lost: [] })
    })
    await fc.assert(law, { numRuns: 60 })
  },

  "keeps the order of keys, so that a resumed request has the same bytes": async (store) => {
    const held = await store.create(first)
    const input = { zebra: "z".repeat(20_000), $blob: "mine", apple: 1 }
    const parts = [{ type: "call" as const, id: "c1", name: "write", input }]
    const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 5 }
    const fact: Stamped<Fact> = {
      seq: 1,
      at: 2,
      run: "r0",
      type: "turn.ended",
      parts,
      stop: "calls",
      usage,
      cost: null,
      ms: 3,
    }
    held.append(fact)
    await held.close()
    assert.equal(JSON.stringify((await store.read(first.id)).facts), JSON.stringify([fact]))
  },

  "never throws on `append`; a fact that cannot be stored makes `synced` reject for ever": async (store) => {
    const held = await store.create(first)
    held.append(opened(1))
    await held.synced()
    const endless: Record<string, unknown> = {}
    endless.self = endless
    held.append(Object.assign(said(2, "x"), { images: [endless] }))
    await assert.rejects(held.synced(), {
      name: "StoreError",
      code: "io",
      message: /could not store fact 2 \(mail\.sent\)/,
    })
    held.append(said(3, "too late"))
    await assert.rejects(held.synced(), { name: "StoreError", code: "io" })
    await assert.rejects(held.close(), { name: "StoreError", code: "io" })
    assert.deepEqual((await store.read(first.id)).facts, [opened(1)])
    await (await store.hold(first.id)).held.close()
  },

  "keeps texts in files of the session's own, each in its own, whatever it is named": async (store) => {
    const held = await store.create(first)
    const names = ["out.txt", "out.txt", "../../etc/passwd", "", "a/b\0c", ".hidden", "ü", "n".repeat(300)]
    const paths = await Promise.all(names.map((name, i) => held.keep(name, `text ${i} é`)))
    assert.equal(new Set(paths).size, names.length)
    const folders = new Set(paths.map((path) => path.slice(0, path.lastIndexOf("/"))))
    assert.equal(folders.size, 1)
    assert.deepEqual(
      await Promise.all(paths.map((path) => readFile(path, "utf8"))),
      names.map((_, i) => `text ${i} é`),
    )
    await held.close()
  },
}

const holding: Record<string, (store: Store) => Promise<void>> = {
  "goes on with a session that was closed": async (store) => {
    const held = await store.create(first)
    held.append(opened(1))
    await held.close()
    const again = await store.hold(first.id)
    assert.deepEqual(again.stored, { header: first, facts: [opened(1)], lost: [] })
    assert.deepEqual(again.held.header, first)
    again.held.append(said(2, "more"))
    await again.held.close()
    assert.deepEqual((await store.read(first.id)).facts, [opened(1), said(2, "more")])
  },

  "refuses a session that is held, and says by whom and what to do": async (store) => {
    const held = await store.create(first)
    const refusal = { name: "StoreError", code: "locked", message: /session-one is in use by .*close it there/ }
    await assert.rejects(store.hold(first.id), refusal)
    await held.close()
    const again = await store.hold(first.id)
    await assert.rejects(store.hold(first.id), refusal)
    await again.held.close()
  },

  "gives a session to one of many who want it at once": async (store) => {
    await (await store.create(first)).close()
    const tries = await Promise.allSettled(Array.from({ length: 10 }, () => store.hold(first.id)))
    const got = tries.flatMap((each) => (each.status === "fulfilled" ? [each.value.held] : []))
    assert.equal(got.length, 1)
    await got[0]!.close()
  },

  "can be closed twice, and takes nothing after that": async (store) => {
    const held = await store.create(first)
    await Promise.all([held.close(), held.close()])
    held.append(opened(1))
    await assert.rejects(held.synced(), { name: "StoreError", code: "io", message: /is closed; hold/ })
    const again = await store.hold(first.id)
    await held.close()
    await assert.rejects(store.hold(first.id), { code: "locked" })
    assert.deepEqual(again.stored.facts, [])
    await again.held.close()
  },

  "knows an unknown id, and names the nearest": async (store) => {
    await (await store.create(first)).close()
    const unknown = {
      name: "StoreError",
      code: "unknown_session",
      message: /session-ona; did you mean session-one\?.*list/,
    }
    await assert.rejects(store.hold("session-ona"), unknown)
    await assert.rejects(store.read("session-ona"), unknown)
    await assert.rejects(store.read("quite-another"), {
      message: /^there is no session quite-another; `legwork sessions list`/,
    })
  },

  "takes no id that is not plain": async (store) => {
    for (const id of [
      "",
      "short",
      "../../../etc/passwd",
      "UPPER-CASE",
      "-leading",
      "a".repeat(65),
      "with space",
      "nul\0-nul-nul",
      "eight/ht",
      "session-one\n",
    ]) {
      const refusal = { name: "StoreError", code: "unknown_session", message: /is not a session id/ }
      await assert.rejects(store.create(headerOf(id)), refusal)
      await assert.rejects(store.read(id), refusal)
      await assert.rejects(store.hold(id), refusal)
    }
    assert.deepEqual(await store.list(), [])
  },

  "does not create the same session twice": async (store) => {
    const held = await store.create(first)
    held.append(opened(1))
    await held.close()
    await assert.rejects(store.create(first), {
      code: "bad_session",
      message: /there is a session session-one already/,
    })
    assert.deepEqual((await store.read(first.id)).facts, [opened(1)])
    await (await store.hold(first.id)).held.close()
  },
}

const listing: Record<string, (store: Store) => Promise<void>> = {
  "lists nothing when there is nothing": async (store) => {
    assert.deepEqual(await store.list(), [])
  },

  "lists sessions by when they were last written, newest first": async (store) => {
    const one = await store.create(first)
    await (await store.create(second)).close()
    const order = async () => (await store.list()).map(({ header }) => header.id)
    for (let seq = 1; (await order())[0] !== first.id; seq++) {
      one.append(said(seq, "still here"))
      await one.synced()
    }
    assert.deepEqual(await order(), [first.id, second.id])
    await one.close()
  },

  "lists each session with its first prompt as a title and whether it is held": async (store) => {
    const one = await store.create(first)
    one.append(opened(1))
    one.append(said(2, "  fix the\n\tlogin \u001b[31mpage  "))
    one.append(said(3, "and then the logout page"))
    await one.synced()
    const two = await store.create(second)
    two.append(said(1, "x🐘".repeat(20_000)))
    await two.close()
    const listed = (await store.list()).map(({ header, title, running }) => ({ header, title, running }))
    assert.deepEqual(
      listed.sort((a, b) => a.header.at - b.header.at),
      [
        { header: first, title: "fix the login [31mpage", running: true },
        { header: second, title: `${"x🐘".repeat(39)}x…`, running: false },
      ],
    )
    for (const { bytes, updatedAt } of await store.list()) assert.ok(bytes > 0 && updatedAt > 0)
    await one.close()
  },
}
