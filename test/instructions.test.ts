import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, test } from "node:test"
import { promisify } from "node:util"
import fc from "fast-check"
import { importsOf, instructions } from "../src/instructions.ts"

const base = await realpath(await mkdtemp(join(tmpdir(), "legwork-instructions-")))
after(() => rm(base, { recursive: true, force: true }))

let places = 0

async function place(files: Record<string, string>) {
  const root = join(base, `${places++}`, "repository")
  await mkdir(join(root, ".git"), { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), text)
  }
  return root
}

const warning = (file: string, message: string) => ({ severity: "warning", file, message })

test("a project without instructions gives an empty text", async () => {
  assert.deepEqual(await instructions(await place({})), { text: "", files: [], diagnostics: [] })
})

test("both files are read from the repository's root down to the working folder, and none beside the way", async () => {
  const root = await place({
    "AGENTS.md": "root agents\n",
    "CLAUDE.md": "root claude",
    "packages/one/AGENTS.md": "\ufeffone\r\nagents",
    "packages/two/AGENTS.md": "two",
  })
  await writeFile(join(dirname(root), "AGENTS.md"), "beyond")
  assert.deepEqual(await instructions(join(root, "packages", "one")), {
    text: [
      "# Instructions: AGENTS.md\n\nroot agents",
      "# Instructions: CLAUDE.md\n\nroot claude",
      "# Instructions: packages/one/AGENTS.md\n\none\nagents",
    ].join("\n\n"),
    files: [
      { path: "AGENTS.md", bytes: 11 },
      { path: "CLAUDE.md", bytes: 11 },
      { path: "packages/one/AGENTS.md", bytes: 10 },
    ],
    diagnostics: [],
  })
})

test("outside a repository only the working folder's own files count", async () => {
  const root = await place({ "AGENTS.md": "above", "inner/AGENTS.md": "here" })
  await rm(join(root, ".git"), { recursive: true })
  assert.equal((await instructions(join(root, "inner"))).text, "# Instructions: AGENTS.md\n\nhere")
})

test("the same text is told once: copies, links and stubs that only import", async () => {
  const once = { text: "# Instructions: AGENTS.md\n\nrules", files: [{ path: "AGENTS.md", bytes: 5 }], diagnostics: [] }
  assert.deepEqual(await instructions(await place({ "AGENTS.md": "rules", "CLAUDE.md": " rules\n" })), once)
  assert.deepEqual(await instructions(await place({ "AGENTS.md": "rules", "CLAUDE.md": "@AGENTS.md\n" })), once)
  assert.deepEqual(await instructions(await place({ "AGENTS.md": "rules", "CLAUDE.md": "\n" })), once)
  const linked = await place({ "AGENTS.md": "rules" })
  await symlink("AGENTS.md", join(linked, "CLAUDE.md"))
  assert.deepEqual(await instructions(linked), once)
})

test("a stub whose import is not there is told as it is", async () => {
  assert.deepEqual(await instructions(await place({ "CLAUDE.md": "@gone.md" })), {
    text: "# Instructions: CLAUDE.md\n\n@gone.md",
    files: [{ path: "CLAUDE.md", bytes: 8 }],
    diagnostics: [warning("CLAUDE.md", "@gone.md is not there; it is not imported")],
  })
})

test("imports follow the text that names them, relative to its folder, and may go round in circles", async () => {
  const root = await place({
    "CLAUDE.md": "See @docs/style.md, and ask @alice or use @types/node.",
    "docs/style.md": "style, more in @deeper.md",
    "docs/deeper.md": "deeper, back to @../CLAUDE.md",
  })
  const { text, diagnostics } = await instructions(root)
  assert.deepEqual(
    { text, diagnostics },
    {
      text: [
        "# Instructions: CLAUDE.md\n\nSee @docs/style.md, and ask @alice or use @types/node.",
        "# Instructions: docs/style.md\n\nstyle, more in @deeper.md",
        "# Instructions: docs/deeper.md\n\ndeeper, back to @../CLAUDE.md",
      ].join("\n\n"),
      diagnostics: [],
    },
  )
})

test("imports in code are no imports", () => {
  const text = [
    "@a.md (@b.md) mail me@c.md `@d.md` ``x ` @e.md`` \\@f.md",
    "```sh\n@g.md\n```",
    "~~~\n@h.md\n```\n@i.md\n~~~",
    "a ` alone\n\n@j.md and ` again",
    "```@k.md```",
    "````\n@l.md\n```\n@m.md\n````\n@n.md!",
    "```\nx\n```\n@p.md\n```\nx\n```",
    "```\n@o.md",
  ].join("\n")
  assert.deepEqual(importsOf(text), { imports: ["a.md", "b.md", "j.md", "n.md", "p.md"], others: true })
  assert.deepEqual(importsOf("@a.md\n@b.md"), { imports: ["a.md", "b.md"], others: false })
  assert.deepEqual(importsOf("@a.md\n`code`").others, true)
})

test("nothing outside the project is imported, whichever way it is named", async () => {
  const root = await place({
    "AGENTS.md": "@../secret.md @~/secret.md @link.md @folder/secret.md",
    "CLAUDE.md": "",
  })
  const secret = join(dirname(root), "secret.md")
  await writeFile(secret, "secret")
  await writeFile(join(root, "CLAUDE.md"), `see @${secret}`)
  await symlink(secret, join(root, "link.md"))
  await symlink(dirname(root), join(root, "folder"))
  const { files, diagnostics } = await instructions(root)
  assert.deepEqual(files, [
    { path: "AGENTS.md", bytes: 53 },
    { path: "CLAUDE.md", bytes: 5 + secret.length },
  ])
  const out = "leads out of the project; it is not imported"
  assert.deepEqual(diagnostics, [
    warning("AGENTS.md", `@../secret.md ${out}`),
    warning("AGENTS.md", "@~/secret.md is not there; it is not imported"),
    warning("AGENTS.md", `@link.md ${out}`),
    warning("AGENTS.md", `@folder/secret.md ${out}`),
    warning("CLAUDE.md", `@${secret} ${out}`),
  ])
})

test("pipes, folders and binary files are left out, and nothing waits for them", async () => {
  const root = await place({ "AGENTS.md": "@pipe.md @folder @binary.txt here", "folder/x": "", "binary.txt": "a\0b" })
  await promisify(execFile)("mkfifo", [join(root, "pipe.md")])
  await mkdir(join(root, "CLAUDE.md"))
  const { files, diagnostics } = await instructions(root)
  assert.deepEqual(files, [{ path: "AGENTS.md", bytes: 33 }])
  assert.deepEqual(diagnostics, [
    warning("AGENTS.md", "@pipe.md is not a regular file; it is not imported"),
    warning("AGENTS.md", "@binary.txt is not text; it is not imported"),
    warning("CLAUDE.md", "is not a regular file; it is left out"),
  ])
})

test("imports go five deep and no deeper", async () => {
  const chain = Array.from({ length: 7 }, (_, n) => [`${n}.md`, `level ${n} @${n + 1}.md`])
  const { files, diagnostics } = await instructions(
    await place({ "AGENTS.md": "top @0.md", ...Object.fromEntries(chain) }),
  )
  assert.deepEqual(
    files.map(({ path }) => path),
    ["AGENTS.md", "0.md", "1.md", "2.md", "3.md", "4.md"],
  )
  assert.deepEqual(diagnostics, [warning("4.md", "@5.md is more than 5 imports deep; it is not imported")])
})

test("a long file is cut after a whole line, and says so", async () => {
  const root = await place({ "AGENTS.md": "first\nsecond\nthird\n", "CLAUDE.md": "ééééé" })
  assert.deepEqual(await instructions(root, { file: 15 }), {
    text: [
      "# Instructions: AGENTS.md\n\nfirst\nsecond\n\n[cut: 12 of 19 bytes; read AGENTS.md for the rest]",
      "# Instructions: CLAUDE.md\n\nééééé",
    ].join("\n\n"),
    files: [
      { path: "AGENTS.md", bytes: 12 },
      { path: "CLAUDE.md", bytes: 10 },
    ],
    diagnostics: [warning("AGENTS.md", "is too long; 12 of 19 bytes are used")],
  })
  const { text } = await instructions(root, { file: 5 })
  assert.match(text, /\n\néé\n\n\[cut: 4 of 10 bytes; read CLAUDE\.md for the rest\]$/)
})

test("all files together are bounded, in bytes and in number", async () => {
  const root = await place({ "AGENTS.md": "0123456789", "CLAUDE.md": "abcdefghij", "a/AGENTS.md": "more" })
  const { files, diagnostics } = await instructions(join(root, "a"), { total: 14 })
  assert.deepEqual(files, [
    { path: "AGENTS.md", bytes: 10 },
    { path: "CLAUDE.md", bytes: 4 },
  ])
  assert.deepEqual(diagnostics, [
    warning("CLAUDE.md", "is too long; 4 of 10 bytes are used"),
    warning("a/AGENTS.md", "is left out: the others are too long"),
  ])
  const few = await instructions(join(root, "a"), { files: 2 })
  assert.deepEqual(few.diagnostics, [warning("a/AGENTS.md", "comes after 2 others; it is left out")])
})

test("characters that hide or reorder text are taken out", async () => {
  const root = await place({ "AGENTS.md": "be\u001b[8m kind\u202e\u{e0041}\u0007\tand\u200d brief" })
  assert.equal((await instructions(root)).text, "# Instructions: AGENTS.md\n\nbe[8m kind\tand\u200d brief")
})

test("law: whatever the files say, the text stays within its bounds and nothing is told twice", async () => {
  const names = ["AGENTS.md", "CLAUDE.md", "a/AGENTS.md", "a/x.md", "y.md"]
  const words = fc.array(fc.constantFrom("@x.md", "@../y.md", "@y.md", "@a/x.md", "word", "é", "\n", "`", "```", " "))
  const contents = fc.tuple(...names.map(() => words.map((each) => each.join(" "))))
  await fc.assert(
    fc.asyncProperty(contents, async (texts) => {
      const root = await place(Object.fromEntries(names.map((name, n) => [name, texts[n] ?? ""])))
      const { files } = await instructions(join(root, "a"), { file: 40, total: 100 })
      assert.ok(files.every(({ bytes }) => bytes > 0 && bytes <= 40))
      assert.ok(files.reduce((sum, { bytes }) => sum + bytes, 0) <= 100)
      assert.equal(new Set(files.map(({ path }) => path)).size, files.length)
    }),
    { numRuns: 100 },
  )
})
