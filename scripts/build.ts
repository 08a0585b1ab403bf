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
 * brings in all of fetch, which is most of a cold start. Asking Node for the module itself does not.
 */
const plainBuiltins: Plugin = {
  name: "plain-builtins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: "builtin" }))
    onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
      contents: slow.has(path) ? whenUsed(path) : `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
    }))
  },
}

/** Modules that take milliseconds to load, and that many starts name without using them. */
const slow = new Set(["node:crypto", "node:child_process"])

/** A module that is loaded when something of it is first used. */
function whenUsed(path: string): string {
  const names = Object.keys(process.getBuiltinModule(path) ?? {})
  const getters = names.map(
    (name) => `get ${name}() { return process.getBuiltinModule(${JSON.stringify(path)}).${name} }`,
  )
  return `module.exports = { ${getters.join(", ")} }`
}

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
