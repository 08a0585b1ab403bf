import type { Diagnostic } from "../../agents/definition.ts"
import type { AgentRow } from "../../agents/registry.ts"
import { nearest } from "../../core/nearest.ts"
import { count } from "../../core/numbers.ts"
import { oneLine } from "../../core/one-line.ts"
import { aligned } from "../columns.ts"
import { type Command, choose, type Ground } from "./ground.ts"

/** So many remarks are said; the command line has them all. */
const mostRemarks = 5

export const agents: Command = {
  name: "agents",
  hint: "[name]",
  about: "who can be sent, how, and what is wrong with agent files",
  async run(name, ground) {
    const rows = ground.session.agents()
    if (name !== "") return ground.note(detail(rows, name, ground))
    const remarks = remarked(ground.session.diagnostics())
    if (remarks.length > 0) ground.note(remarks.join("\n"))
    if (rows.length === 0) return ground.note("there are no agents")
    const items = rows.map((row) => ({ value: row.name, label: oneLine(row.name, 40), description: inShort(row) }))
    const lines = aligned(items.map(({ label, description }) => [label, description]))
    const words = [...lines, "/agents <name> says more of one"].join("\n")
    const chosen = await choose(ground, { title: "agents", items, words })
    if (chosen !== undefined) ground.note(detail(rows, chosen, ground))
  },
}

/** Where it comes from, its model, how many tools it has and what it is for. */
function inShort({ source, model, tools, description, hidden }: AgentRow): string {
  const offered = hidden ? ["not offered to models"] : []
  return [
    oneLine(source, 60),
    oneLine(modelOf(model), 60),
    count(tools.length, "tool"),
    ...offered,
    oneLine(description, 90),
  ].join(" · ")
}

const modelOf = (model: string | undefined): string => model ?? "its parent's model"

function detail(rows: readonly AgentRow[], name: string, { theme, session }: Ground): string {
  const row = rows.find((each) => each.name === name)
  if (!row) return unknown(rows, name)
  const { source, description, model, tools, hidden } = row
  const lines = aligned([
    ["from", oneLine(source, 300)],
    ["model", oneLine(modelOf(model), 300)],
    ["tools", oneLine(tools.join(", "), 600) || "none"],
    [
      "ask for it",
      `@${oneLine(row.name, 40)} in what you write${hidden ? "; models do not start it by themselves" : ""}`,
    ],
  ])
  const remarks = remarked(session.diagnostics().filter(({ file }) => file === source))
  return [theme.bold(oneLine(row.name, 40)), oneLine(description, 600), ...lines, ...remarks].join("\n")
}

function unknown(rows: readonly AgentRow[], name: string): string {
  const names = rows.map((row) => row.name)
  const near = nearest(name, names)
  const hint = near === undefined ? `there are ${names.join(", ")}` : `did you mean ${near}?`
  return oneLine(`there is no agent named ${JSON.stringify(name)}; ${hint}`, 600)
}

const weights = { error: 0, warning: 1, info: 2 }

/** The worst first. */
function remarked(remarks: readonly Diagnostic[]): string[] {
  const worst = remarks.toSorted((a, b) => weights[a.severity] - weights[b.severity])
  const lines = worst
    .slice(0, mostRemarks)
    .map(({ severity, file, line, message }) => oneLine(`${severity}: ${file}:${line}: ${message}`, 300))
  const more = remarks.length - lines.length
  return [...lines, ...(more > 0 ? [`and ${count(more, "more remark")}: legwork agents doctor has them all`] : [])]
}
