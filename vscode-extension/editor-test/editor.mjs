// VS Code itself (code-server) in a headless Chromium: starts both with a packed extension, and has the gestures of a
// person at the keyboard. Everything waits for what must come to hold, nothing for time.

import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as net from "node:net";
import * as os from "node:os";
import * as path from "node:path";
import { chromium } from "playwright-core";

const HERE = import.meta.dirname;
const ENTRY = path.join(HERE, "node_modules", "code-server", "out", "node", "entry.js");
const DEADLINE_MS = 60_000;
const ATTEMPT_MS = 5_000;
const POLL_MS = 100;

/** When the sitting began, in milliseconds. */
export const started = performance.now();

/** Say what was seen, and how long after the beginning. */
export function told(what) {
  console.log(`${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${what}`);
}

/** Wait until `holds` gives something true, and give that. */
export async function until(what, holds, deadline = DEADLINE_MS) {
  const end = Date.now() + deadline;
  for (;;) {
    const found = await holds();
    if (found) {
      return found;
    }
    if (Date.now() > end) {
      throw new Error(`never came to hold: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** `machine`: settings beside the quiet ones; `trust`: whether workspaces have to be trusted, in which
 * case this one is not; `searchPath`: PATH of the editor; `workspaceFile`: a file of several folders in the workspace, which
 * is opened in place of it. */
export async function open({ vsix, workspace, workspaceFile, chromiumPath, machine = {}, trust = false, searchPath = process.env.PATH, size = { width: 960, height: 560 } }) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "cuda-lsp-editor-"));
  const folder = path.join(home, "project");
  fs.cpSync(workspace, folder, { recursive: true });
  const [data, extensions] = ["data", "extensions"].map((name) => path.join(home, name));
  // Settings about the machine count only in the second file.
  for (const [place, settings] of [["User", { ...QUIET, "security.workspace.trust.enabled": trust }], ["Machine", machine]]) {
    fs.mkdirSync(path.join(data, place), { recursive: true });
    fs.writeFileSync(path.join(data, place, "settings.json"), JSON.stringify(settings));
  }
  const environment = { ...process.env, PATH: searchPath, HOME: home, CUDA_LSP_CACHE_DIR: path.join(home, "cache") };
  const places = ["--user-data-dir", data, "--extensions-dir", extensions];
  const installed = spawnSync(process.execPath, [ENTRY, "--install-extension", vsix, ...places], { env: environment, encoding: "utf-8" });
  if (installed.status !== 0) {
    throw new Error(`the extension could not be installed: ${installed.stdout}${installed.stderr}`);
  }
  const port = await freePort();
  const words = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, ...places, "--disable-telemetry", "--disable-update-check", folder];
  const server = spawn(process.execPath, [ENTRY, ...words], { env: environment, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let said = "";
  for (const stream of [server.stdout, server.stderr]) {
    stream.setEncoding("utf-8").on("data", (text) => (said += text));
  }
  let browser;
  const close = async () => {
    await browser?.close();
    try {
      // The extension host and its servers are in the same group.
      process.kill(-server.pid, "SIGTERM");
      await Promise.race([new Promise((resolve) => server.once("exit", resolve)), new Promise((resolve) => setTimeout(resolve, 5_000))]);
      process.kill(-server.pid, "SIGKILL");
    } catch {
      // The group is gone already.
    }
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await until("code-server listens", () => said.includes(`:${port}`) || (server.exitCode !== null && Promise.reject(new Error(said))));
    browser = await chromium.launch({ executablePath: chromiumPath, args: FLAGS });
    const opened = workspaceFile === undefined ? `folder=${encodeURIComponent(folder)}` : `workspace=${encodeURIComponent(path.join(folder, workspaceFile))}`;
    const page = await browser.newPage({ viewport: size });
    await page.goto(`http://127.0.0.1:${port}/?${opened}`);
    await page.waitForSelector(".monaco-workbench .explorer-folders-view .monaco-list-row", { timeout: DEADLINE_MS });
    return { page, folder, process: server.pid, close, log: () => logOf(data), ...gestures(page, folder) };
  } catch (error) {
    await close();
    throw error;
  }
}

const QUIET = {
  "workbench.startupEditor": "none",
  "workbench.colorTheme": "Dark Modern",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.tips.enabled": false,
  "workbench.layoutControl.enabled": false,
  "workbench.activityBar.location": "hidden",
  "window.commandCenter": false,
  "window.menuBarVisibility": "compact",
  "chat.disableAIFeatures": true,
  "editor.minimap.enabled": false,
  "editor.hover.above": false,
  "editor.cursorBlinking": "solid",
  "editor.fontSize": 13,
  "editor.stickyScroll.enabled": false,
  "breadcrumbs.enabled": false,
  "telemetry.telemetryLevel": "off",
  "extensions.ignoreRecommendations": true,
  "extensions.autoCheckUpdates": false,
  "git.enabled": false,
  "security.workspace.trust.startupPrompt": "never",
  "security.workspace.trust.banner": "never",
  "files.autoSave": "off",
  "terminal.integrated.stickyScroll.enabled": false,
  // Text in the page instead of on a canvas.
  "terminal.integrated.gpuAcceleration": "off",
  "terminal.integrated.shellIntegration.enabled": false,
};

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

function gestures(page, folder) {
  const text = (selector) => page.evaluate((wanted) => [...document.querySelectorAll(wanted)].map((each) => each.textContent), selector);
  const count = (selector) => page.evaluate((wanted) => document.querySelectorAll(wanted).length, selector);
  const activeTab = () => page.evaluate(() => document.querySelector(".editor-group-container.active .tab.active")?.getAttribute("data-resource-name"));
  const press = (keys) => page.keyboard.press(keys);

  /** Open the quick input with a key, type, and take the first row once it has the words. The input closes by itself when
   * something else takes the focus, which may just be on its way: then again. */
  const choose = (key, typed, words) =>
    until(`${typed} is offered`, async () => {
      await press(key);
      const input = page.locator(".quick-input-widget:visible input[type=text]");
      try {
        await input.fill(typed, { timeout: ATTEMPT_MS });
        const row = page.locator(".quick-input-list .monaco-list-row.focused", { hasText: words });
        await row.waitFor({ timeout: ATTEMPT_MS });
        await press("Enter");
        return true;
      } catch {
        await press("Escape");
        return false;
      }
    });

  return {
    text,
    count,
    press,
    activeTab,

    async openFile(name) {
      await choose("Control+p", name, name);
      await until(`${name} is open`, async () => (await activeTab()) === name);
      await page.waitForSelector(".monaco-editor.focused .view-line");
    },

    /** Open a file by its path, also one outside of the workspace. */
    async openPath(file) {
      await press("Control+o");
      const input = page.locator(".quick-input-widget:visible input[type=text]");
      // The dialog puts a path of its own into the field once it has listed the folder.
      await page.locator(".quick-input-list .monaco-list-row", { hasText: ".." }).first().waitFor();
      await until(`${file} is open`, async () => {
        await input.fill(file, { timeout: ATTEMPT_MS }).catch(() => undefined);
        await input.press("Enter", { timeout: ATTEMPT_MS }).catch(() => undefined);
        return until("", async () => (await activeTab()) === path.basename(file), ATTEMPT_MS).catch(() => false);
      });
      await page.waitForSelector(".monaco-editor.focused .view-line");
    },

    command: (name) => choose("F1", `>${name}`, name),

    async goTo(line, column) {
      await choose("Control+g", `:${line}:${column}`, `line ${line}`);
      await page.waitForSelector(".monaco-editor.focused");
    },

    /** The status bar item's words for a screen reader. */
    async status() {
      return (await page.evaluate(() => [...document.querySelectorAll(".statusbar-item a[aria-label]")].map((each) => each.getAttribute("aria-label"))))
        .find((label) => label?.startsWith("cuda-lsp"));
    },

    /** Save, and give what lies on disk then. */
    async save(name) {
      await press("Control+s");
      await until(`${name} is saved`, async () => (await count(".editor-group-container.active .tab.active.dirty")) === 0);
      return fs.readFileSync(path.join(folder, name), "utf-8");
    },

    /** Open the menu of the light bulb. A fix that is still being proved is not in it: then again, as a person would. */
    lightBulb: (words) =>
      until(`the fix ${words}`, async () => {
        await press("Control+.");
        const row = page.locator(".action-widget .monaco-list-row", { hasText: words });
        const isThere = await row.waitFor({ timeout: ATTEMPT_MS }).then(() => true, () => false);
        if (!isThere) {
          await press("Escape");
        }
        return isThere;
      }),

    /** The frame of a panel whose page has these words; undefined when there is none. */
    async shownIn(words) {
      for (const frame of page.frames()) {
        if ((await frame.locator("body").textContent({ timeout: ATTEMPT_MS }).catch(() => ""))?.includes(words)) {
          return frame;
        }
      }
      return undefined;
    },

    /** A picture of the window, or of a part of it. */
    async picture(file, clip) {
      await page.mouse.move(950, 5);
      await page.screenshot({ path: file, ...(clip === undefined ? {} : { clip }), animations: "disabled" });
    },
  };
}

/** What the extension and its server have logged. */
function logOf(data) {
  const names = fs.readdirSync(path.join(data, "logs"), { recursive: true }).filter((name) => path.basename(name) === "cuda-lsp.log");
  return names.map((name) => fs.readFileSync(path.join(data, "logs", name), "utf-8")).join("\n");
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer();
    probe.on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
