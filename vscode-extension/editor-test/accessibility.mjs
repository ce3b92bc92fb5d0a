// What a screen reader or weak eyes would stumble over in a page, by the rules of axe-core.

import assert from "node:assert/strict";
import axe from "axe-core";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Fails with what axe-core finds in a page, or in a frame; `what` says which one it is. */
export async function look(page, what) {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate((values) => globalThis.axe.run({ runOnly: { type: "tag", values } }), RULES);
  const told = violations.map((each) => `${each.id}: ${each.help}\n  ${each.nodes.map((node) => node.html).slice(0, 5).join("\n  ")}`);
  assert.deepEqual(told, [], what);
}
