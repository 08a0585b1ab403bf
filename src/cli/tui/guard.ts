import type { EventEmitter } from "node:events"

type Guard = {
  /** Somebody wants us to end. */
  end(): void
  /** The terminal is not there any more. */
  gone(): void
  /** A bug: nothing can be trusted to be drawn any more. */
  crash(error: unknown): void
  warn(text: string): void
}

type Source = EventEmitter & Record<"stdin" | "stdout" | "stderr", EventEmitter>

/** What may happen to the process while it has the terminal for itself. Returns what takes it back. */
export function guard({ end, gone, crash, warn }: Guard, source: Source = process): () => void {
  const taken = [
    ...(["SIGTERM", "SIGINT"] as const).map((signal) => instead(source, signal, end)),
    instead(source, "SIGHUP", gone),
    ...(["uncaughtException", "unhandledRejection"] as const).map((event) => instead(source, event, crash)),
    // Whatever else is written to the terminal would stand in the middle of what is drawn there.
    instead(source, "warning", (warning: Error) => warn(`${warning.name}: ${warning.message}`)),
    // Others would leave at once, with work under way.
    instead(source.stdout, "error", gone),
    instead(source.stderr, "error", () => {}),
    instead(source.stdin, "end", gone),
    instead(source.stdin, "error", gone),
  ]
  return () => {
    for (const back of taken) back()
  }
}

type Listener = Parameters<EventEmitter["on"]>[1]

/** Listens in the place of all who did. */
function instead(source: EventEmitter, event: string, listener: Listener): () => void {
  const others = source.rawListeners(event) as Listener[]
  source.removeAllListeners(event)
  source.on(event, listener)
  return () => {
    source.off(event, listener)
    for (const each of others) source.on(event, each)
  }
}
