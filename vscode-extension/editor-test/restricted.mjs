// VS Code with a workspace that is not trusted, and with no server on the machine: what is done without trust, and what is
// asked without a server.
//
//   node restricted.mjs EXTENSION.vsix --server PATH [--chromium PATH] [--install]
//
// With --install the server is really installed, from the extension's package and the package index; it takes a minute.

import assert from "node:assert/strict";
import * as path from "node:path";

import { open, told, until } from "./editor.mjs";

const [vsix, ...rest] = process.argv.slice(2);
const option = (name, otherwise) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : otherwise);
const common = { vsix: path.resolve(vsix), workspace: path.join(import.meta.dirname, "workspace"), chromiumPath: option("--chromium", "/usr/bin/chromium") };
const server = path.resolve(option("--server", ".venv/bin/cuda-lsp"));
const INSTALL_MS = 600_000;

async function sitting(name, wish, work) {
  const editor = await open({ ...common, ...wish });
  try {
    await work(editor);
    told(name);
  } catch (error) {
    console.error(error, await editor.status(), editor.log());
    await editor.picture("failure.png");
    process.exitCode = 1;
  } finally {
    await editor.close();
  }
}

await sitting("without trust kernels are checked, and none is run", { trust: true, machine: { "cudaLsp.server.path": server } }, async (editor) => {
  const { page, openFile, goTo, lightBulb, count, text, press } = editor;
  await openFile("reduction.cu");
  await until("a squiggle", () => count(".squiggly-error"));
  await press("F1");
  await page.waitForSelector(".quick-input-widget input");
  await page.keyboard.type("cuda-lsp:");
  const rows = () => text(".quick-input-list .monaco-list-row");
  await until("the commands", async () => (await rows()).some((row) => row?.includes("Explain Kernel")));
  assert.ok(!(await rows()).some((row) => row?.includes("Run Kernel")), "Run Kernel is offered");
  await press("Escape");
  await until("a lens over the kernel", async () => (await text(".codelens-decoration a")).includes("1 race"));
  assert.ok(!(await text(".codelens-decoration a")).includes("run"), "a lens offers a run");
  await goTo(14, 4);
  await lightBulb("Insert __syncthreads()");
  assert.ok(!(await text(".action-widget .monaco-list-row")).some((row) => row?.includes("Confirm")), "the light bulb offers a run");
});

const nowhere = { trust: false, searchPath: "/usr/bin:/bin" };
await sitting(rest.includes("--install") ? "a server was installed, and checks" : "without a server the user is asked", nowhere, async (editor) => {
  const { page, openFile, count, text, status } = editor;
  await openFile("reduction.cu");
  await until("the question", async () => (await text(".notification-list-item-message")).some((note) => note?.includes("no server was found")));
  await until("the status bar says it", async () => /no server/.test((await status()) ?? ""));
  if (rest.includes("--install")) {
    await page.click('.notification-list-item a.monaco-button:has-text("Install")');
    await until("a squiggle", () => count(".squiggly-error"), INSTALL_MS);
    assert.match((await status()) ?? "", /is running|Checking/);
    told(editor.log().split("\n").slice(-4).join("\n"));
    await editor.command("cuda-lsp: Remove the Extension's Own Server");
    await page.waitForSelector(".monaco-dialog-box");
    await page.keyboard.press("Enter");
    await until("the server is gone", async () => /no server/.test((await status()) ?? "") && (await count(".squiggly-error")) === 0);
    await editor.command("cuda-lsp: Show Menu");
    await until("it is offered again", async () => (await text(".quick-input-list .monaco-list-row")).some((row) => row?.includes("Install the server")));
    told("it was removed again");
  } else {
    await page.click('.notification-list-item a.monaco-button:has-text("Not Now")');
    assert.equal(await count(".squiggly-error"), 0);
  }
});
