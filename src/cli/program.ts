import { Command, CommanderError, Option } from "commander"
import { version } from "../version.ts"
import type { AgentFlags } from "./commands/agents.ts"
import type { ResumeFlags } from "./commands/resume.ts"
import type { SandboxFlags } from "./commands/sandbox.ts"
import type { ShowFlags } from "./commands/sessions.ts"
import type { TrustFlags } from "./commands/trust.ts"
import { codes } from "./exit.ts"

export type Flags = {
  print?: string | true
  outputFormat: "text" | "json" | "stream-json"
  model?: string
  cwd?: string
  permissionMode?: string
  maxTurns?: string
  agents?: string
  continue?: true
  resume?: string
  /** Whether `-p` waits for agents that work in the background. */
  drain: boolean
  verbose?: true
  plain?: true
}

const examples = `
Examples:
  $ legwork                                    talk to it
  $ legwork -p "where are retries decided?"    one answer, then done
  $ git diff | legwork -p "review this"        with standard input
  $ legwork -c -p "and the tests?"             go on with the last session of this folder
  $ legwork resume                             choose a session to go on with
  $ legwork -p "…" --no-drain                  do not wait for agents in the background; legwork resume takes them up
  $ legwork -p "…" --output-format json | jq .text

Without a key the built-in offline model answers: it searches and does not think. Set ANTHROPIC_API_KEY,
OPENAI_API_KEY or another provider's key, or name a local model: --model ollama/qwen3.

Exit codes: 0 done, 1 failed, 2 wrong usage, 53 turn or budget limit, 74 disk, 124 timeout, 130 interrupted.`

const resumeExamples = `
The options of legwork itself work here too, such as -p, --model, --output-format, --no-drain and --verbose.

Examples:
  $ legwork resume                             choose among the sessions of this folder
  $ legwork resume 20260102-1530               the one that begins so
  $ legwork resume 20260102-1530 -p            finish what is unfinished, print the answer, end
  $ legwork resume 20260102-1530 -p "now the tests"`

/** By then a session has begun. Later the system forgets again what it compiled for that. In milliseconds. */
const settledIn = 5_000

/** Reads the command line and does what it says. Resolves to the exit code. `keep` is called when a session has begun. */
export async function program(argv: string[], keep: () => void): Promise<number> {
  let code: number = codes.done
  const worked = async (work: () => Promise<number>): Promise<number> => {
    let isKept = false
    const keepOnce = () => {
      if (!isKept) keep()
      isKept = true
    }
    const begun = setTimeout(keepOnce, settledIn).unref()
    const code = await work()
    clearTimeout(begun)
    keepOnce()
    return code
  }
  const legwork = new Command("legwork")
    .description("A coding agent that sends subagents to do the legwork and keeps its own context clean.")
    .version(version, "-v, --version")
    .exitOverride()
    .showSuggestionAfterError()
    .argument("[prompt]", "what to do; with -p it may follow that option instead")
    .option("-p, --print [prompt]", "answer once and exit; the prompt may also come from standard input")
    .addOption(
      new Option("--output-format <format>", "what -p prints: the answer, one JSON object, or every event as a line")
        .choices(["text", "json", "stream-json"])
        .default("text"),
    )
    .option("--model <provider/name>", "the model to use, or an alias such as sonnet")
    .option("--cwd <folder>", "the folder to work in")
    .addOption(
      new Option("--permission-mode <mode>", "what needs no question").choices([
        "default",
        "acceptEdits",
        "plan",
        "bypass",
      ]),
    )
    .option("--max-turns <n>", "answers of the model before it must sum up")
    .option("--agents <json>", "more agents, as JSON: { name: { description, prompt, tools?, model? } }")
    .option("-c, --continue", "go on with the last session of this folder")
    .option("-r, --resume <id>", "go on with this session; the beginning of its id is enough")
    .option("--no-drain", "-p ends with its answer, and puts aside agents that are still at work in the background")
    .option("--plain", "the conversation line by line, without drawing on the screen")
    .option("--verbose", "show every tool call")
    .addHelpText("after", examples)
    .action(async (prompt: string | undefined, flags: Flags) => {
      code = await worked(() => main(prompt, flags))
    })

  legwork
    .command("resume")
    .description(
      "goes on with a session and all that was under way in it, also after a crash; without an id you choose",
    )
    .argument("[id]", "the session, or the beginning of its id")
    .argument("[prompt]", "what to do next; without it, only what is unfinished is done")
    .option("--all", "choose among the sessions of every folder")
    .addHelpText("after", resumeExamples)
    .action(async (id: string | undefined, prompt: string | undefined, own: ResumeFlags) => {
      const { resume } = await import("./commands/resume.ts")
      const flags = await resume(id, legwork.opts<Flags>(), own)
      code = typeof flags === "number" ? flags : await worked(() => main(prompt, flags))
    })
  const sessions = legwork.command("sessions").description("what was done before")
  sessions
    .command("list")
    .description("the sessions of this folder, newest first")
    .option("--all", "of every folder")
    .option("--json", "as JSON")
    .action(async (flags: { all?: true; json?: true }) => {
      code = await (await import("./commands/sessions.ts")).list(flags, legwork.opts<Flags>().cwd)
    })
  sessions
    .command("show <id>")
    .description("one session, from its first prompt to its last answer")
    .option("--run <run>", "only this run of it; the beginning of its id is enough")
    .option("--requests", "what was sent to the model: its size by part, how much was sent before, what the cache did")
    .option("--json", "every stored fact, one a line; with --requests these, as an array")
    .action(async (id: string, flags: ShowFlags) => {
      code = await (await import("./commands/sessions.ts")).show(id, flags)
    })
  const agents = legwork.command("agents").description("who can be sent to work")
  const commands = async () => import("./commands/agents.ts")
  const agentCommand = (name: string, about: string) =>
    agents
      .command(name)
      .description(about)
      .option("--json", "as JSON")
      .option("--dir <folder>", "look at this folder of agent files instead")
  agentCommand("list", "every agent, and where it comes from").action(async (flags: AgentFlags) => {
    code = await (await commands()).list(flags, legwork.opts<Flags>())
  })
  agentCommand("show <name>", "one agent: its tools, model, limits, and the line each comes from").action(
    async (name: string, flags: AgentFlags) => {
      code = await (await commands()).show(name, flags, legwork.opts<Flags>())
    },
  )
  agentCommand("doctor", "what is wrong with agent files, and what to do").action(async (flags: AgentFlags) => {
    code = await (await commands()).doctor(flags, legwork.opts<Flags>())
  })
  agentCommand("new <name>", "begins an agent file")
    .option("--user", "for all projects, not this one")
    .action(async (name: string, flags: AgentFlags) => {
      code = await (await commands()).create(name, flags, legwork.opts<Flags>())
    })
  legwork
    .command("trust")
    .description("lets the settings, hooks and agents of this project do more than restrict")
    .option("--show", "only say what there is to trust")
    .option("--remove", "take it back")
    .option("--json", "as JSON")
    .action(async (flags: TrustFlags) => {
      code = await (await import("./commands/trust.ts")).trustFolder(flags, legwork.opts<Flags>().cwd)
    })
  legwork
    .command("sandbox")
    .description("runs a command in the fence that agents' commands run in, to see what it keeps out")
    .argument("<command...>", "the command and its arguments, after --")
    .addOption(
      new Option("--profile <profile>", "what may be written")
        .choices(["read-only", "workspace-write"])
        .default("read-only"),
    )
    .option("--network", "with the network")
    .action(async (command: string[], flags: SandboxFlags) => {
      code = await (await import("./commands/sandbox.ts")).sandbox(command, flags, legwork.opts<Flags>().cwd)
    })
  legwork
    .command("doctor")
    .description("what works here, what is missing and how to get it")
    .option("--json", "as JSON")
    .action(async (flags: { json?: true }) => {
      code = await (await import("./commands/doctor.ts")).doctor(flags, legwork.opts<Flags>())
    })

  try {
    await legwork.parseAsync(joined(argv), { from: "user" })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? codes.done : codes.usage
    throw error
  }
  return code
}

/** A prompt may begin with a dash, as a list does; words with a space in them are no option. */
function joined(argv: string[]): string[] {
  const at = argv.findIndex((word, n) => /^(-p|--print)$/.test(word) && /^-.*\s/.test(argv[n + 1] ?? ""))
  return at < 0 ? argv : [...argv.slice(0, at), `--print=${argv[at + 1]}`, ...argv.slice(at + 2)]
}

async function main(argument: string | undefined, flags: Flags): Promise<number> {
  const given = typeof flags.print === "string" ? [flags.print, argument] : [argument]
  const prompt = given.filter((text) => text !== undefined).join(" ")
  const headless = flags.print !== undefined || !process.stdin.isTTY || !process.stdout.isTTY
  if (headless) return (await import("./commands/print.ts")).print(prompt, flags)
  // A screen reader, or a terminal that cannot be drawn on, has the conversation line by line.
  if (flags.plain || process.env.TERM === "dumb") return (await import("./commands/chat.ts")).chat(prompt, flags)
  return (await import("./tui/app.ts")).tui(prompt, flags)
}
