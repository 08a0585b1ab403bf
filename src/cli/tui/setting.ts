import type { RunId } from "../../core/event.ts"
import type { View } from "../../core/view.ts"
import type { Theme } from "./theme.ts"

/** `brief`: what whoever talks to a run wants to see of it. `all`: whatever was said and done. */
type Detail = "brief" | "all"

/** Whose conversation is shown, and how. */
export type Setting = { run: RunId; view: View; theme: Theme; detail: Detail }

/** The most lines of one thing where everything is shown. */
export const mostLines = 200
