import { prettifyError, type ZodError } from "zod"

/** What is wrong with arguments, in words for the model. */
export const explain = (error: ZodError): string => prettifyError(error).slice(0, 2_000)
