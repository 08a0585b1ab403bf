import assert from "node:assert/strict"
import { mkdir, readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import type { Output } from "../../src/agent/scope.ts"
import { bash } from "../../src/tools/bash.ts"
import type { World } from "../../src/tools/world.ts"
import { type Desk, desk, useOf } from "./desk.ts"

type Options = NonNullable<Parameters<typeof bash>[1]>

const PATH = process.env.PATH ?? ""
const shell =
  (options: Options = {}, env: NodeJS.ProcessEnv = { PATH }) =>
  (world: World) =>
    bash({ ...world, env }, options)

async function say(t: TestContext, command: string, input = {}): Promise<Output> {
  return await (await desk(t)).call(shell(), { command, ...input })
}

const details = (command: string, end = {}) => ({
  kind: "command",
  command,
  exit: 0,
  signal: null,
  timedOut: false,
  ...end,
})

/** Runs with live output and returns both. */
async function shown(at: Desk, command: string, options: Options = {}) {
  const shows: string[] = []
  const tool = shell(options)(at.world)
  const output = await tool.run(
    tool.input.parse({ command }),
    useOf({ root: at.root, show: (text) => shows.push(text) }),
  )
  return { output, shows }
}

test("a command runs in the run's own folder, and its output comes back", async (t) => {
  const at = await desk(t)
  assert.deepEqual(await at.call(shell(), { command: "pwd" }), { ok: true, text: at.root, details: details("pwd") })
})

test("each command has a fresh shell", async (t) => {
  const at = await desk(t)
  await at.call(shell(), { command: "cd /; export LEFT=over; alias ls=false; set -e" })
  assert.deepEqual(
    (await at.call(shell(), { command: "pwd; echo [$LEFT]; false; type ls" })).text.split("\n").slice(0, 2),
    [at.root, "[]"],
  )
})

test("a command without output says so", async (t) => {
  assert.deepEqual(await say(t, ":"), { ok: true, text: "(no output)", details: details(":") })
})

test("a failure names the exit code after the output", async (t) => {
  const command = "echo oops >&2; exit 3"
  assert.deepEqual(await say(t, command), {
    ok: false,
    text: "oops\n\nexit code 3",
    details: details(command, { exit: 3 }),
  })
})

test("a signal is named, whether it killed the shell or the last command", async (t) => {
  assert.deepEqual(await say(t, "kill -KILL $$"), {
    ok: false,
    text: "(no output)\n\nkilled by SIGKILL",
    details: details("kill -KILL $$", { exit: null, signal: "SIGKILL" }),
  })
  assert.match((await say(t, "bash -c 'kill -SEGV $$'; exit $?")).text, /\n\nexit code 139 \(killed by SIGSEGV\)$/)
})

test("a timeout keeps what was printed and says so", async (t) => {
  const command = "echo begun; sleep 1000"
  assert.deepEqual(await say(t, command, { timeout: 300 }), {
    ok: false,
    text: "begun\n\ntimed out after 300 ms and was killed; what it had printed is above. A longer timeout (up to 600000) or a smaller task may help.",
    details: details(command, { exit: null, signal: "SIGTERM", timedOut: true }),
  })
})

test("an abort keeps what was printed", async (t) => {
  const at = await desk(t)
  const abort = new AbortController()
  const tool = shell()(at.world)
  const use = useOf({ root: at.root, signal: abort.signal, show: () => abort.abort() })
  const output = await tool.run(tool.input.parse({ command: "echo begun; sleep 1000" }), use)
  assert.deepEqual([output.ok, output.text], [false, "begun\n\nstopped before it ended; what it had printed is above"])
})

test("timeouts beyond ten minutes, empty commands and unknown fields are refused", async (t) => {
  const at = await desk(t)
  for (const input of [
    { command: ":", timeout: 600_001 },
    { command: ":", timeout: 0 },
    { command: "" },
    { command: ":", cwd: "/" },
    {},
  ]) {
    assert.equal((await at.call(shell(), input)).details, undefined)
  }
})

test("commands that the system cannot take are refused with what to do instead", async (t) => {
  assert.equal((await say(t, "echo \0")).text, "the command holds a NUL character; leave it out")
  const long = await say(t, `echo ${"x".repeat(140_000)}`)
  assert.equal(long.text, "the command is longer than 130000 bytes; write it to a file and run that")
  assert.equal((await say(t, `echo ${"x".repeat(129_000)} | wc -c`)).text, "129001")
})

test("a working folder that is gone, and a bash that is not there, are told apart", async (t) => {
  const at = await desk(t)
  const folder = join(at.root, "empty")
  await mkdir(folder)
  const nowhere = await at.call(shell({}, { PATH: folder }), { command: ":" })
  assert.deepEqual(nowhere, { ok: false, text: "bash was not found in PATH; install it, or mend PATH" })
  await rm(at.root, { recursive: true })
  const gone = await at.call(shell(), { command: ":" })
  assert.deepEqual(gone, { ok: false, text: `the working folder ${at.root} is gone; nothing was run` })
})

test("there is no terminal to hang on", async (t) => {
  const { text } = await say(
    t,
    "test -t 0 || test -t 1 || echo none; read -r x; echo [$x]; (exec </dev/tty) 2>/dev/null || echo no tty",
  )
  assert.equal(text, "none\n[]\nno tty")
})

test("long output keeps its head and tail, and the file that is named has all of it", async (t) => {
  const { ok, text } = await say(t, "seq 1 100000")
  assert.equal(ok, true)
  const all = `${Array.from({ length: 100_000 }, (_, i) => i + 1).join("\n")}\n`
  const [, left, total, path] =
    /\n\n\[(\d+) of (\d+) characters left out here; all of it is in (\S+): read/.exec(text) ?? []
  assert.equal(Number(total), all.length)
  assert.equal(Number(left), all.length - 50_000)
  assert.ok(text.startsWith(all.slice(0, 25_000)) && text.endsWith(all.slice(-25_000).trimEnd()))
  assert.equal(await readFile(path!, "utf8"), all)
})

test("an endless flood is cut off, with its memory bounded and few live messages", async (t) => {
  const began = performance.now()
  const before = process.memoryUsage().rss
  const { output, shows } = await shown(await desk(t), "yes legwork", { limit: 32_000_000 })
  const grown = process.memoryUsage().rss - before
  assert.equal(output.ok, false)
  assert.match(output.text, /\n\nkilled: its output went over 32000000 bytes\. Filter it, or send it to a file\.$/)
  assert.ok(output.text.length < 51_000, `${output.text.length}`)
  assert.ok(shows.length <= (performance.now() - began) / 50 + 1, `${shows.length}`)
  assert.ok(shows.every((text) => text.length <= 4_000))
  assert.ok(grown < 200_000_000, `${grown}`)
})

test("a line without an end is cut like any other output", async (t) => {
  const { output } = await shown(await desk(t), "head -c 3000000 /dev/zero | tr '\\0' x")
  assert.match(output.text, /^x{25000}\n\n\[2950000 of 3000000 characters left out here; .*\]\n\nx{25000}$/)
})

test("bytes that are no text become replacement signs, and letters cut in two by a chunk stay whole", async (t) => {
  assert.equal((await say(t, "printf 'a\\xff\\xfeb\\0c'")).text, "a\ufffd\ufffdbc")
  assert.equal((await say(t, "printf '\\xe2\\x82'; sleep 0.05; printf '\\xac\\n'")).text, "€")
  assert.equal((await say(t, "head -c 200000 /dev/urandom")).ok, true)
})

test("escapes of the terminal are taken out, also when a chunk cuts them in two, live and in the end", async (t) => {
  const command =
    "printf '\\033[1;31mred\\033[0m \\033]0;title\\007\\033]8;;http://x\\033\\\\link\\033]8;;\\033\\\\\\b\\n\\033['; sleep 0.1; printf '2Kend\\n'"
  const { output, shows } = await shown(await desk(t), command)
  assert.equal(output.text, "red link\nend")
  assert.equal(shows.join(""), "red link\nend\n")
})

test("a line that was written over shows its last state", async (t) => {
  assert.equal(
    (await say(t, "printf '10%%\\r50%%\\r'; sleep 0.05; printf '100%%\\r\\nnext\\r\\n\\rlast\\r'")).text,
    "100%\nnext\nlast",
  )
})

test("live output comes while the command runs", async (t) => {
  const at = await desk(t)
  const tool = shell()(at.world)
  const { promise, resolve } = Promise.withResolvers<string>()
  const end = tool.run(
    tool.input.parse({ command: "echo ready; until [ -e go ]; do sleep 0.01; done; echo went" }),
    useOf({ root: at.root, show: resolve }),
  )
  assert.equal(await promise, "ready\n")
  await at.put({ go: "" })
  assert.equal((await end).text, "ready\nwent")
})

test("secrets are hidden in the kept file too, also where output comes in pieces that tear them apart", async (t) => {
  const { text } = await say(t, "for n in $(seq 2000); do printf SES; printf 'AME %040d\\n' $n; done")
  const kept = await readFile(/all of it is in (\S+):/.exec(text)![1]!, "utf8")
  assert.deepEqual([kept.includes("SESAME"), kept.split("\n").length], [false, 2001])
})

test("a full disk costs the kept text, not the result", async (t) => {
  const at = await desk(t)
  const keep = () => Promise.reject(new Error("ENOSPC: no space left on device"))
  const output = await at.call((world) => bash({ ...world, env: { PATH }, keep }), { command: "seq 1 100000" })
  assert.equal(output.ok, true)
  assert.match(
    output.text,
    /characters left out here; the whole could not be kept in a file: ENOSPC: no space left on device\]/,
  )
})

test("closed outputs are nothing special", async (t) => {
  assert.equal((await say(t, "exec >&- 2>&-; sleep 0.05; exit 4")).text, "(no output)\n\nexit code 4")
  assert.equal((await say(t, "yes | head -n 1")).text, "y")
})

test("commands inherit no secrets, only what is listed and what settings add", async (t) => {
  const at = await desk(t)
  const env = {
    PATH,
    HOME: "/home/me",
    LC_TIME: "C",
    XDG_CACHE_HOME: "/cache",
    XDG_SESSION_TOKEN: "secret",
    ANTHROPIC_API_KEY: "secret",
    DATABASE_URL: "postgres://me:secret@db",
    MY_FLAG: "1",
    MY_TOKEN: "secret",
    NODE_OPTIONS: "--require ./evil.js",
    BASH_ENV: "/evil.sh",
    HTTPS_PROXY: "http://me:secret@proxy:3128",
    no_proxy: "localhost,.me",
    TERM: "xterm-256color",
  }
  const { text } = await at.call(shell({ allow: ["MY_FLAG", "MY_TOKEN"] }, env), {
    command: "env | sort | grep -vE '^(_|PWD|OLDPWD|SHLVL|PATH|LEGWORK_CALL)='",
  })
  assert.deepEqual(text.split("\n").sort(), [
    "DEBIAN_FRONTEND=noninteractive",
    "GIT_PAGER=cat",
    "GIT_TERMINAL_PROMPT=0",
    "HOME=/home/me",
    "HTTPS_PROXY=http://proxy:3128",
    "LC_TIME=C",
    "LEGWORK=1",
    "MY_FLAG=1",
    "PAGER=cat",
    "TERM=dumb",
    "XDG_CACHE_HOME=/cache",
    "no_proxy=localhost,.me",
  ])
})

test("what it wants to touch is the command itself", async (t) => {
  assert.deepEqual(await (await desk(t)).access(shell(), { command: "rm -r build" }), {
    kind: "run",
    command: "rm -r build",
  })
})
