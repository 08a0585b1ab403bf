import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { text } from "node:stream/consumers"
import { profileFor } from "../../src/sandbox/profile.ts"
import { findSandbox } from "../../src/sandbox/sandbox.ts"

/** Ways to what may not be read. Each prints the word `secret` where nothing is in its way. */
export const peeks: Record<string, string> = {
  "by name": "cat .env",
  "a pattern of the shell": "cat .e*",
  "a question mark": "cat .en?",
  "a choice": "cat {.env,a.txt}",
  "a substitution": "cat $(echo .env)",
  "a variable": "n=.env; cat $n",
  "grep -r": "grep -r KEY .",
  "grep of everything": "grep -h '' .* 2>/dev/null",
  "find -exec": "find . -name .env -exec cat {} +",
  xargs: "ls -A | xargs cat",
  "an input": "cat < .env",
  "the shell itself": 'while read -r line; do echo "$line"; done < .env',
  source: '. ./.env; echo "$KEY"',
  tar: "tar cf - .env | tar xOf -",
  "another folder": "cd sub && cat ../.env",
  "an absolute path": 'cat "$PWD/.env"',
  "through /proc": "cat /proc/self/cwd/.env",
  "through the root of a process": "cat /proc/$$/root/$PWD/.env",
  "a link": "cat link",
  "a link to its folder": "cat here/.env",
  "another name": "cat twin",
  "a new link": 't=$(mktemp -d); ln -s "$PWD/.env" "$t/new"; cat "$t/new"; rm -r "$t"',
  "a link with a denied name": "cat behind",
  "in a folder": "cat secrets/deep/token",
  "all of a folder": "cat secrets/*; ls secrets; find secrets -type f -exec cat {} +",
  "below any folder": "cat sub/deep/server.pem sub/deep/OTHER.PEM",
  "after new rights": "chmod 777 .env secrets; cat .env secrets/deep/token",
  "after mounting anew": "umount -l .env secrets; mount -o remount,rw secrets; cat .env secrets/deep/token",
  node: `node -e 'console.log(fs.readFileSync(".env", "utf8"))'`,
  perl: `perl -e 'open F, ".env"; print <F>'`,
}

/** What works only where files can be written. */
export const moves: Record<string, string> = {
  "a move": "mv .env moved; cat moved",
  "a copy": "cp .env copied; cat copied",
  "a hard link": "ln .env linked; cat linked",
  "a folder moved": "mv sub other; cat other/deep/server.pem",
  "a deep folder moved": "mv sub/deep other; cat other/server.pem",
  "a swap": "mv secrets old; mkdir secrets; cat old/deep/token",
  "a removal": "rm -rf .env secrets/deep sub/deep/server.pem; git checkout -q -- .env; cat .env",
}

const hidden = ["./.env", "secrets/**", "**/*.pem", "behind"]

function filled(): string {
  const work = realpathSync(mkdtempSync(join(tmpdir(), "legwork-peek-")))
  const put = (path: string, content: string) => {
    mkdirSync(dirname(join(work, path)), { recursive: true })
    writeFileSync(join(work, path), content)
  }
  put(".env", "KEY=secret\n")
  put("a.txt", "KEY=open\n")
  for (const path of ["secrets/deep/token", "sub/deep/server.pem", "sub/deep/OTHER.PEM", "far/aim"])
    put(path, "secret\n")
  linkSync(join(work, ".env"), join(work, "twin"))
  for (const [target, path] of [
    [".env", "link"],
    [".", "here"],
    ["far/aim", "behind"],
  ] as const)
    symlinkSync(target, join(work, path))
  return work
}

const precious = [".env", "secrets/deep/token", "sub/deep/server.pem", "sub/deep/OTHER.PEM", "far/aim"]

const isWhole = (work: string): boolean =>
  precious.every((path) => existsSync(join(work, path)) && readFileSync(join(work, path), "utf8").includes("secret"))

/** A program of its own, so that it can be another user's. Prints which ways led where they should not, as JSON. */
async function main(): Promise<unknown> {
  const found = await findSandbox({ env: process.env })()
  if (!found.ok) throw new Error(`${found.why}; ${found.fix}`)
  const results: Record<string, string[]> = {}
  for (const [mode, commands] of [
    ["bare", { ...peeks, ...moves }],
    ["read-only", { ...peeks, ...moves }],
    ["workspace-write", { ...peeks, ...moves }],
  ] as const) {
    const led: string[] = []
    for (const [name, command] of Object.entries(commands)) {
      const work = filled()
      try {
        const env = { PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin` }
        const args = ["bash", "--noprofile", "--norc", "-c", command]
        const place = { root: work, readable: [], writable: [], env, home: "/nonexistent" }
        const stdio: ["ignore", "pipe", "ignore"] = ["ignore", "pipe", "ignore"]
        const child =
          mode === "bare"
            ? spawn(args[0]!, args.slice(1), { cwd: work, env, stdio })
            : found.sandbox.spawn(args, await profileFor({ level: mode, network: false, hidden }, place), { stdio })
        const [printed] = await Promise.all([text(child.stdout!), once(child, "close")])
        if (printed.includes("secret") || !isWhole(work)) led.push(name)
      } finally {
        execFileSync("chmod", ["-R", "u+rwX", work])
        rmSync(work, { recursive: true, force: true })
      }
    }
    results[mode] = led
  }
  return results
}

if (import.meta.main) console.log(JSON.stringify(await main()))
