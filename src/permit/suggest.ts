import { dirname } from "node:path"
import type { Asked } from "../agent/scope.ts"
import type { Rule } from "../core/access.ts"
import { isWithin } from "../core/within.ts"
import type { Setting } from "./judge.ts"
import { toolOf } from "./match.ts"
import { type Place, pathPattern } from "./path.ts"
import { allOf, type Part } from "./shell.ts"
import { type Stand, standOf } from "./standing.ts"
import type { Taken } from "./taken.ts"
import { literally } from "./wildcard.ts"
import { isSure, spoken } from "./word.ts"

const listed = (text: string) => new Set(text.split(" "))

/** Programs whose first word says what they do, and those of which it takes two. */
const branching = listed(
  "git npm pnpm yarn bun cargo go docker podman kubectl helm make gh glab pip pip3 uv poetry pipenv conda brew apt apt-get systemctl terraform dotnet mvn gradle bundle rails rake composer deno nx turbo just aws gcloud az flutter dart swift rustup mix stack cabal",
)
const nested = listed(
  "npm:run pnpm:run yarn:run bun:run docker:compose docker:image docker:container gh:pr gh:issue gh:run gh:repo git:stash git:remote git:worktree git:submodule go:mod go:tool uv:pip cargo:nextest aws:s3 gcloud:compute",
)
/** What would run anything that is given to it. */
const running = listed(
  "npm:exec npm:x npm:config pnpm:exec pnpm:dlx yarn:exec yarn:dlx bun:x bun:run go:run go:generate cargo:run docker:run docker:exec podman:run podman:exec kubectl:exec kubectl:run uv:run uv:tool poetry:run pipenv:run conda:run bundle:exec deno:run deno:eval deno:task gh:api gh:alias gh:extension git:config git:bisect git:rebase git:filter-branch git:difftool git:mergetool dotnet:run mix:run mvn:exec stack:exec cabal:exec swift:run dart:run aws:ssm gcloud:ssh az:vm",
)
/** Programs that do one kind of thing, and no other program's work. */
const single = listed(
  "ls cat head tail wc nl tac rev cut tr paste join comm fold stat du df pwd which echo printf seq basename dirname realpath readlink grep egrep fgrep rg diff cmp jq mkdir touch tsc eslint prettier biome vitest jest mocha pytest ruff mypy black flake8 pylint rustfmt gofmt shellcheck cloc tokei ps sleep",
)

/** The rule that would allow a call that runs no command, next time. */
export function suggestCall(asked: Asked, place: Place): Rule {
  const { access } = asked
  const tool = toolOf(asked)
  switch (access.kind) {
    case "read":
      return allowing(tool, aroundIt(access.path, place))
    case "write": {
      const isOrdinary = access.inside && !access.guarded
      return allowing(tool, isOrdinary ? aroundIt(access.path, place) : pathPattern(access.path, place))
    }
    case "fetch": {
      const host = tool !== "web_search" && URL.canParse(access.url) ? new URL(access.url).hostname : ""
      return allowing(tool, host === "" ? "*" : `domain:${host}`)
    }
    case "agent":
      return allowing(tool, literally(access.name))
    case "none":
    case "run":
      return allowing(tool, "*")
    default:
      return access satisfies never
  }
}

/** The rules that would allow a command, next time; undefined if none can. */
export async function suggestCommand(asked: Asked, taken: Taken, setting: Setting): Promise<Rule[] | undefined> {
  const { closed } = await standOf(asked, taken, setting)
  // As if the files were no question any more.
  const stand = await standOf(asked, { ...taken, opened: [] }, setting)
  const patterns = taken.parts.flatMap((part) => patternsFor(part, stand))
  if (!patterns.every((pattern) => pattern !== undefined)) return undefined
  const commands = patterns.map((pattern) => allowing(toolOf(asked), pattern))
  const files = closed.flatMap((file) => file.asked.map((each) => suggestCall(each, setting)))
  return unique([...commands, ...files])
}

const allowing = (tool: string, pattern: string): Rule => ({ tool, pattern, do: "allow" })

const unique = (rules: readonly Rule[]): Rule[] => [
  ...new Map(rules.map((rule) => [`${rule.tool} ${rule.pattern}`, rule])).values(),
]

/** A path's folder; the path alone where its folder holds the home or the workspace of the user. */
function aroundIt(path: string, place: Place): string {
  const folder = dirname(path)
  if (folder === place.root) return "./*"
  if (isWithin(place.root, folder) || isWithin(place.home, folder)) return pathPattern(path, place)
  return `${pathPattern(folder, place)}/**`
}

/** Undefined stands for a part that no rule can allow. */
function patternsFor(part: Part, stand: Stand): (string | undefined)[] {
  if (stand.of(part) !== "open") return []
  if (part.bare && part.runs.length > 0) return part.runs.flatMap((run) => patternsFor(run, stand))
  if (part.doubt !== undefined || part.words.length === 0) return [undefined]
  const wide = allOf(part.runs).length > 0 ? undefined : kindOf(part)
  return [wide ?? exact(part)]
}

/** A variable in it could be anything next time. */
function exact({ words }: Part): string | undefined {
  return words.some((word) => !isSure(word) && /[$`]|<\(|>\(|^\0/.test(word.raw))
    ? undefined
    : literally(words.map(spoken).join(" "))
}

/** All commands of a kind, if the program does only things of that kind. */
function kindOf({ words }: Part): string | undefined {
  const [program = "", sub, next] = words.map(spoken)
  if (!/^[\w.-]+$/.test(program)) return undefined
  if (single.has(program)) return `${program} *`
  if (!branching.has(program) || !sub || !/^[a-z][\w:.-]*$/i.test(sub) || running.has(`${program}:${sub}`))
    return undefined
  if (!nested.has(`${program}:${sub}`)) return `${program} ${sub} *`
  return next && /^[a-z][\w:.-]*$/i.test(next) ? `${program} ${sub} ${next} *` : undefined
}
