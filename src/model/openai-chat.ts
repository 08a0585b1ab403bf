import { attempt, type OpenaiOptions } from "./openai-attempt.ts"
import { readChat } from "./openai-chat-decode.ts"
import { chatBody } from "./openai-chat-encode.ts"
import type { Attempt } from "./retry.ts"

/** OpenAI's Chat Completions, which most other providers and local servers speak too. */
export const openaiChat = (options: OpenaiOptions): Attempt =>
  attempt(options, {
    path: "/chat/completions",
    body: chatBody(options),
    read: (request, delta) => readChat({ provider: options.provider, messages: request.messages, delta }),
  })
