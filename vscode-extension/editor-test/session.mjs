// A sitting in VS Code: open a racy reduction, see the squiggle, read the hover, preview the fix, apply it, undo it, run the
// kernel, check the workspace. Ends with exit code 1 at the first thing that is not as it should be.
//
//   node session.mjs EXTENSION.vsix --server PATH --pictures FOLDER [--chromium PATH]

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";

import { look } from "./accessibility.mjs";
import { open, started, told, until } from "./editor.mjs";

const [vsix, ...rest] = process.argv.slice(2);
const option = (name, otherwise) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : otherwise);
const pictures = path.resolve(option("--pictures", "pictures"));
const chromiumPath = option("--chromium", "/usr/bin/chromium");
const server = path.resolve(option("--server", ".venv/bin/cuda-lsp"));
const workspace = path.join(import.meta.dirname, "workspace");

const editor = await open({ vsix: path.resolve(vsix), workspace, chromiumPath, machine: { "cudaLsp.server.path": server } });
const { page, press, command, count, text, goTo, openFile, status, save, shownIn, lightBulb } = editor;
fs.mkdirSync(pictures, { recursive: true });
const picture = (name, clip) => editor.picture(path.join(pictures, `vscode-${name}.png`), clip);
const ERRORS = ".squiggly-error";
let failed = true;

try {
  told("VS Code is open");
  const original = fs.readFileSync(path.join(workspace, "reduction.cu"), "utf-8");

  const opened = performance.now();
  await openFile("reduction.cu");
  await until("a squiggle", () => count(ERRORS));
  const seconds = (since) => ((performance.now() - since) / 1000).toFixed(1);
  told(`a squiggle, ${seconds(opened)} s after the file was asked for, ${seconds(started)} s after the .vsix was there`);
  await until("the server is at rest", async () => /is running/.test((await status()) ?? ""));
  await until("a lens over the kernel", async () => (await text(".codelens-decoration a")).includes("1 race"));

  // A hover takes as much of the window as its lines do: enough that it ends above the status bar.
  const usual = page.viewportSize();
  const tall = { ...usual, height: 700 };
  await page.setViewportSize(tall);
  await press("Control+b");
  await goTo(14, 4);
  await press("Control+k");
  await press("Control+i");
  await until("a hover", async () => (await text(".monaco-hover-content")).some((hover) => hover?.includes("thread (128, 0, 0)")));
  const hover = (await text(".monaco-hover-content")).join("\n");
  assert.match(hover, /data-race/);
  assert.match(hover, /part\[128\]/);
  assert.equal(hover.split("Data race on shared").length - 1, 1, "the message stands in the hover once");
  await picture("hover");
  await page.setViewportSize(usual);
  told("the hover names the threads and the cell");
  await press("Escape");

  await lightBulb("Insert __syncthreads()");
  await picture("fix");
  await press("Escape");
  told("the light bulb offers the fix");

  await command("cuda-lsp: Preview Fix");
  await until("a diff", () => count(".monaco-diff-editor .char-insert, .monaco-diff-editor .line-insert"));
  await until("the button", () => count('.editor-actions a[aria-label^="Apply This Fix"]'));
  await picture("preview");
  await command("cuda-lsp: Apply This Fix");
  await until("the file is in front again", async () => (await editor.activeTab()) === "reduction.cu" && (await count(".monaco-diff-editor")) === 0);
  const fixed = original.replace("  part[t] = sum;\n", "  part[t] = sum;\n  __syncthreads();\n");
  assert.notEqual(fixed, original);
  assert.equal(await save("reduction.cu"), fixed);
  await until("no squiggle is left", async () => (await count(ERRORS)) === 0);
  told("the previewed fix is applied, and the squiggle is gone");

  await press("Control+z");
  assert.equal(await save("reduction.cu"), original);
  await until("the squiggle is back", () => count(ERRORS));
  told("the fix is undone, and the squiggle is back");

  await goTo(14, 4);
  await lightBulb("Insert __syncthreads()");
  await press("Enter");
  await until("the barrier is there", async () => (await text(".view-line")).filter((line) => line?.includes("__syncthreads()")).length === 2);
  assert.equal(await save("reduction.cu"), fixed);
  await until("no squiggle is left", async () => (await count(ERRORS)) === 0);
  await press("Control+z");
  assert.equal(await save("reduction.cu"), original);
  told("the same through the light bulb");

  await lightBulb("Ignore this data-race with a comment");
  await press("ArrowDown");
  await press("ArrowDown");
  await press("Enter");
  await until("the comment is there", async () => (await text(".view-line")).some((line) => line?.replaceAll("\u00a0", " ").includes("// cuda-lsp: ignore[data-race]")));
  await page.keyboard.type("the loop waits");
  const ignored = original.replace("  part[t] = sum;\n", "  part[t] = sum;  // cuda-lsp: ignore[data-race] the loop waits\n");
  assert.equal(await save("reduction.cu"), ignored, "what is typed next is the reason");
  await until("no squiggle is left", async () => (await count(ERRORS)) === 0);
  await until("the lens says it", async () => (await text(".codelens-decoration a")).some((lens) => lens?.includes("1 race suppressed")));
  await until("the file is as before", async () => {
    await press("Control+z");
    return (await text(".view-line")).every((line) => !line?.includes("ignore"));
  });
  assert.equal(await save("reduction.cu"), original);
  await until("the squiggle is back", () => count(ERRORS));
  await goTo(14, 4);
  told("the light bulb writes a comment that suppresses the finding, and the cursor waits at the reason");

  await lightBulb("Confirm by running");
  await press("ArrowDown");
  await press("Enter");
  await until("the run is told", async () => (await text(".notification-list-item-message")).some((note) => note?.includes("1 of 1 findings confirmed")));
  await command("Notifications: Clear All Notifications");
  await page.setViewportSize(tall);
  await goTo(14, 4);
  await press("Control+k");
  await press("Control+i");
  await until("a hover that tells the run", async () => (await text(".monaco-hover-content")).some((hover) => hover?.includes("Confirmed by a run on the CPU")));
  await picture("confirmed");
  await page.setViewportSize(usual);
  await press("Escape");
  told("a run from the light bulb confirms the finding");

  await openFile("scale.cu");
  await until("the barrier is faded", () => count(".squiggly-unnecessary, .squiggly-inline-unnecessary"));
  await until("a lens over its kernel", async () => (await text(".codelens-decoration a")).some((lens) => lens?.includes("barrier")));
  await picture("faded");
  told("a useless barrier is faded");

  await openFile("reduction.cu");
  await command("cuda-lsp: Run Kernel Under the Race Detector");
  await until("the run confirms the race", async () => {
    const rows = await text(".terminal-wrapper.active .xterm-rows");
    return rows.some((row) => row?.replaceAll("\u00a0", " ").includes("1 race in 4 runs"));
  });
  await command("View: Toggle Maximized Panel");
  await until("the new size is not shown any more", async () => (await count(".terminal-resize-overlay.visible")) === 0);
  await picture("run");
  await command("View: Toggle Maximized Panel");
  await command("View: Hide Panel");
  await openFile("reduction.cu");
  told("the race detector confirms the race in a terminal");

  await press("Control+b");
  await command("cuda-lsp: Check Workspace");
  await until("the end is told", async () => (await text(".notification-list-item-message")).some((note) => note?.includes("3 files were checked")));
  await command("Problems: Focus on Problems View");
  await until("the findings of files that are not open", async () => (await text(".markers-panel .monaco-list-row")).some((row) => row?.includes("histogram.cu")));
  await command("Notifications: Clear All Notifications");
  await picture("problems");
  told("the workspace is checked");

  await command("cuda-lsp: Show Menu");
  await until("the menu", async () => (await text(".quick-input-list .monaco-list-row")).some((row) => row?.includes("Explain a kernel")));
  await picture("status");
  await press("Escape");

  await command("View: Hide Panel");
  await openFile("reduction.cu");
  await press("Control+b");
  await page.click('.codelens-decoration a:has-text("1 race")');
  const drawn = await until("the races are drawn", () => shownIn("What happens when"));
  await drawn.locator("body").press("End");
  await command("View: Toggle Maximize Editor Group");
  await until("the commands are gone", () => page.evaluate(() => [...document.querySelectorAll(".quick-input-widget")].every((each) => each.checkVisibility() === false)));
  await picture("races");
  await drawn.locator("h3", { hasText: "The two threads" }).evaluate((heading) => heading.scrollIntoView({ block: "start" }));
  await drawn.evaluate(() => globalThis.scrollBy(0, -70));
  await picture("threads");
  await drawn.locator("button", { hasText: /^line 16$/ }).first().click();
  await until("the line is shown", async () => (await text(".statusbar-item")).some((item) => item?.startsWith("Ln 16")));
  told("the lens over the kernel leads to its races, drawn, and they lead back to the code");

  fs.mkdirSync(path.join(editor.folder, ".vscode"));
  for (const [theme, mark] of [["Dark Modern", "vscode-dark"], ["Default High Contrast", "vscode-high-contrast"], ["Default High Contrast Light", "vscode-high-contrast-light"]]) {
    fs.writeFileSync(path.join(editor.folder, ".vscode", "settings.json"), JSON.stringify({ "workbench.colorTheme": theme }));
    await until(`the races are drawn in ${theme}`, () => drawn.evaluate((name) => document.body.classList.contains(name), mark));
    await look(drawn, `the races in ${theme}`);
  }
  fs.rmSync(path.join(editor.folder, ".vscode"), { recursive: true });
  told("axe-core finds nothing in the races, dark and in high contrast");

  await command("cuda-lsp: Get Started");
  await until("the walkthrough", () => count(".getting-started-step"));
  const steps = await count(".getting-started-step");
  await until("all steps are ticked", async () => (await count(".getting-started-step .codicon-getting-started-step-checked")) === steps);
  told(`all ${steps} steps of the walkthrough are ticked`);

  await command("cuda-lsp: Restart Server");
  // The status bar item is beside CUDA files only.
  await until("it is up again", () => editor.log().match(/\] server \S+, extension/g)?.length === 2);
  told("the server was restarted");
  failed = false;
} catch (error) {
  console.error(error);
  await editor.picture(path.join(pictures, "failure.png"));
  console.error(`the window as it was: ${path.join(pictures, "failure.png")}; the status bar said: ${await status()}`);
  console.error(editor.log());
} finally {
  await editor.close();
}
told(failed ? "failed" : "all is well");
process.exit(failed ? 1 : 0);
