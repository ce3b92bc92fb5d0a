import assert from "node:assert/strict";
import { test } from "node:test";

import { explain, quoted, run, verdict } from "../src/commandLine";

const PLAIN = { settings: {}, isInWorkspace: false };

test("the file and the kernel are one word, whatever they contain", () => {
  assert.deepEqual(run("/a b/x.cu", "k", PLAIN, ["--seeds", "16"]), ["run", "/a b/x.cu:k", "--color", "always", "--seeds", "16"]);
  assert.deepEqual(explain("C:\\x.cu", "k", "ir", PLAIN), ["explain", "C:\\x.cu:k", "--pass", "ir"]);
});

test("settings are handed over as they are, and the workspace is named", () => {
  const settings = { arch: "sm_90", extraArgs: ["-DA=1", "-Iinc"], useHost: false };
  const words = verdict("x.cu", "k", { settings, isInWorkspace: true });
  const options = ["--workspace", ".", "--settings", JSON.stringify(settings)];
  assert.deepEqual(words, ["check", "x.cu", "--kernel", "k", "--verbose", "--color", "never", ...options]);
});

test("a command that is shown can be typed", () => {
  assert.deepEqual(["run", "a.cu:k", "-p", "C:\\x.cu:k"].map(quoted), ["run", "a.cu:k", "-p", "C:\\x.cu:k"]);
  assert.deepEqual(["a.cu:k<float, 4>", "it's", ""].map(quoted), ["'a.cu:k<float, 4>'", "'it'\\''s'", "''"]);
});
