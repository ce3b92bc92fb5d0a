import assert from "node:assert/strict";
import { test } from "node:test";

import { shown, WorkList } from "../src/health";

test("progress is shown while it lasts, the newest on top", () => {
  const work = new WorkList();
  work.take("a", { kind: "begin", title: "Checking a.cu", percentage: 0 });
  work.take("b", { kind: "begin", title: "Checking b.cu", percentage: 0 });
  work.take("b", { kind: "report", percentage: 40, message: "2/5 scale" });
  const busy = shown({ kind: "running", version: "0.1.0", work: work.all });
  assert.equal(busy.text, "$(sync~spin) cuda-lsp: 40%");
  assert.equal(busy.sentence, "Checking b.cu: 2/5 scale");
  work.take("b", { kind: "end" });
  assert.equal(shown({ kind: "running", version: "0.1.0", work: work.all }).sentence, "Checking a.cu");
  work.clear();
  assert.equal(shown({ kind: "running", version: "0.1.0", work: work.all }).text, "$(pass) cuda-lsp");
});

test("what is wrong is seen and heard", () => {
  assert.equal(shown({ kind: "failed", reason: "It broke." }).level, "error");
  assert.equal(shown({ kind: "missing" }).level, "warning");
  assert.equal(shown({ kind: "running", version: "9", work: [], notice: "Too new." }).level, "warning");
  assert.match(shown({ kind: "failed", reason: "It broke." }).spoken, /^cuda-lsp: failed\. It broke\.$/);
  assert.doesNotMatch(shown({ kind: "starting" }).spoken, /\$\(/);
});
