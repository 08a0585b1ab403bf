import type { TaskResult } from "../agent/scope.ts"
import { asData } from "./as-data.ts"
import { capped } from "./cap.ts"
import { footer } from "./footer.ts"
import type { World } from "./world.ts"

/** All that a model gets of what another agent did: its last words, as data, and one line. */
export async function reportOf(result: TaskResult, { keep }: Pick<World, "keep">): Promise<string> {
  const said = await capped(wordsOf(result), { keep, name: `${result.agentId}.txt` })
  return `${said}\n\n${footer(result)}`
}

function wordsOf({ content, error }: TaskResult): string {
  const text = asData(content.trim()) || "(no summary)"
  return error ? `failed: ${error.message}${content.trim() ? `\n\n${text}` : ""}` : text
}
