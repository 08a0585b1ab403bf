import { attempt, type OpenaiOptions } from "./openai-attempt.ts"
import { readResponse } from "./openai-responses-decode.ts"
import { responsesBody } from "./openai-responses-encode.ts"
import type { Attempt } from "./retry.ts"

/** OpenAI's Responses, used so that nothing is stored there: each request carries the whole conversation. */
export const openaiResponses = (options: OpenaiOptions): Attempt =>
  attempt(options, {
    path: "/responses",
    body: responsesBody(options),
    read: (_, delta) => readResponse(options.provider, delta),
  })
