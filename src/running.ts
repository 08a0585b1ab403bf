/** The sessions that are open in this process: the one thing that none of them can know by itself. */
const sessions = new Set<() => number>()

/** Children at work, or waiting for a place, in all sessions that are open in this process. */
export const runningCount = (): number => [...sessions].reduce((all, count) => all + count(), 0)

/** Counts a session in; the function it returns counts it out again. */
export function countIn(running: () => number): () => void {
  sessions.add(running)
  return () => void sessions.delete(running)
}
