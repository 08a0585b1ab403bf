import type { Agent } from "./agent/scope.ts"
import type { Config } from "./config.ts"
import { reasonOf } from "./core/error.ts"
import type { Tuning } from "./core/event.ts"
import { ModelError } from "./model/providers.ts"

/** `checked` gives the full name of a model that can be used, or throws words that say what to set. */
type Source = { config: Config; checked(name: string): string }

/** The model of a child: the call's own wish, then the settings for its agent, then its definition, then its parent's. */
export const modelFor =
  ({ config, checked }: Source) =>
  (agent: Agent, asked: string | undefined, parent: string): string => {
    const wishes = [asked, config.agents[agent.name]?.model, agent.model].map(named)
    const names = wishes.find((each) => each.length > 0)
    if (!names) return parent
    const failures: string[] = []
    for (const name of names) {
      try {
        return checked(name)
      } catch (error) {
        // Files written for other systems name models that mean nothing here; such a name is no wish.
        if (names === wishes[2] && isForeign(error)) continue
        failures.push(reasonOf(error))
      }
    }
    if (failures.length === 0) return parent
    throw new Error(`agent ${agent.name} asks for the model ${names.join(" or ")}: ${failures.join("; ")}`)
  }

const isForeign = (error: unknown): boolean => error instanceof ModelError && error.kind === "unknown_model"

/** How models are told to answer, where an agent says nothing of it. */
export const tuningIn = ({ temperature, effort }: Config): Tuning => ({
  ...(temperature !== undefined && { temperature }),
  ...(effort && { effort }),
})

/** `inherit` is no wish. */
const named = (wish: string | string[] | undefined): string[] =>
  [wish ?? []].flat().filter((name) => name.trim() !== "" && name.trim().toLowerCase() !== "inherit")
