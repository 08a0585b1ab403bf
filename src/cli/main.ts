import { ConfigError } from "../config/settings.ts"
import { printable } from "../core/one-line.ts"
import { SessionError } from "../folders.ts"
import { ModelError } from "../model/providers.ts"
import { StoreError } from "../store/store-error.ts"
import { codes, UsageError } from "./exit.ts"
import { program } from "./program.ts"

/**
 * The command. Its exit code is set, not forced, so that all output gets out. `keep` is called once all is loaded that a
 * session needs: the launcher then keeps the compiled code for the next start.
 */
export async function run(keep: () => void = () => {}): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(codes.pipe) // whoever read us has left, as in `legwork … | head`
      if (stream === process.stdout) console.error(`legwork: the output cannot be written: ${error.message}`)
      process.exit(codes.disk)
    })
  }
  try {
    process.exitCode = await program(process.argv.slice(2), keep)
  } catch (error) {
    process.exitCode = complain(error)
  }
}

/** What a person can put right is said in a sentence; anything else is a bug and shows its stack. */
function complain(error: unknown): number {
  if ([UsageError, ConfigError, ModelError, SessionError].some((kind) => error instanceof kind)) {
    console.error(`legwork: ${printable((error as Error).message)}`)
    return codes.usage
  }
  if (error instanceof StoreError) {
    console.error(`legwork: ${error.message}`)
    if (error.code === "full" || error.code === "io") return codes.disk
    return error.code === "unknown_session" ? codes.usage : codes.failed
  }
  console.error(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return codes.failed
}
