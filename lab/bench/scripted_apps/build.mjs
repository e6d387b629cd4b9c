// node build.mjs FOLDER: bundles the apps of this folder into FOLDER, with what `npm install` put there.
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const target = process.argv[2], here = fileURLToPath(new URL(".", import.meta.url));
const require = createRequire(join(target, "package.json"));
const esbuild = require("esbuild");
const { default: sveltePlugin } = await import(require.resolve("esbuild-svelte"));
const common = { bundle: true, minify: true, nodePaths: [join(target, "node_modules")], logLevel: "error", conditions: ["svelte"] };
const define = { "process.env.NODE_ENV": '"production"' };
const plugins = [(sveltePlugin.default || sveltePlugin)({ compilerOptions: { css: "injected" } })];
for (const name of ["react_main.jsx", "vue_main.js", "svelte_main.js", "lit_main.js", "angular_main.js"]) {
  const outfile = join(target, name.replace(/_main\.jsx?$/, ".js"));
  await esbuild.build({ ...common, define, plugins, entryPoints: [join(here, name)], outfile, platform: "browser", format: "iife" });
}
const server = { entryPoints: [join(here, "react_server.jsx")], outfile: join(target, "react_server.cjs"), platform: "node" };
await esbuild.build({ ...common, define, ...server });
