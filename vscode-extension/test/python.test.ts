import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

import { choose, commands, type Interpreter, pipProgress, PROBE, readProbe } from "../src/python";

const python = (version: [number, number, number], makesEnvironments = true): Interpreter => ({
  version,
  executable: `/usr/bin/python${version[0]}.${version[1]}`,
  makesEnvironments,
});

test("a Python of this machine answers the probe", (context) => {
  const answer = spawnSync("python3", ["-c", PROBE], { encoding: "utf-8" });
  if (answer.error !== undefined) {
    context.skip("system program missing: python3");
    return;
  }
  assert.equal(answer.stderr, "");
  assert.ok((readProbe(answer.stdout)?.version[0] ?? 0) >= 3);
});

test("what is no answer is no Python", () => {
  assert.equal(readProbe(""), undefined);
  assert.equal(readProbe("Python was not found; run without arguments to install from the Microsoft Store"), undefined);
  assert.equal(readProbe("[1, 2]"), undefined);
  assert.deepEqual(readProbe('a warning\n[[3, 12, 1], "/p", true]\n'), { version: [3, 12, 1], executable: "/p", makesEnvironments: true });
});

test("the first that can be used; else the reason", () => {
  assert.deepEqual(choose([python([3, 9, 1]), python([3, 11, 0], false), python([3, 10, 0])], "linux"), python([3, 10, 0]));
  assert.match(String(choose([], "linux")), /no Python was found/);
  assert.match(String(choose([python([2, 7, 18]), python([3, 9, 2])], "linux")), /3\.10 or newer.*3\.9\.2/);
  assert.match(String(choose([python([3, 11, 2], false)], "linux")), /apt install python3-venv/);
  assert.doesNotMatch(String(choose([python([3, 11, 2], false)], "darwin")), /apt/);
});

test("the Python that the user has selected comes first", () => {
  assert.deepEqual(commands("linux", "/conda/bin/python")[0], ["/conda/bin/python"]);
  assert.deepEqual(commands("win32", undefined)[0], ["py", "-3"]);
});

test("pip's lines become steps", () => {
  assert.equal(pipProgress("Collecting ortools>=9.12 (from cuda-lsp==0.1.0)"), "looking for ortools");
  assert.equal(pipProgress("  Downloading z3_solver-4.13.0-py3-none-manylinux_2_27_x86_64.whl (28.1 MB)"), "fetching z3-solver (28.1 MB)");
  assert.equal(pipProgress("Downloading numpy-2.4.0-cp311.whl.metadata (62 kB)"), undefined);
  assert.equal(pipProgress("Installing collected packages: a, b"), "unpacking");
  assert.equal(pipProgress("Requirement already satisfied: pip"), undefined);
});
