import type { Trouble } from "./wire.ts"

/** The one error shape of both OpenAI formats. */
export const openaiError = ({ status, message, code }: Trouble): { error: OpenaiError } => ({
  error: {
    message,
    type: status === 429 ? "requests" : status < 500 ? "invalid_request_error" : "server_error",
    param: null,
    code: code ?? codes[status] ?? null,
  },
})

export type OpenaiError = { message: string; type: string; param: null; code: string | null }

const codes: Record<number, string> = { 401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded" }
