// A sitting in VS Code that tries every command of the extension which the other sittings do not, where it works and where
// there is nothing for it to do. Fails also where package.json has a command that no sitting tries.
//
//   node commands.mjs EXTENSION.vsix --server PATH [--chromium PATH]

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";

import { open, told, until } from "./editor.mjs";

const [vsix, ...rest] = process.argv.slice(2);
const option = (name, otherwise) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : otherwise);
const manifest = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, "..", "package.json"), "utf-8"));
const tried = new Set();

const editor = await open({
  vsix: path.resolve(vsix),
  workspace: path.join(import.meta.dirname, "commands"),
  chromiumPath: option("--chromium", "/usr/bin/chromium"),
  machine: { "cudaLsp.server.path": path.resolve(option("--server", ".venv/bin/cuda-lsp")) },
});
const { page, press, count, text, goTo, openFile, status, save, lightBulb } = editor;
const ERRORS = ".squiggly-error";
const plain = (texts) => texts.map((each) => each?.replaceAll("\u00a0", " ") ?? "");
const isSaid = (words) => until(words, async () => (await text(".notification-list-item-message")).some((note) => note?.includes(words)));
const isInStatusBar = (words) => until(words, async () => (await text(".statusbar-item")).some((item) => item?.includes(words)));
const rows = async () => plain(await text(".quick-input-list .monaco-list-row"));
const atRest = () => until("the server is at rest", async () => /is running/.test((await status()) ?? ""));

/** Choose a command by its title in package.json. */
async function command(title) {
  assert.ok(manifest.contributes.commands.some((each) => each.title.replace("…", "") === title), `there is no command ${title}`);
  tried.add(title);
  await editor.command(`cuda-lsp: ${title}`);
}

async function silence() {
  await editor.command("Notifications: Clear All Notifications");
}

/** What the newest run printed, once it has ended; the lens is that one of those over the text, from 0. */
async function runOfLens(number, ends) {
  const printed = async () => plain(await text(".terminal-wrapper.active .xterm-rows")).join("\n");
  await editor.command("Terminal: Kill All Terminals");
  await until("no terminal is left", async () => (await count(".terminal-wrapper.active")) === 0);
  await openFile("overloads.cu");
  // A click may miss while the text still moves up behind the terminal: then again.
  await until("a terminal", async () => {
    await page.locator(".codelens-decoration a", { hasText: /^run$/ }).nth(number).click();
    return page.waitForSelector(".terminal-wrapper.active", { timeout: 5_000 }).then(() => true, () => false);
  });
  return until("the run ends", async () => {
    const now = await printed();
    return ends.test(now) && now;
  });
}

try {
  const original = fs.readFileSync(path.join(editor.folder, "overloads.cu"), "utf-8");
  await openFile("overloads.cu");
  await until("both squiggles", async () => (await count(ERRORS)) === 2);
  await atRest();
  await press("Control+b");
  await until("all lenses", async () => (await text(".codelens-decoration a")).filter((lens) => lens === "run").length >= 3);

  const raced = await runOfLens(0, /in 4 runs/);
  assert.match(raced, /race on shared tile\[\d+\]/, "the cell is named by its array and index");
  assert.match(raced, /overloads\.cu:6/);
  assert.match(await runOfLens(1, /in 4 runs/), /no race seen/);
  assert.match(await runOfLens(2, /in 4 runs/), /overloads\.cu:23/, "of two instances the one with a race is run");
  assert.deepEqual((await text(".single-terminal-tab, .terminal-tabs-entry")).filter((tab) => tab?.includes("_Z")), [], "a mangled name is shown");
  told("the run lenses of two overloads and of a template run what they stand over");

  await openFile("overloads.cu");
  await goTo(12, 3);
  await command("Explain Kernel");
  await until("kernels of one name, told apart by line and verdict", async () => {
    const [first = "", second = ""] = await rows();
    return first.includes("line 9, at the cursor, race-free for 1 launch") && second.includes("line 2, 1 race");
  });
  for (const stage of ["", "ir", "events", "lockstep", "pairs", "conditions"]) {
    await press("Enter");
    await until("the stages", async () => (await rows()).some((row) => row.includes("lockstep")));
    await page.keyboard.type(stage);
    await press("Enter");
    await until("an explanation", async () => (await editor.activeTab())?.startsWith(`shift (${stage || "verdict"})`) === true);
    const shown = plain(await text(".editor-group-container.active .view-line")).join("\n");
    assert.match(shown, /shift|lock-step|block|pair/, `of ${stage}`);
    await editor.command("View: Close All Editors");
    await openFile("overloads.cu");
    await goTo(12, 3);
    await command("Explain Kernel");
    await until("the kernels", async () => (await rows()).length > 3);
  }
  await press("Escape");
  told("a kernel is explained in each of its stages, one of two with its name");

  await command("Apply All Proved Fixes");
  await isInStatusBar("all proved fixes are applied");
  const fixed = await save("overloads.cu");
  assert.equal(fixed.split("__syncthreads()").length, original.split("__syncthreads()").length + 1, "a barrier where none was");
  assert.doesNotMatch(fixed, /if \(N > 128\)/, "and one without its condition");
  await until("no squiggle is left", async () => (await count(ERRORS)) === 0);
  await atRest();
  await command("Apply All Proved Fixes");
  await isSaid("there is no proved fix to apply in this file");
  await silence();
  told("all fixes are applied at once, and where there is none that is said");

  await command("Check Open Files Again");
  await isInStatusBar("the open files were checked again");
  await command("Show Log");
  await until("the log", async () => plain(await text(".output-view-lines .view-line, .panel .view-line")).some((line) => /server \S+, extension/.test(line)));
  assert.match((await status()) ?? "", /is running/, "the status bar item stays while a CUDA file is seen");
  await editor.command("View: Hide Panel");
  told("open files are checked again, and the log is shown");

  await openFile("texture.cu");
  await until("the squiggle", () => count(ERRORS));
  await atRest();
  await goTo(4, 4);
  await lightBulb("Confirm by running");
  await page.locator(".action-widget .monaco-list-row", { hasText: "Confirm by running" }).click();
  await isSaid("sample was not run: the kernel uses what the CPU executor cannot run");
  const notes = await text(".notification-list-item-message");
  assert.ok(notes.every((note) => !/Request|workspace\/executeCommand|failed/.test(note ?? "")), notes.join("\n"));
  await silence();
  told("a run that is refused says why in a sentence");

  await page.locator(".view-line").nth(3).click({ button: "right" });
  await page.getByRole("menuitem", { name: "CUDA Synchronization" }).hover();
  for (const name of ["Preview Fix…", "Apply All Proved Fixes", "Show Races", "Explain Kernel…", "Run Kernel Under the Race Detector…"]) {
    await page.getByRole("menuitem", { name }).waitFor();
  }
  await press("Escape");
  await press("Escape");
  told("the menu of the editor has the commands about a kernel");

  await command("Open Settings");
  await until("the settings", async () => (await text(".settings-editor .setting-item-title")).some((title) => title?.includes("Run: Arguments")));
  await page.locator(".settings-editor .setting-item-contents", { hasText: "Cuda Lsp: Arch" }).locator("input").waitFor();
  await press("Escape");
  await editor.command("View: Close All Editors");
  told("the settings are those of the extension, with a field for each text");

  await openFile("texture.cu");
  await command("Stop Server");
  await until("the status bar says it", async () => /is stopped/.test((await status()) ?? "") && (await count(ERRORS)) === 0);
  await command("Show Races");
  await isSaid("the server is not running");
  await silence();
  await press("F1");
  await page.keyboard.type("cuda-lsp:");
  await until("the commands", async () => (await rows()).some((row) => row.includes("Restart Server")));
  assert.ok(!(await rows()).some((row) => /Apply All|Check Open Files|Stop Server/.test(row)), "what needs a server is offered without one");
  await press("Escape");
  await command("Show Menu");
  await until("it offers to start", async () => (await rows()).some((row) => row.includes("Start the server")));
  await press("Escape");
  await command("Restart Server");
  await until("the squiggle is back", () => count(ERRORS));
  told("the server is stopped, which commands say, and started again");

  await editor.command("View: Close All Editors");
  for (const title of ["Preview Fix", "Show Races", "Explain Kernel", "Run Kernel Under the Race Detector", "Apply All Proved Fixes"]) {
    await command(title);
    await isSaid("open a CUDA file first");
    await silence();
  }
  told("without a CUDA file the commands say so");

  // Those that session.mjs and restricted.mjs try.
  const elsewhere = ["Check Workspace", "Apply This Fix", "Get Started", "Install or Update the Extension's Own Server", "Remove the Extension's Own Server"];
  const others = ["session.mjs", "restricted.mjs"].map((name) => fs.readFileSync(path.join(import.meta.dirname, name), "utf-8")).join("\n");
  const untried = manifest.contributes.commands.map((each) => each.title.replace("…", "")).filter((title) => !tried.has(title) && !elsewhere.includes(title));
  assert.deepEqual(untried, [], "commands that no sitting tries");
  assert.deepEqual(elsewhere.filter((title) => !title.startsWith("Install") && !others.includes(`cuda-lsp: ${title}`)), [], "said to be tried elsewhere");
  told(`all ${manifest.contributes.commands.length} commands were tried`);
} catch (error) {
  console.error(error, await status(), editor.log());
  await editor.picture("failure.png");
  process.exitCode = 1;
} finally {
  await editor.close();
}
