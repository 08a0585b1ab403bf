import { decode } from "../agents/decode.ts"
import { parseAgent } from "../agents/parse.ts"
import { isObject, parsed } from "../config/json.ts"

/** What a settings file, or a list of servers, would have run: its hooks and servers as they stand there. */
export function inSettings(bytes: Buffer): unknown[] {
  const json = parsed(new TextDecoder().decode(bytes))
  return "value" in json && isObject(json.value) ? [json.value.hooks, json.value.mcpServers] : []
}

/** The same of an agent's file. Most have none, and are not taken apart to find that out. */
export async function inAgent(path: string, bytes: Buffer): Promise<unknown[]> {
  const text = decode(bytes)?.text ?? ""
  if (!/hooks|mcp/i.test(text)) return []
  const agent = await parseAgent(text, { scope: "project", path })
  return [agent?.hooks, agent?.mcpServers]
}
