import type { Key } from "../slash/ground.ts"

/** What `/help` says of the keys of the terminal UI. */
export const keys: readonly Key[] = [
  { key: "enter", about: "sends it; an agent at work hears it between two turns" },
  { key: "shift+enter", about: "begins a new line" },
  { key: "up, down", about: "chooses an agent, or an earlier line of yours" },
  { key: "ctrl+o", about: "opens and closes an agent's transcript; words there steer it" },
  { key: "ctrl+b", about: "sends the agent that is waited for behind" },
  { key: "esc", about: "goes back; or stops the chosen agent, else the main one" },
  { key: "ctrl+c", about: "clears the line or stops the main agent; again: leaves" },
  { key: "ctrl+d", about: "leaves, on an empty line" },
  { key: "ctrl+z", about: "back to the shell; fg goes on" },
  { key: "ctrl+r", about: "looks for an earlier line" },
  { key: "ctrl+g", about: "opens what is typed in $EDITOR" },
  { key: "@", about: "names a file or an agent" },
  { key: "?", about: "this help, on an empty line" },
]
