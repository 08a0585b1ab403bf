import type { TestContext } from "node:test"
import type { Session } from "../../src/face.ts"
import { type Options, open } from "../../src/session.ts"
import type { Server } from "../../src/testing.ts"
import { type Home, home } from "./binary.ts"

type Setup = { settings?: object; options?: Options }

/** A session as a program has it, which talks to this server over the network, in a home of its own. Ends with its scope. */
export async function library(
  t: TestContext,
  server: Server,
  { settings = {}, options = {} }: Setup = {},
): Promise<Home & AsyncDisposable & { session: Session }> {
  const place = await home(t, { "../config/legwork/settings.json": JSON.stringify(settings) })
  const env = { ...place.env, ...server.env }
  const session = await open({ cwd: place.work, env, model: "anthropic/any", ...options })
  return { ...place, session, [Symbol.asyncDispose]: () => session.close() }
}
