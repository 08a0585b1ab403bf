type Terminal = { stop(): void; start(): void }

/** So long the signal may take to arrive, in milliseconds. */
const arrival = 50

/** Gives the terminal back to the shell until the shell lets us go on. Where there is no shell, all stays as it is. */
export function suspend(terminal: Terminal, signal: () => void = stopGroup): void {
  terminal.stop()
  signal()
  // The clock stands still with us. A process that nobody could wake is not stopped at all.
  setTimeout(() => terminal.start(), arrival)
}

/** All that the shell started with us, as the terminal itself would. */
const stopGroup = (): void => void process.kill(0, "SIGTSTP")

/** What is known of a terminal on which nothing was drawn yet. */
export const untouched = {
  previousLines: [],
  previousWidth: 0,
  previousHeight: 0,
  cursorRow: 0,
  hardwareCursorRow: 0,
  maxLinesRendered: 0,
  previousViewportTop: 0,
}
