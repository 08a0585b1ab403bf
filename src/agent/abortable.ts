/** Waits for `work`, but no longer than the signal lets us: a deaf tool must not hold a cancelled run. */
export function abortable<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    const done = () => signal.removeEventListener("abort", stop)
    work.then(resolve, reject).finally(done)
    if (signal.aborted) return stop()
    signal.addEventListener("abort", stop, { once: true })
  })
}
