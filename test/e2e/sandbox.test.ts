import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { mkdir, readdir, readFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { basename, join } from "node:path"
import { type TestContext, test } from "node:test"
import { setImmediate } from "node:timers/promises"
import { findSandbox } from "../../src/sandbox/sandbox.ts"
import { call, type Script } from "../../src/testing.ts"
import { bin, type Home, home, type Running } from "./binary.ts"
import { stage } from "./chain.ts"

const found = await findSandbox({ env: process.env })()
const needsFence = { skip: found.ok ? false : `${found.why}; ${found.fix}` }

const files = { "a.txt": "alpha\n", "src/b.txt": "beta\n", "../outside.txt": "out\n" }

/** A repository with a commit, and a file beside it. */
async function repository(t: TestContext): Promise<Home> {
  const place = await home(t, files)
  committed(place)
  return place
}

function committed({ work }: Home): void {
  const env = { PATH: process.env.PATH, HOME: work, GIT_CONFIG_NOSYSTEM: "1" }
  for (const words of ["init --quiet", "add .", "-c user.name=a -c user.email=a@example.org commit --quiet -m one"])
    execFileSync("git", words.split(" "), { cwd: work, env })
}

const sandbox = (...command: string[]): string[] => ["sandbox", "--", ...command]
const line = (text: string, ...options: string[]): string[] => ["sandbox", ...options, "--", "bash", "-c", text]

/** Every file around the workspace with what is in it. */
async function contents({ work }: Home): Promise<Record<string, string>> {
  const top = join(work, "..")
  const entries = await readdir(top, { recursive: true, withFileTypes: true })
  const paths = entries.filter((each) => each.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const kept = paths.filter((path) => !path.includes("/state/")).sort()
  return Object.fromEntries(await Promise.all(kept.map(async (path) => [path, await readFile(path, "latin1")])))
}

test("exit codes, both outputs, input and arguments pass through as they are", needsFence, async (t) => {
  const { run } = await repository(t)
  const odd = ["--network", "-x", "--", "--profile=off", "", " two  words ", "it's", '"$HOME"', "line\nline", "é"]
  for (const [args, expected, input] of [
    [sandbox("true"), [0, "", ""]],
    [sandbox("false"), [1, "", ""]],
    [line("exit 42"), [42, "", ""]],
    [line("echo one; echo two >&2; exit 3"), [3, "one\n", "two\n"]],
    [line("kill -TERM $$"), [143, "", ""]],
    [line("kill -KILL $$"), [137, "", ""]],
    [sandbox("cat", "-", "a.txt"), [0, "given\nalpha\n", ""], "given\n"],
    [sandbox("printf", "<%s>", ...odd), [0, odd.map((word) => `<${word}>`).join(""), ""]],
    [line("seq 1 100000 | tail -n 1; printf '%0100000d' 0"), [0, `100000\n${"0".repeat(100_000)}`, ""]],
  ] as const) {
    const { code, stdout, stderr } = await run([...args], input === undefined ? {} : { input })
    assert.deepEqual([code, stdout, stderr], expected, args.join(" "))
  }
})

test(
  "a command that is not there ends with 127, one that cannot be run with 126; no command at all is wrong usage",
  needsFence,
  async (t) => {
    const { run, work } = await repository(t)
    for (const name of ["no-such-command", "./no-such-file", "-x", "~/.bashrc"]) {
      const { code, stdout, stderr } = await run(sandbox(name, "word"))
      assert.deepEqual([code, stdout, stderr], [127, "", `legwork: there is no command ${name} in the sandbox\n`])
    }
    for (const name of ["./a.txt", work]) {
      const { code, stdout, stderr } = await run(sandbox(name))
      assert.deepEqual([code, stdout, stderr.includes(basename(name))], [126, "", true], stderr)
    }
    for (const args of [["sandbox"], ["sandbox", "--"], ["sandbox", "--profile", "off", "--", "true"]]) {
      const { code, stdout, stderr } = await run(args)
      assert.deepEqual([code, stdout, stderr !== ""], [2, "", true])
    }
  },
)

test("a file that is given as input can only be read", needsFence, async (t) => {
  const { work, env } = await repository(t)
  const line = '"$0" sandbox -- bash -c "cat; echo x > /proc/self/fd/0; echo x > /dev/stdin; true" < a.txt'
  const stdout = execFileSync("bash", ["-c", line, bin], {
    cwd: work,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  })
  assert.deepEqual([stdout, await readFile(join(work, "a.txt"), "utf8")], ["alpha\n", "alpha\n"])
})

const inside = ["a.txt", "new.txt", "src/new.txt"]
const guarded = [".git/hooks/pre-commit", ".git/config", ".legwork/settings.json", ".claude/settings.json"]
const outside = [
  "../outside.txt",
  "../new.txt",
  "$HOME/.bashrc",
  "/tmp/legwork-e2e-new.txt",
  "/etc/legwork-e2e-new.txt",
]

for (const [profile, writable] of [
  ["read-only", []],
  ["workspace-write", inside],
] as const) {
  test(`in the fence ${profile} only what may be written changes`, needsFence, async (t) => {
    const place = await repository(t)
    for (const folder of [".legwork", ".claude"]) await mkdir(join(place.work, folder))
    const before = await contents(place)
    const paths = [...inside, ...guarded, ...outside].map((path) => `"${path}"`).join(" ")
    const script = `for path in ${paths}; do if echo x > "$path"; then echo "$path"; fi; done`
    const { stdout } = await place.run(line(script, "--profile", profile))
    const written = stdout.split("\n").filter((path) => inside.includes(path) || guarded.includes(path))
    assert.deepEqual(written, writable)
    const changed = Object.fromEntries(writable.map((path) => [join(place.work, path), "x\n"]))
    assert.deepEqual(await contents(place), { ...before, ...changed })
    for (const path of outside.slice(-2)) await assert.rejects(readFile(path), { code: "ENOENT" })
  })
}

test("secrets and other people's files are not there inside", needsFence, async (t) => {
  const { run } = await repository(t)
  const env = { ANTHROPIC_API_KEY: "sk-secret", MY_TOKEN: "secret", LANG: "C.UTF-8" }
  const { stdout } = await run(line("env; tr '\\0' '\\n' < /proc/1/environ; cat ../outside.txt ~/outside.txt"), { env })
  assert.doesNotMatch(stdout, /secret|^out$/m)
  assert.match(stdout, /^LANG=C\.UTF-8$/m)
})

test("the network is there only when it is asked for", needsFence, async (t) => {
  const server = createServer((_, response) => response.end("reached\n")).listen(0, "127.0.0.1")
  t.after(() => server.close())
  await once(server, "listening")
  const { run } = await repository(t)
  const { port } = server.address() as AddressInfo
  const fetching = `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && tail -n 1 <&3`
  const without = await run(line(fetching))
  assert.deepEqual([without.code, without.stdout], [1, ""])
  const { code, stdout, stderr } = await run(line(fetching, "--network"))
  assert.deepEqual([code, stdout, stderr], [0, "reached\n", ""])
})

/** The processes that have this word among their arguments. */
async function alive(word: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name))
  const lines = pids.map(async (pid) =>
    (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).includes(word) ? [pid] : [],
  )
  return (await Promise.all(lines)).flat()
}

/** A command that has begun to wait, with others in the background. */
async function napping({ start }: Home): Promise<{ running: Running; nap: string }> {
  const nap = `1000.${process.pid}${Math.floor(Math.random() * 1e6)}`
  const running = start(line(`setsid sleep ${nap} & sleep ${nap} & echo up; sleep ${nap}`))
  await once(running.child.stdout!, "data")
  return { running, nap }
}

for (const [signal, code] of [
  ["SIGTERM", 143],
  ["SIGINT", 130],
  ["SIGHUP", 129],
  ["SIGKILL", null],
] as const) {
  test(`${signal} ends the command and all that it started`, needsFence, async (t) => {
    const { running, nap } = await napping(await repository(t))
    assert.notDeepEqual(await alive(nap), [])
    running.child.kill(signal)
    assert.equal((await running.done).code, code)
    const deadline = performance.now() + 2_000
    while ((await alive(nap)).length > 0 && performance.now() < deadline) await setImmediate()
    assert.deepEqual(await alive(nap), [])
  })
}

const reading = [
  "cat a.txt",
  "git log --format=%s",
  "find . -name '*.txt' | sort",
  "sed -n 1p src/b.txt",
  "wc -l < a.txt",
]
const writing = [
  "echo x > a.txt",
  "rm -rf src",
  "sed -i s/alpha/omega/ a.txt",
  "git commit --allow-empty -m two",
  "python3 -c \"open('new', 'w')\" || node -e \"fs.writeFileSync('new', '')\"",
  "ln -s /etc evil; (setsid touch later &); mv a.txt b.txt",
  // What lies around the workspace is private to the command, so this succeeds and has no effect.
  "cd .. && touch outside.txt new",
]

for (const mode of ["default", "bypass"]) {
  test(`the shell of explore reads and cannot write, without a question, in mode ${mode}`, needsFence, async (t) => {
    const script: Script = ({ system, messages }) => {
      if (messages.length > 1) return "end"
      if (!system.includes("You are a subagent")) return [call("task", { prompt: "look", subagent_type: "explore" })]
      return [...reading, ...writing].map((command) => call("bash", { command }))
    }
    const place = await stage(t, script, { files })
    committed(place)
    const plainly = reading.map((text) =>
      execFileSync("bash", ["-c", text], { cwd: place.work, encoding: "utf8" }).trimEnd(),
    )
    const before = await contents(place)
    const ran = await place.go([
      "-p",
      "go",
      "--model",
      "anthropic/any",
      "--output-format",
      "json",
      "--permission-mode",
      mode,
    ])
    const { refused } = JSON.parse(ran.stdout)
    assert.deepEqual(refused, [])
    const explored = place.server.requests.findLast(({ system }) => system.includes("You are a subagent"))!
    const told = explored.messages.flatMap(({ role, text }) => (role === "result" ? [text] : []))
    assert.deepEqual(told.slice(0, reading.length), plainly)
    for (const text of told.slice(reading.length, -1)) assert.match(text, /exit code \d+$/)
    assert.deepEqual(await contents(place), before)
  })
}
