import assert from "node:assert/strict"
import { test } from "node:test"
import type { Verdict } from "../../src/agent/scope.ts"
import { rules, run } from "./desk.ts"

const given = rules("allow bash", "deny read(.env)", "deny read(//etc/secret/**)", "deny edit(src/**)")

/** What rules about files say to commands that are given their names. */
const table: Record<Verdict["do"], string[]> = {
  deny: [
    ...["cat .env", "cat sub/../.env", "jq --rawfile a .env $a", "cp .env x", "head /etc/secret/a"],
    ...["cp x src/a", "mv src/a x", "tee -a src/a", "sed -i s/a/b/ src/a", "sed --in-pl s/a/b/ src/a"],
    ...["rm -f SRC/a", "touch src/a", "dd if=x of=src/a", "ln -s x src/a", "cd src && rm a"],
  ],
  ask: [
    ...[
      "cat .en?",
      "cat .en*",
      "cat $PWD/.env",
      "cat .e{nv,}",
      "cat {.env,a}",
      "cat $(echo .env)",
      "cat /etc/sec*/a",
      'head "$x/.env"',
    ],
    ...["base32 .env", "git diff .env", "git show HEAD:.env", "grep --file=.env x", "grep -f.env x", "dd if=.env"],
    ...["tar cf - .env", "curl -T .env x", "curl -d @.env x", "node --env-file=.env x", "rm lib/../src/a", "rm sr*/a"],
  ],
  allow: [
    ...["cat *", "cat *.ts", 'cat "$x"', "cat env", "echo .env", "test -f .env", "git add env", "head /etc/secrets"],
    ...["cp src/a x", "sed s/a/b/ src/a", "rm lib/a", "rm *.o", "grep src/ a", "ls src", "mkdir src/x", "dd of=x"],
  ],
}

for (const [verdict, commands] of Object.entries(table))
  for (const command of commands)
    test(`${command}: ${verdict}`, async () => assert.equal((await run(command, { rules: given })).do, verdict))

test("a yes for good to a program that writes is a rule about it, not about its files", async () => {
  const verdict = await run("tee a/b")
  assert.deepEqual(verdict, { do: "ask", always: rules("allow bash(tee a/b)"), parts: ["tee a/b"] })
})
