import { has, lacking, listed, only, operandsOf, type Test, without } from "./args.ts"

const queries = listed(
  "log diff show status blame annotate shortlog describe rev-parse rev-list ls-files ls-tree cat-file name-rev merge-base show-ref show-branch for-each-ref whatchanged cherry count-objects diff-tree diff-index diff-files check-ignore check-attr check-mailmap var version help grep range-diff verify-commit verify-tag",
)

/** With such an option, names are looked for and not made. */
const selects: Test = (args) =>
  args.some((arg) => /^(-l|-n\d*|--(list|contains|no-contains|merged|no-merged|points-at)(=.*)?)$/.test(arg))
const lists: Test = (args) => operandsOf(args).length === 0 || selects(args)

/** Subcommands that also change things, and when they do not. */
const listings: Record<string, Test> = {
  branch: (args) =>
    lists(args) &&
    lacking("-d -D -m -M -c -C -f -u -t --delete --move --copy --force --unset-upstream --edit-description --track")(
      args,
    ) &&
    !has(args, "--set-upstream-to"),
  tag: (args) => lists(args) && without("-d -a -s -f -m -F -u --delete --annotate --sign --force")(args),
  remote: (args) => operandsOf(args).length === 0 || only("show get-url")(operandsOf(args)),
  stash: only("list show"),
  worktree: only("list"),
  submodule: only("status summary"),
  notes: only("list show"),
  bisect: only("log view"),
  reflog: ([first = "show"]) => !listed("expire delete drop").includes(first),
  config: (args) => {
    const [first = ""] = args.filter((arg) => !/^--(global|local|system|worktree)$/.test(arg))
    return /^(--get(-\w+)*|--list|-l|get|list)$/.test(first)
  },
}

/** Whether a git command only reads. */
export const gitReads: Test = (args) => {
  const at = args.findIndex((arg, n) => !arg.startsWith("-") && !/^-[Cc]$/.test(args[n - 1] ?? ""))
  const [name = "", ...rest] = at < 0 ? [] : args.slice(at)
  if (!without("--output --ext-diff --open-files-in-pager --upload-pack --exec")(rest)) return false
  if (name === "grep" && has(rest, "-O")) return false
  return queries.includes(name) || (Object.hasOwn(listings, name) && listings[name]!(rest))
}
