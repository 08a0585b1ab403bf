import { rm } from "node:fs/promises"
import { build } from "esbuild"

const common = {
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node22",
  logLevel: "warning",
  legalComments: "none",
} as const

await rm("dist", { recursive: true, force: true })
await Promise.all([
  // The command: everything in one place, because finding and reading many small files is most of a cold start.
  build({
    ...common,
    entryPoints: { main: "src/cli/main.ts" },
    outdir: "dist/cli",
    minify: true,
    keepNames: true,
    external: ["@vscode/ripgrep"],
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
