// VS Code with several workspace folders: each with its own settings, a file outside of all of them, and what is seen when
// the server, or a process that works for it, is killed.
//
//   node workspaces.mjs EXTENSION.vsix --server PATH [--chromium PATH] [--pictures FOLDER]

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";

import { open, told, until } from "./editor.mjs";

const [vsix, ...rest] = process.argv.slice(2);
const option = (name, otherwise) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : otherwise);
const pictures = option("--pictures");

const RACE = `__global__ void shift(int *a) {
  int i = threadIdx.x;
  a[i] = a[i + 1];
}
void run(int *a) { shift<<<1, 64>>>(a); }
`;

const editor = await open({
  vsix: path.resolve(vsix),
  workspace: path.join(import.meta.dirname, "folders"),
  workspaceFile: "both.code-workspace",
  chromiumPath: option("--chromium", "/usr/bin/chromium"),
  machine: { "cudaLsp.server.path": path.resolve(option("--server", ".venv/bin/cuda-lsp")) },
});
const { page, press, count, text, openFile, status, goTo } = editor;
const ERRORS = ".squiggly-error";
const atRest = () => until("the server is at rest", async () => /is running/.test((await status()) ?? ""));
const plain = (texts) => texts.map((each) => each?.replaceAll("\u00a0", " ") ?? "");
const picture = async (name) => pictures === undefined || editor.picture(path.join(pictures, name));

/** The processes below the editor whose command line has these words. */
function processes(words) {
  const lines = execFileSync("ps", ["-eo", "pid,ppid,args"], { encoding: "utf-8" }).trim().split("\n").slice(1);
  const all = lines.map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line)).map(([, pid, parent, args]) => ({ pid: Number(pid), parent: Number(parent), args }));
  const below = new Set([editor.process]);
  for (let before = 0; before !== below.size; ) {
    before = below.size;
    for (const each of all) {
      if (below.has(each.parent)) {
        below.add(each.pid);
      }
    }
  }
  return all.filter((each) => below.has(each.pid) && each.args.includes(words)).map((each) => each.pid);
}

try {
  await openFile("one.cu");
  await until("a squiggle in the first folder", () => count(ERRORS));
  await openFile("two.cu");
  await until("the finding of the second is a warning, as its settings say", () => count(".squiggly-warning"));
  assert.equal(await count(ERRORS), 0, "the settings of one folder count in the other");
  await atRest();
  await editor.command("cuda-lsp: Check Workspace");
  await until("both folders are checked", async () => plain(await text(".notification-list-item-message, .statusbar-item")).some((note) => /3 files/.test(note)));
  told("two folders, each with its settings, are checked together");
  await picture("folders.png");

  const outside = path.join(path.dirname(editor.folder), "outside.cu");
  fs.writeFileSync(outside, RACE);
  await editor.openPath(outside);
  await until("a squiggle outside of the workspace", () => count(ERRORS));
  told("a file outside of the workspace is checked");
  await picture("outside.png");

  await goTo(2, 3);
  await page.keyboard.type("/* not saved */ ");
  await until("not saved", () => count(".editor-group-container.active .tab.active.dirty"));
  const [server] = processes("cuda-lsp serve");
  assert.ok(server !== undefined, "there is no server process");
  process.kill(server, "SIGKILL");
  await until("another server", () => processes("cuda-lsp serve").some((pid) => pid !== server));
  await until("the log says it", () => /the server ended unexpectedly and is started again/.test(editor.log()));
  await atRest();
  await until("the squiggle is there again", async () => (await count(ERRORS)) === 1);
  assert.match(plain(await text(".editor-group-container.active .view-line")).join("\n"), /not saved/, "the text is lost");
  told("the server was killed: another took its place, and what was not saved is still there");
  await picture("killed-server.png");

  // The squiggle may still be that of before: the new server may not have come to its workers yet.
  await until("there are worker processes", () => processes("cuda_lsp.worker").length > 0);
  const workers = processes("cuda_lsp.worker");
  for (const worker of workers) {
    process.kill(worker, "SIGKILL");
  }
  await until("that is said", async () => (await text(".notification-list-item-message")).some((note) => note?.includes("It was started again")));
  await press("Control+s");
  await until("other workers", () => processes("cuda_lsp.worker").some((pid) => !workers.includes(pid)));
  await atRest();
  await until("the squiggle is there", async () => (await count(ERRORS)) === 1);
  told("the analysis processes were killed: that is said, and others took their place");
  await picture("killed-workers.png");
} catch (error) {
  console.error(error, await status(), plain(await text(".notification-list-item-message")), editor.log());
  await editor.picture("failure.png");
  process.exitCode = 1;
} finally {
  await editor.close();
}
