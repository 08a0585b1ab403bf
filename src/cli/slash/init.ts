import type { Command } from "./ground.ts"

const task = `Write AGENTS.md at the root of this project: what a coding agent that has never seen the project must know to work well in it, and could not easily see for itself.

Find out first. Look at the README, the manifests and lock files, the build, test and CI settings, the layout of the source, and a few files of each kind. Read also what is there for other agents: CLAUDE.md, GEMINI.md, .cursor/rules, .cursorrules, .github/copilot-instructions.md. If the project is large, send explore agents for its parts, several at once.

What belongs in it, as far as it is true here:
- One or two sentences on what the project is.
- The exact commands to install, build, check, test (all, and one test alone), format and run it. Name only commands that are in the project's own files; run those that are quick and harmless to see that they work.
- Where things are: the main folders and what each is for, and which parts may depend on which.
- How code is written here where that is not what everybody does: names, errors, tests, comments.
- What goes wrong easily: generated files, order of steps, services or variables that must be there, what must not be touched.

Keep it under 60 lines, in plain sentences and lists. Leave out what holds for every project, lists of all files, and anything that you only guess. No secrets and no paths of this machine.

If AGENTS.md is there already, keep what is right and in its author's words, mend what is wrong, add what is missing. If there is only a CLAUDE.md, take over what it says that is of use to any agent and leave that file as it is.

Then tell me in a few lines what you wrote, what you ran to check it, and what you could not find out.`

export const init: Command = {
  name: "init",
  about: "has the agent write AGENTS.md for this project",
  run: async (_, ground) => ground.prompt(task),
}
