import { codeOf, reasonOf } from "../core/error.ts"
export type StoreCode = "full" | "io" | "locked" | "unknown_session" | "bad_session" | "newer_version"

/** What a store could not do: a word for programs, and a sentence that says what to do next. */
export class StoreError extends Error {
  readonly code: StoreCode

  constructor(code: StoreCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
    this.name = "StoreError"
    this.code = code
  }
}

const noRoom = ["ENOSPC", "EDQUOT", "EFBIG"]

/** The system's error in our words. `doing` completes "could not …". */
export function storeError(doing: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const reason = reasonOf(error)
  if (noRoom.includes(codeOf(error) ?? ""))
    return new StoreError("full", `could not ${doing}: ${reason}; make room on that disk and resume the session`, error)
  return new StoreError("io", `could not ${doing}: ${reason}; see that the folder is there and writable`, error)
}
