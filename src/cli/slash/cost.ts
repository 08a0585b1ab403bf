import { count, dollars } from "../../core/numbers.ts"
import { oneLine } from "../../core/one-line.ts"
import { addCost, addUsage, noUsage } from "../../core/usage.ts"
import type { Taken, View } from "../../core/view.ts"
import { aligned } from "../columns.ts"
import { amount } from "./amount.ts"
import type { Command } from "./ground.ts"

/** What one run took of one model. */
type Entry = { run: string; agent: string; model: string } & Taken

type Sum = { runs: number } & Taken

export const cost: Command = {
  name: "cost",
  about: "what was spent, by agent and by model",
  async run(_, { view, theme, note }) {
    const entries = entriesOf(view)
    if (entries.length === 0) return note("nothing was spent yet")
    const agents = rows(entries, ({ agent }) => agent)
    const models = rows(entries, ({ model }) => model)
    const all = aligned([...agents, ...models, ["total", told(sum(entries))]])
    const [byAgent, byModel] = [all.slice(0, agents.length), all.slice(agents.length, -1)]
    const total = theme.bold(all.at(-1)!)
    note([theme.bold("by agent"), ...byAgent, "", theme.bold("by model"), ...byModel, "", total].join("\n"))
  },
}

const entriesOf = (view: View): Entry[] =>
  [...view.values()].flatMap(({ id, agent, byModel }) =>
    [...byModel].map(([model, taken]) => ({ run: id, agent, model, ...taken })),
  )

/** The dearest first. What has no known price may be dearer than all. */
function rows(entries: readonly Entry[], by: (entry: Entry) => string): [string, string][] {
  const sums = [...Map.groupBy(entries, by)].map(([name, group]) => ({ name, ...sum(group) }))
  const price = ({ cost }: Sum) => cost ?? Number.POSITIVE_INFINITY
  const sorted = sums.sort((a, b) => (price(a) === price(b) ? b.usage.output - a.usage.output : price(b) - price(a)))
  return sorted.map((each) => [oneLine(each.name, 40), told(each)])
}

function sum(entries: readonly Entry[]): Sum {
  const all: Sum = { runs: new Set(entries.map(({ run }) => run)).size, requests: 0, usage: noUsage(), cost: 0 }
  for (const { requests, usage, cost } of entries) {
    all.requests += requests
    addUsage(all.usage, usage)
    all.cost = addCost(all.cost, cost)
  }
  return all
}

function told({ runs, requests, usage, cost }: Sum): string {
  const { input, output, cacheRead, cacheWrite } = usage
  const cached = cacheRead + cacheWrite === 0 ? [] : [`cache ${amount(cacheRead)} read, ${amount(cacheWrite)} written`]
  const tokens = [`${amount(input)} in, ${amount(output)} out`, ...cached]
  return [count(runs, "run"), count(requests, "request"), ...tokens, dollars(cost)].join(" · ")
}
