/** Whether a provider's words mean that the conversation no longer fits. Few give it a code of its own. */
export const soundsFull = (message: string): boolean =>
  /maximum context|context[ _](length|window|size)|(prompt|input) is too long|too many (input |total )?tokens|maximum number of tokens/i.test(
    message,
  )
