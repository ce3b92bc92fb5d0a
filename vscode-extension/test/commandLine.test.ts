import assert from "node:assert/strict";
import { test } from "node:test";

import { explain, quoted, run, verdict } from "../src/commandLine";

const PLAIN = { extraArgs: [], compileCommands: undefined, useHost: true, warpLockstep: false, wrapAround: false };

test("the file and the kernel are one word, whatever they contain", () => {
  assert.deepEqual(run("/a b/x.cu", "k", PLAIN, ["--seeds", "16"]), ["run", "/a b/x.cu:k", "--color", "always", "--seeds", "16"]);
  assert.deepEqual(explain("C:\\x.cu", "k", "ir", PLAIN), ["explain", "C:\\x.cu:k", "--pass", "ir"]);
});

test("settings become options", () => {
  const words = verdict("x.cu", "k", { extraArgs: ["-DA=1", "-Iinc"], compileCommands: "build", useHost: false, warpLockstep: true, wrapAround: true });
  const options = ["--extra-arg=-DA=1", "--extra-arg=-Iinc", "-p", "build", "--no-host", "--warp-lockstep", "--wrap-around"];
  assert.deepEqual(words, ["check", "x.cu", "--kernel", "k", "--verbose", "--color", "never", ...options]);
});

test("a command that is shown can be typed", () => {
  assert.deepEqual(["run", "a.cu:k", "-p", "C:\\x.cu:k"].map(quoted), ["run", "a.cu:k", "-p", "C:\\x.cu:k"]);
  assert.deepEqual(["a.cu:k<float, 4>", "it's", ""].map(quoted), ["'a.cu:k<float, 4>'", "'it'\\''s'", "''"]);
});
