import assert from "node:assert/strict"
import { test } from "node:test"
import { rules, run } from "./desk.ts"

const given = rules("allow bash(npm test *)")
const judged = async (command: string) => {
  const verdict = await run(command, { rules: given, canFence: async () => false })
  return verdict.do === "ask" && verdict.always ? "ask, with a rule" : verdict.do
}

/** Bash runs what stands in parentheses here, though no shell syntax is left around it. */
const evaluated = [
  "read 'a[$(id)]' <<< 1; npm test",
  `x='a[$(id)]'; read "$x" <<< 1; npm test`,
  'npm test | while read -r x; do read "$x" <<< 1; done',
  "x='1 a[$(id)]'; read -t $x y; npm test",
  "sleep 0 & wait -n -p 'a[$(id)]'; npm test",
  `x='-pa[$(id)]'; wait "$x"; npm test`,
  "printf '-va[$(id)]' y; npm test",
  `x='-va[$(id)]'; printf "$x" y; npm test`,
  "x='-v a[$(id)]'; [ $x ]; npm test",
  `x=-v; y='a[$(id)]'; test "$x" "$y"; npm test`,
  `set -- -v 'a[$(id)]'; [ "$@" ]; npm test`,
  `f() { test "$@"; }; f -v 'a[$(id)]'; npm test`,
  `a=(-v 'x[$(id)]'); [ "\${a[@]}" ]; npm test`,
  "RANDOM='a[$(id)]'; npm test",
  "OPTIND='a[$(id)]' npm test",
  "export SRANDOM='a[$(id)]'; npm test",
  "for RANDOM in $(npm test); do npm test; done",
  "npm test | read RANDOM",
  "npm test | while read -r OPTIND; do npm test; done",
  "a=(1); declare a='($(id))'; npm test",
  `a[0]=1; typeset "a=$(npm test)"`,
  `read -a a; declare "a=$(npm test)"`,
  `mapfile a; declare "a=$(npm test)"`,
  `printf -v 'a[0]' x; declare "a=$(npm test)"`,
  `coproc c { npm test; }; declare "c=$(npm test)"`,
  `declare "DIRSTACK=$(npm test)"`,
  `export -a "a=$(npm test)"`,
  "x='b[$(id)]'; npm test {a[x]}>/dev/null",
  "exec {PATH}>/dev/null; npm test",
  ': "$(npm test)"; npm test $((_))',
  ': "$(npm test)"; [[ $_ -eq 1 ]] && npm test',
  ': "$(npm test)"; [[ _ -eq 1 ]] && npm test',
]
for (const command of evaluated)
  test(`${command} asks, and no rule would help`, async () => assert.equal(await judged(command), "ask"))

const ordinary = [
  "read -r a b c; npm test",
  "read -r -p 'more? ' -t 5 answer; npm test",
  `npm test | while read -r line; do echo "$line"; done`,
  "npm test & pid=$!; wait $pid",
  "npm test; [ $? -eq 0 ] && echo fine",
  `x=$(npm test); [ "$x" = y ] || [ -z "$x" ] || npm test "$x"`,
  "unset FOO; npm test",
  `a=(1 2); npm test "\${a[@]}"; export B=$(npm test)`,
  "declare b=(x y); npm test",
  `green='\\033[32m'; printf "$green%s" ok; npm test`,
  "printf '%s' PATH; npm test",
  "OPTIND=1; npm test",
  "exec {out}>/dev/null; npm test",
]
for (const command of ordinary)
  test(`${command} needs no rule beside the one it has`, async () => assert.equal(await judged(command), "allow"))
