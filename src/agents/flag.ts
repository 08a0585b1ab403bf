import { locate } from "../config/json.ts"
import type { Definition, Diagnostic } from "./definition.ts"
import { defineAgent } from "./parse.ts"

type Read = { definitions: Definition[]; diagnostics: Diagnostic[] }

/** The agents in the JSON of `--agents`: an object of name to fields, or a list of agents that have a name. */
export function fromFlag(text: string): Read {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    const { line, what } = locate(text).broken ?? { line: 1, what: "it is not JSON" }
    return { definitions: [], diagnostics: [error(`not JSON here: ${what}`, line)] }
  }
  if (typeof json !== "object" || json === null)
    return {
      definitions: [],
      diagnostics: [error('must be an object such as {"name": {"description": …, "prompt": …}}')],
    }
  const read = Array.isArray(json)
    ? json.map((each) => one(undefined, each))
    : Object.entries(json).map(([name, each]) => one(name, each))
  return {
    definitions: read.flatMap((each) => ("id" in each ? [each] : [])),
    diagnostics: read.flatMap((each) => ("id" in each ? each.diagnostics : [each])),
  }
}

function one(key: string | undefined, fields: unknown): Definition | Diagnostic {
  if (typeof fields !== "object" || fields === null || Array.isArray(fields))
    return error(`${JSON.stringify(key ?? fields)} must be an object with description and prompt; it is left out`)
  const name = key ?? (fields as { name?: unknown }).name
  if (typeof name !== "string" || !name.trim()) return error("an agent has no name; it is left out")
  const definition = defineAgent({ ...fields, name }, { path: null, scope: "flag" })
  return definition.prompt ? definition : error(`${JSON.stringify(name)} has no prompt; it is left out`)
}

const error = (message: string, line = 1): Diagnostic => ({ severity: "error", file: "--agents", line, message })
