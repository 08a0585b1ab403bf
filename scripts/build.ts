import { rm } from "node:fs/promises"
import { build, type Plugin } from "esbuild"

/** What draws on a terminal is large and needed by few starts, so it is a file of its own. */
const apart: Plugin = {
  name: "apart",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/screen\.ts$/ }, ({ kind }) =>
      kind === "dynamic-import" ? { path: "./screen.js", external: true } : undefined,
    )
  },
}

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
const $all = () => process.getBuiltinModule(${JSON.stringify(path)})
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
  format: "esm" as const,
  platform: "node" as const,
  target: "node22",
  logLevel: "warning" as const,
  legalComments: "none" as const,
  plugins: [plainBuiltins],
}

await Promise.all(["dist/cli", "dist/lib"].map((folder) => rm(folder, { recursive: true, force: true })))
await Promise.all([
  // The command: everything in one place, because finding and reading many small files is most of a cold start.
  build({
    ...common,
    entryPoints: { main: "src/cli/main.ts", screen: "src/cli/tui/screen.ts" },
    outdir: "dist/cli",
    minify: true,
    plugins: [plainBuiltins, apart],
    external: ["@vscode/ripgrep", "yaml"],
    banner: {
      js: 'import { createRequire as $require } from "node:module"; const require = $require(import.meta.url);',
    },
  }),
  // The library: dependencies stay outside, so that a program and its tools share one zod with us.
  build({
    ...common,
    entryPoints: { index: "src/index.ts", testing: "src/testing.ts" },
    outdir: "dist/lib",
    packages: "external",
  }),
])
