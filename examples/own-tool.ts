// A tool of our own. It says what it touches, so that permission can be asked for it, and whether it may be repeated.
import { open, tool } from "legwork"
import * as z from "zod"

const stock = tool({
  name: "stock",
  description: "How many of an article are in stock.",
  input: z.strictObject({ article: z.string() }),
  repeatable: true,
  access: () => ({ kind: "none" }),
  run: async ({ article }) => ({ ok: true, text: article === "chair" ? "7" : "0" }),
})

const session = await open({ cwd: process.argv[2] ?? ".", tools: [stock] })
const { text } = await session.prompt("How many chairs are in stock?")
console.log(text)
await session.close()
