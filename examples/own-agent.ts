// An agent of our own: a definition, or a function of the settings that returns one.
import { open } from "legwork"

const session = await open({
  cwd: process.argv[2] ?? ".",
  agents: {
    critic: {
      description: "Finds the weakest point of a text.",
      prompt: "You name the weakest point of what you are given, in one sentence.",
      tools: ["read"],
    },
    librarian: ({ smallModel, model }) => ({
      description: "Finds files by what they are about.",
      prompt: "You list the files that a topic touches, one a line, and nothing else.",
      tools: ["glob", "grep"],
      model: smallModel ?? model ?? "inherit",
    }),
  },
})
const { agentType, content, model } = await session.task({ agent: "critic", prompt: "Our plan: rewrite everything." })
console.log(`${agentType} (${model}): ${content}`)
await session.close()
