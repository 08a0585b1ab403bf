import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { type TestContext, test } from "node:test"
import { needsFence, profileOf, ran } from "./fence.ts"

const usual = profileOf("/").env.PATH

/** A home with these files; those in a `bin` can be run. */
function homeWith(t: TestContext, files: Record<string, string>): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "legwork-home-")))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  mkdirSync(join(home, "work"))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), content)
    chmodSync(join(home, name), 0o755)
  }
  return home
}

test(
  "programs in the folders of PATH run although home is hidden, and nothing else of it is seen",
  needsFence,
  async (t) => {
    const home = homeWith(t, {
      ".tool/bin/tool": '#!/bin/sh\ncat "$(dirname "$0")/../lib/word"\n',
      ".tool/lib/word": "works\n",
      ".local/bin/mine": "#!/bin/sh\necho mine\n",
      ".local/share/keyrings/login": "SECRET",
      ".cargo/bin/cargo": "#!/bin/sh\necho cargo\n",
      ".cargo/credentials.toml": "SECRET",
      ".ssh/id": "SECRET",
      ".npmrc": "SECRET",
    })
    symlinkSync(join(home, ".tool"), join(home, "current"))
    const folders = ["current/bin", ".local/bin", ".cargo/bin"].map((name) => join(home, name))
    const env = { HOME: home, PATH: [...folders, usual].join(":") }
    const command = "tool; mine; cargo; grep -rs SECRET ~ ; ls -A ~ ~/.local; touch ~/ok && echo private"
    assert.deepEqual(await ran(command, profileOf(join(home, "work"), { env })), [
      `works\nmine\ncargo\n${home}:\n.cargo\n.local\n.tool\ncurrent\nwork\n\n${home}/.local:\nbin\nprivate\n`,
      0,
    ])
  },
)

test("a folder of PATH in the workspace does not show where a link in it leads", needsFence, async (t) => {
  const home = homeWith(t, { "private/notes": "SECRET" })
  symlinkSync(join(home, "private"), join(home, "work/bin"))
  const env = { HOME: home, PATH: `${join(home, "work/bin")}:${usual}` }
  assert.deepEqual(await ran("cat bin/notes ~/private/notes; ls -A ~", profileOf(join(home, "work"), { env })), [
    `cat: bin/notes: No such file or directory\ncat: ${home}/private/notes: No such file or directory\nwork\n`,
    0,
  ])
})

test("what the caller names stays visible, and can only be read", needsFence, async (t) => {
  const home = homeWith(t, { "state/output.txt": "kept\n", "other.txt": "SECRET" })
  const profile = profileOf(join(home, "work"), { env: { HOME: home, PATH: usual! }, readable: [join(home, "state")] })
  const [output] = await ran("cat ~/state/output.txt ~/other.txt; touch ~/state/x", profile)
  assert.equal(
    output,
    `kept\ncat: ${home}/other.txt: No such file or directory\ntouch: cannot touch '${home}/state/x': Read-only file system\n`,
  )
})

test("a home that is the workspace shows its files but no secrets", needsFence, async (t) => {
  const home = homeWith(t, {
    "notes.txt": "notes\n",
    ".ssh/id": "SECRET",
    ".netrc": "SECRET",
    ".config/x/token": "SECRET",
  })
  const env = { HOME: home, PATH: usual! }
  assert.deepEqual(
    await ran(
      "cat notes.txt; cat .ssh/id .netrc .config/x/token 2>/dev/null; grep -rs SECRET .; true",
      profileOf(home, { env }),
    ),
    ["notes\n", 0],
  )
})

test("temporary files have a place, also when /tmp itself is the workspace", needsFence, async () => {
  for (const root of ["/usr", "/tmp"].map((path) => realpathSync(path))) {
    assert.deepEqual(await ran('f=$(mktemp) && echo x > "$f" && cat "$f"', profileOf(root)), ["x\n", 0])
  }
})

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", args, { cwd, encoding: "utf8", env: { PATH: process.env.PATH, HOME: "/nonexistent" } })
const author = ["-c", "user.name=a", "-c", "user.email=a@b"]

test(
  "git works in a worktree, a submodule and a folder within a repository, wherever the rest of it is",
  needsFence,
  async (t) => {
    const home = homeWith(t, { "repo/sub/file": "one\n", "lib/code": "two\n" })
    const [repo, lib] = [join(home, "repo"), join(home, "lib")]
    for (const folder of [lib, repo]) {
      git(folder, "init", "-q", "-b", "main")
      git(folder, "add", "-A")
      git(folder, ...author, "commit", "-qm", "first")
    }
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "module")
    git(repo, ...author, "commit", "-qm", "module")
    git(repo, "worktree", "add", "-q", join(home, "tree"))
    const env = { HOME: home, PATH: usual! }
    const command = "git status --short --branch && git log --format=%s"
    const seen = await Promise.all(["sub", "module"].map((name) => ran(command, profileOf(join(repo, name), { env }))))
    assert.deepEqual(seen, [
      ["## main\nmodule\nfirst\n", 0],
      ["## main...origin/main\nfirst\n", 0],
    ])
    assert.deepEqual(await ran(command, profileOf(join(home, "tree"), { env })), ["## tree\nmodule\nfirst\n", 0])
    const written = await ran(
      `${command}; git commit -qm x --allow-empty`,
      profileOf(join(repo, "sub"), { env, level: "workspace-write" }),
    )
    assert.match(written[0], /^## main\nmodule\nfirst\n.*(Read-only file system|unable)/s)
  },
)

test("a .git file that points at something else opens nothing", needsFence, async (t) => {
  const home = homeWith(t, { "private/id": "SECRET", "private/HEAD": "", "work/.git": "gitdir: ../private\n" })
  const env = { HOME: home, PATH: usual! }
  assert.deepEqual(await ran("cat ~/private/id; ls -A ~", profileOf(join(home, "work"), { env })), [
    `cat: ${home}/private/id: No such file or directory\nwork\n`,
    0,
  ])
})

test(
  "a .git file that points at another repository's worktree or submodule opens nothing of it",
  needsFence,
  async (t) => {
    const home = homeWith(t, { "other/file": "one\n" })
    const other = join(home, "other")
    git(other, "init", "-q", "-b", "main")
    git(other, "add", "-A")
    git(other, ...author, "commit", "-qm", "SECRET")
    git(other, "-c", "protocol.file.allow=always", ...author, "submodule", "--quiet", "add", other, "module")
    git(other, "worktree", "add", "-q", join(home, "tree"))
    const env = { HOME: home, PATH: usual! }
    for (const [place, name] of [
      ["worktrees/tree", "tree"],
      ["modules/module", "other/module"],
    ] as const) {
      writeFileSync(join(home, "work/.git"), `gitdir: ${join(other, ".git", place)}\n`)
      const [stolen] = await ran("git log --format=%s; ls -A ~", profileOf(join(home, "work"), { env }))
      assert.equal(stolen, `fatal: not a git repository: ${join(other, ".git", place)}\nwork\n`)
      assert.deepEqual(await ran("git log --format=%s", profileOf(join(home, name), { env })), ["SECRET\n", 0])
    }
  },
)

test("what only root may read of the system is not read, whoever runs the command", needsFence, async () => {
  assert.deepEqual(await ran("cat /etc/shadow 2>/dev/null; head -n 1 /etc/passwd | cut -d: -f1", profileOf("/usr")), [
    "root\n",
    0,
  ])
})

test("the user's settings of git count, unless they hold a secret", needsFence, async (t) => {
  for (const [more, seen] of [
    ["", "Ada\n"],
    ['[url "https://me:pw@host/"]\n\tinsteadOf = x\n', ""],
    ["[http]\n\textraHeader = Authorization: Basic x\n", ""],
  ] as const) {
    const home = homeWith(t, { ".gitconfig": `[user]\n\tname = Ada\n${more}` })
    const profile = profileOf(join(home, "work"), { env: { HOME: home, PATH: usual! } })
    assert.deepEqual(await ran("git config user.name; true", profile), [seen, 0])
  }
})

test(
  "with the network a port is reached, names can be looked up, and sockets of the file system stay closed",
  needsFence,
  async (t) => {
    const heard: string[] = []
    const server = (name: string) =>
      createServer((socket) => {
        heard.push(name)
        socket.end("hello\n")
      })
    const [tcp, abstract] = [server("tcp"), server("abstract")]
    t.after(() => [tcp, abstract].map((each) => each.close()))
    const name = `legwork-${process.pid}`
    await Promise.all([once(tcp.listen(0, "127.0.0.1"), "listening"), once(abstract.listen(`\0${name}`), "listening")])
    const { port } = tcp.address() as { port: number }
    const connect = `perl -MSocket -e 'socketpair(S, T, AF_UNIX, SOCK_DGRAM, 0) or socket(S, AF_UNIX, SOCK_STREAM, 0) or die "$!\\n"'`
    const command = `cat </dev/tcp/127.0.0.1/${port}; cat /etc/resolv.conf >/dev/null && echo names; ${connect}; echo $npm_config_offline`
    const [output] = await ran(command, profileOf("/usr", { network: true }))
    assert.equal(output, "hello\nnames\nOperation not permitted\n\n")
    assert.deepEqual(heard, ["tcp"])
  },
)
