// The page that `cuda-lsp check --html` writes, in Chromium: axe-core looks for what a screen reader or weak eyes would
// stumble over, in light and in dark, and everything is reached from the keyboard.
//
//   node report.mjs --server PATH [--chromium PATH]

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { chromium } from "playwright-core";

import { look } from "./accessibility.mjs";

const rest = process.argv.slice(2);
const option = (name, otherwise) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : otherwise);
const server = path.resolve(option("--server", ".venv/bin/cuda-lsp"));

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "cuda-lsp-report-"));
const file = path.join(folder, "report.html");
const checked = spawnSync(server, ["check", path.join(import.meta.dirname, "workspace"), "--html", file], { encoding: "utf-8" });
assert.equal(checked.status, 1, checked.stderr);
const browser = await chromium.launch({ executablePath: option("--chromium", "/usr/bin/chromium"), args: ["--no-sandbox", "--disable-gpu"] });
try {
  for (const colorScheme of ["light", "dark"]) {
    // The page's own policy lets no other script in, which is as it should be.
    const page = await browser.newPage({ colorScheme, bypassCSP: true, reducedMotion: "reduce" });
    await page.goto(`file://${file}`);
    await look(page, `${colorScheme}: the index`);
    await walk(page, colorScheme);
    await page.close();
    await narrow(colorScheme);
  }
  console.log("the page passes axe-core, in light and in dark, and is read with the keyboard alone");
} finally {
  await browser.close();
  fs.rmSync(folder, { recursive: true, force: true });
}

/** In a narrow window nothing lies to the right of it: neither text nor a thread in its block. */
async function narrow(colorScheme) {
  const page = await browser.newPage({ colorScheme, viewport: { width: 400, height: 800 } });
  await page.goto(`file://${file}`);
  await page.locator("nav a", { hasText: "sum_rows" }).click();
  const right = (selector) => page.locator(selector).evaluateAll((all) => all.filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect().right));
  const signs = await right(".lattice .symbol");
  assert.ok(signs.length >= 2, "both threads are drawn");
  for (const edge of [...signs, ...(await right(".lines .code")), await page.evaluate(() => document.documentElement.scrollWidth)]) {
    assert.ok(edge <= 400, `something ends at ${edge}`);
  }
  await page.close();
}

/** From the index into a kernel, through its findings and back, with keys only. */
async function walk(page, what) {
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
  await page.locator("body").press("Tab");
  assert.equal(await focused(), "Skip to the finding", "the first stop skips the index");
  for (let stop = 0; !(await focused()).includes("sum_rows"); stop++) {
    assert.ok(stop < 20, "the kernel is not among the stops");
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.tagName === "H2");
  assert.match(await focused(), /collide on part\[128\]/, "the headline of the finding has the focus");
  await look(page, `${what}: a finding`);
  const before = await focused();
  await page.keyboard.press("]");
  await page.waitForFunction((old) => document.activeElement?.textContent !== old, before);
  await look(page, `${what}: another kernel`);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement?.tagName === "H1");
}
