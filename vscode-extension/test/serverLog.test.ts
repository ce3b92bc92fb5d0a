import assert from "node:assert/strict";
import { test } from "node:test";

import { LogReader } from "../src/serverLog";

test("lines keep the level that the server gave them, and what belongs to them too", () => {
  const reader = new LogReader();
  assert.deepEqual(reader.read("listening"), { level: "info", text: "listening" });
  assert.deepEqual(reader.read("2026-11-22 20:28:10,555 WARNING cuda_lsp.session: a: b"), { level: "warn", text: "cuda_lsp.session: a: b" });
  assert.deepEqual(reader.read("2026-11-22 20:28:10,555 ERROR cuda_lsp.bug: it broke"), { level: "error", text: "cuda_lsp.bug: it broke" });
  assert.deepEqual(reader.read("Traceback (most recent call last):"), { level: "error", text: "Traceback (most recent call last):" });
  assert.deepEqual(reader.read("2026-11-22 20:28:11,000 DEBUG x: y"), { level: "debug", text: "x: y" });
});
