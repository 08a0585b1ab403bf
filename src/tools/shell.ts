import { markName } from "./family.ts"

/** Finds by its mark what left the group, then ends the group, the finder with it. */
const sweep = [
  `for found in $(grep -lsa "${markName}=$${markName}" /proc/[0-9]*/environ); do`,
  `found=\${found#/proc/}; found=\${found%/environ}; [ "$found" = "$BASHPID" ] || kill -KILL "$found"; done; kill -KILL 0`,
].join(" ")

/** Neither listens to a TERM that is meant for the command: the reader passes on what is left, the guard stays. */
const attendants = [
  "trap '' TERM INT HUP QUIT",
  "cat <&0 3<&- 2>/dev/null & exec <&3 3<&- >/dev/null 2>&1",
  `read -r _; ${sweep}`,
].join("; ")

/**
 * What the shell does before the command, each for a reason:
 * - it closes descriptors that we ourselves inherited, except 3, which ends when our process does;
 * - it puts one true pipe behind both outputs: their order holds, and /dev/stderr can be opened (ours is a socket);
 * - it leaves a guard that waits for the end of 3, so that a `kill -9` on us ends the command as well.
 * The pipe's reader and the guard are no children of the shell: a command that waits for all of its own would hang.
 * All of it is one line, so that the command's first line is line 1 in messages.
 */
const prelude = [
  `for fd in /dev/fd/*; do fd=\${fd##*/}; ((fd > 3)) && eval "exec $fd>&-"; done; unset fd`,
  `exec > >((${attendants}) <&0 &) 2>&1; wait $! 2>/dev/null; exec 3<&-`,
  'LEGWORK_COMMAND=$1; shift; eval "$LEGWORK_COMMAND"',
].join("; ")

/**
 * The same in a fence, which needs no guard: it ends with us, and with it all that is inside. A reader behind a pipe
 * would end with the command, before it had passed on the rest of its output.
 */
export const fencedShell = (command: string): string[] => [
  ...["--noprofile", "--norc", "-c", 'exec 2>&1 3<&-; LEGWORK_COMMAND=$1; shift; eval "$LEGWORK_COMMAND"', "bash"],
  command,
]

/** The arguments for a bash that runs `command`, with nothing of the user's start-up files. */
export const shell = (command: string): string[] => ["--noprofile", "--norc", "-c", prelude, "bash", command]
