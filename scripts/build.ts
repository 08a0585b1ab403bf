import { createHash } from "node:crypto"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { build, type Plugin } from "esbuild"

/** What is large and needed by few starts is in files of its own, which the launcher loads when they are asked for. */
const files: Record<string, string> = {
  "./screen.ts": "src/cli/tui/screen.ts",
  diff: "diff",
  picomatch: "picomatch",
  unbash: "unbash",
  yaml: "yaml",
}
const fileOf = (name: string): string => name.replace(/^\.\/|\.ts$/g, "")

const apart: Plugin = {
  name: "apart",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /.*/ }, ({ path, kind }) =>
      kind === "dynamic-import" && path in files ? { path: `./${fileOf(path)}.cjs`, namespace: "apart" } : undefined,
    )
    onResolve({ filter: /.*/, namespace: "apart" }, ({ path }) => ({ path, external: true }))
    onLoad({ filter: /.*/, namespace: "apart" }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)})`,
    }))
  },
}

/** Each file of the command begins with its hash, by which the launcher finds what it has compiled before. */
async function written(files: { path: string; text: string }[]): Promise<void> {
  for (const { path, text } of files) {
    const plain = ascii(text)
    const hash = createHash("sha256").update(plain).digest("hex").slice(0, 16)
    await writeFile(path, `//${hash}\n${plain}`)
  }
}

/** The launcher reads a byte a letter, which is fastest. What is left by the bundler stands in regular expressions. */
const ascii = (text: string): string =>
  text.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/**
 * Importing a module of Node's as ESM reads every one of its exports, and some of those load much more: `node:http`
 * brings in all of fetch, which is most of a cold start. Asking Node for the module itself does not, and what has to be
 * asked for is left alone unless somebody names it.
 */
const plainBuiltins: Plugin = {
  name: "plain-builtins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: "builtin" }))
    onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
      contents: slow.has(path) ? whenUsed(path) : atOnce(path),
    }))
  },
}

const namesOf = (path: string): string[] =>
  Object.keys(process.getBuiltinModule(path) ?? {}).filter(
    (name) => /^[a-zA-Z_$][\w$]*$/.test(name) && name !== "default",
  )

/** What nobody imports of it is dropped, so nothing else is ever asked for. */
const exporting = (path: string, how: string): string =>
  namesOf(path)
    .map((name) => `export const ${name} = /* @__PURE__ */ ${how}("${name}")`)
    .join("\n")

const atOnce = (path: string): string => `
const $all = process.getBuiltinModule(${JSON.stringify(path)})
const $take = (name) => $all[name]
export default $all
${exporting(path, "$take")}`

/** Modules that take milliseconds to load, and that many starts name without using them. */
const slow = new Set(["node:crypto", "node:child_process"])

/** A module that is loaded when a function of it is first called. */
const whenUsed = (path: string): string => `
let $loaded
const $all = () => ($loaded ??= process.getBuiltinModule(${JSON.stringify(path)}))
const $later = (name) => {
  const call = (...given) => $all()[name](...given)
  const custom = Symbol.for("nodejs.util.promisify.custom")
  return Object.defineProperty(call, custom, { get: () => $all()[name][custom] })
}
export default new Proxy({}, { get: (_, name) => $all()[name] })
${exporting(path, "$later")}`

const common = {
  bundle: true,
  splitting: false,
  platform: "node" as const,
  target: "node22",
  logLevel: "warning" as const,
  legalComments: "none" as const,
  plugins: [plainBuiltins],
}

await Promise.all(["dist/cli", "dist/lib"].map((folder) => rm(folder, { recursive: true, force: true })))
const [command] = await Promise.all([
  // The command: everything in one place, because finding and reading many small files is most of a cold start.
  build({
    ...common,
    format: "cjs",
    entryPoints: {
      main: "src/cli/main.ts",
      ...Object.fromEntries(Object.entries(files).map(([name, from]) => [fileOf(name), from])),
    },
    outdir: "dist/cli",
    outExtension: { ".js": ".cjs" },
    minify: true,
    write: false,
    plugins: [plainBuiltins, apart],
    define: {
      "import.meta.dirname": "__dirname",
      "import.meta.url": "$url",
    },
    banner: { js: '"use strict"; const $url = require("node:url").pathToFileURL(__filename).href;' },
  }),
  // The library: dependencies stay outside, so that a program and its tools share one zod with us.
  build({
    ...common,
    format: "esm",
    entryPoints: { index: "src/index.ts", testing: "src/testing.ts" },
    outdir: "dist/lib",
    packages: "external",
  }),
])
await mkdir("dist/cli", { recursive: true })
await written(command.outputFiles)
