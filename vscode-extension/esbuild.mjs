// Bundles the extension into out/extension.js, with the pictures of the walkthrough beside it; `--tests` bundles the unit
// tests instead, each into a file of its own.

import * as fs from "node:fs";
import * as path from "node:path";
import { build } from "esbuild";

const common = { bundle: true, platform: "node", target: "node20", format: "cjs", logLevel: "warning" };

if (process.argv.includes("--tests")) {
  fs.rmSync("out/test", { recursive: true, force: true });
  const names = fs.readdirSync("test").filter((name) => name.endsWith(".test.ts"));
  await build({ ...common, entryPoints: names.map((name) => path.join("test", name)), outdir: "out/test", sourcemap: "inline" });
} else {
  await build({
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "out/extension.js",
    external: ["vscode"],
    minify: true,
    sourcemap: process.argv.includes("--sourcemap"),
    legalComments: "eof",
  });
  const wanted = JSON.parse(fs.readFileSync("package.json", "utf-8"))
    .contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps)
    .map((step) => step.media.image);
  fs.rmSync("out/images", { recursive: true, force: true });
  fs.mkdirSync("out/images", { recursive: true });
  for (const image of new Set(wanted)) {
    fs.copyFileSync(path.join("..", "docs", "images", path.basename(image)), image);
  }
}
