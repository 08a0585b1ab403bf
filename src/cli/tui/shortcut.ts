import { decodeKittyPrintable, isKeyRelease, isKeyRepeat, matchesKey } from "@earendil-works/pi-tui"

/** What a key asks for, wherever one is. */
export type Action =
  | "interrupt"
  | "suspend"
  | "toggle"
  | "behind"
  | "search"
  | "outside"
  | "help"
  | "exit"
  | "escape"
  | "up"
  | "down"

/** `front`: a question or a list has the keys. `typed`: there is something in the input. */
type Place = { front: boolean; typed: boolean }

/** Undefined for keys that go to whatever has the focus. `ignore`: those that are for nobody. */
export function shortcutOf(data: string, { front, typed }: Place): Action | "ignore" | undefined {
  const is = (key: Parameters<typeof matchesKey>[1]) => matchesKey(data, key)
  // Some terminals tell also when a key is let go: one that was pressed once must not count twice.
  if (isKeyRelease(data)) return "ignore"
  if (is("ctrl+c")) return isKeyRepeat(data) ? "ignore" : "interrupt"
  if (is("ctrl+z")) return "suspend"
  if (front) return undefined
  if (is("ctrl+o")) return "toggle"
  if (is("ctrl+b")) return "behind"
  if (is("ctrl+r")) return "search"
  if (is("ctrl+g")) return "outside"
  if (typed) return undefined
  if ((decodeKittyPrintable(data) ?? data) === "?") return "help"
  if (is("ctrl+d")) return "exit"
  if (is("escape")) return "escape"
  if (is("up")) return "up"
  return is("down") ? "down" : undefined
}
