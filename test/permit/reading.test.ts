import assert from "node:assert/strict"
import { test } from "node:test"
import { looksReading } from "../../src/permit/reading.ts"
import { partsOf } from "../../src/permit/shell.ts"

const reading = [
  ...[
    "ls -la",
    "cat a b",
    "head -n 3 a",
    "tail -f a",
    "wc -l",
    "rg -n foo src",
    "grep -rn foo .",
    "find . -name x -type f",
  ],
  ...[
    "git log --oneline -3",
    "git diff HEAD~1 -- a",
    "git show HEAD:a",
    "git status -sb",
    "git blame a",
    "git branch -a",
  ],
  ...[
    "git branch --contains x",
    "git tag -l 'v*'",
    "git rev-parse HEAD",
    "git ls-files",
    "git stash show -p",
    "git remote -v",
  ],
  ...[
    "git -C sub --no-pager log",
    "git config --list",
    "git config --global --get a",
    "git reflog",
    "git worktree list",
  ],
  ...[
    "stat a",
    "file a",
    "du -sh *",
    "df -h",
    "pwd",
    "which node",
    "type ls",
    "echo hi",
    "printf '%s' a",
    "sort -u a",
    "uniq -c",
  ],
  ...[
    "cut -d: -f1 a",
    "tr a b",
    "sed -n '1,5p' a",
    "sed -nE '/where/p' a",
    "awk '{ print $1 }' a",
    "jq -r .a b",
    "diff -u a b",
  ],
  ...[
    "tree -L 2",
    "node --version",
    "python3 --version",
    "go version",
    "npm ls --depth 0",
    "pip list",
    "tar tf a.tar",
    "unzip -l a",
  ],
  ...[
    "ls | sort | uniq -c | head",
    "cd src && ls",
    'for f in *; do head -1 "$f"; done',
    "if test -f a; then cat a; fi",
  ],
  ...[
    "find . -name x -exec grep y {} +",
    "ls | xargs wc -l",
    "timeout 5 rg x",
    "bash -c 'git log | head'",
    "cat <<< $(ls)",
  ],
  ...[
    "ls 2>/dev/null",
    "cat a > /dev/null",
    "FOO=1 ls",
    "GIT_PAGER=cat git log",
    "command -v git",
    'x=$(git log -1); echo "$x"',
  ],
]
const other = [
  ...[
    "rm a",
    "touch a",
    "mkdir a",
    "tee a",
    "npm ci",
    "npm test",
    "make",
    "python3 a.py",
    "node a.js",
    "./ls",
    "sub/cat a",
    "curl x",
  ],
  ...[
    "find . -delete",
    "find . -fprint a",
    "find . -exec rm {} +",
    "fd -x rm",
    "rg --pre x y",
    "sort -o a b",
    "sort --output=a b",
  ],
  ...[
    "sed -i s/a/b/ a",
    "sed s/a/b/ a",
    "sed -n 'w out' a",
    "sed -n 's/a/b/w out' a",
    "awk '{ print > \"a\" }' b",
    "awk 'BEGIN{system(\"x\")}'",
  ],
  ...[
    "git commit",
    "git branch x",
    "git branch -D x",
    "git branch -m a b",
    "git tag v1",
    "git tag -d v1",
    "git stash",
    "git config a b",
  ],
  ...[
    "git remote add a b",
    "git reflog expire",
    "git log --output=a",
    "git log --outp=a",
    "sort --outp=a b",
    "git grep -O x",
    "git fetch",
    "git worktree add a",
    "git x",
  ],
  ...[
    "uniq a b",
    "xxd -r a b",
    "tar xf a.tar",
    "tree -o a",
    "date -s x",
    "hostname x",
    "yq -i .a b",
    "go env -w A=b",
    "env x",
  ],
  ...[
    "ls > a",
    "ls >> a",
    "cat < a > b",
    "echo hi &> a",
    "{ ls; } > a",
    'ls > "$f"',
    "ls && rm a",
    "cat $(rm a)",
    "ls | xargs rm",
  ],
  ...[
    "PATH=/x ls",
    "LD_PRELOAD=x ls",
    "GIT_PAGER=less git log",
    "$x",
    'eval "$x"',
    'bash -c "$x"',
    "sudo ls",
    "zsh -c 'ls > a'",
  ],
]

const looks = async (command: string) => {
  const parsed = await partsOf(command)
  return parsed.ok && parsed.parts.every(looksReading)
}

for (const command of reading)
  test(`${command} looks as if it only read`, async () => assert.equal(await looks(command), true))
for (const command of other)
  test(`${command} does not look as if it only read`, async () => assert.equal(await looks(command), false))
