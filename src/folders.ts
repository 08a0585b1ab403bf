import { realpath, stat } from "node:fs/promises"
import { homedir, userInfo } from "node:os"
import { isAbsolute, join, resolve } from "node:path"
import { userFolder } from "./config.ts"

/** A session that cannot be opened as asked, and what to do about it. */
export class SessionError extends Error {
  override readonly name = "SessionError"
}

/** Links are followed once, here, so that every path below is compared with the real one. */
export async function folderOf(path?: string): Promise<string> {
  try {
    const real = await realpath(resolve(path ?? process.cwd()))
    if ((await stat(real)).isDirectory()) return real
  } catch {
    // said below
  }
  if (path === undefined) throw new SessionError("the folder that this was started in is gone; go to one that exists")
  throw new SessionError(
    `${isAbsolute(path) ? path : JSON.stringify(path)} is not a folder that can be opened; name one that exists`,
  )
}

/** Packages of other providers are the user's: beside the settings, or beside us. */
export function packageFolders(env: NodeJS.ProcessEnv): string[] {
  const settings = userFolder(env, homedir())
  return [...(settings ? [settings] : []), import.meta.dirname]
}

/** A relative folder would put sessions into the project: it counts as not set. */
export function stateFolder({ XDG_STATE_HOME: base, HOME: home }: NodeJS.ProcessEnv): string {
  return join(base && isAbsolute(base) ? base : join(home || userInfo().homedir, ".local", "state"), "legwork")
}
