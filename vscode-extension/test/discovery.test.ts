import assert from "node:assert/strict";
import { test } from "node:test";

import { findServer, type Surroundings } from "../src/discovery";

const OWN = "/store/server";

function at(files: string[], more: Partial<Surroundings> = {}): Surroundings {
  return {
    platform: "linux",
    home: "/home/me",
    configured: "",
    python: undefined,
    folders: ["/work/project"],
    isTrusted: true,
    searchPath: "/usr/local/bin:/usr/bin",
    ownEnvironment: OWN,
    isFile: (file) => files.includes(file),
    ...more,
  };
}

const EVERYWHERE = [
  "/conda/bin/cuda-lsp",
  "/work/project/.venv/bin/cuda-lsp",
  "/work/project/venv/bin/cuda-lsp",
  "/usr/bin/cuda-lsp",
  `${OWN}/bin/cuda-lsp`,
];

test("the places in their order", () => {
  const origins = ["python-environment", "workspace", "workspace", "path", "own"];
  for (let first = 0; first < EVERYWHERE.length; first++) {
    const found = findServer(at(EVERYWHERE.slice(first), { python: "/conda/bin/python" }));
    assert.deepEqual(found, { kind: "found", command: EVERYWHERE[first], origin: origins[first] });
  }
  assert.deepEqual(findServer(at([])), { kind: "missing", configured: undefined });
});

test("the setting wins over everything, and a wrong one is told instead of passed over", () => {
  const files = [...EVERYWHERE, "/opt/cuda-lsp"];
  assert.deepEqual(findServer(at(files, { configured: "/opt/cuda-lsp" })), { kind: "found", command: "/opt/cuda-lsp", origin: "setting" });
  assert.deepEqual(findServer(at(files, { configured: "/opt/other" })), { kind: "missing", configured: "/opt/other" });
});

test("what may be written in the setting", () => {
  const cases: [string, string][] = [
    ["~/bin/cuda-lsp", "/home/me/bin/cuda-lsp"],
    ["${userHome}/cuda-lsp", "/home/me/cuda-lsp"],
    ["${workspaceFolder}/tools/cuda-lsp", "/work/project/tools/cuda-lsp"],
    ["tools/cuda-lsp", "/work/project/tools/cuda-lsp"],
    [" /opt/a b/cuda-lsp ", "/opt/a b/cuda-lsp"],
  ];
  for (const [configured, command] of cases) {
    assert.deepEqual(findServer(at([command], { configured })), { kind: "found", command, origin: "setting" });
  }
});

test("nothing is taken from a workspace without trust, nor from a relative entry of PATH", () => {
  const files = ["/work/project/.venv/bin/cuda-lsp", "/work/project/cuda-lsp", "cuda-lsp", "bin/cuda-lsp", "/conda/bin/cuda-lsp"];
  const found = findServer(at(files, { isTrusted: false, python: "/conda/bin/python", searchPath: ".::bin" }));
  assert.equal(found.kind, "missing");
  const own = findServer(at([...files, `${OWN}/bin/cuda-lsp`], { isTrusted: false, searchPath: "." }));
  assert.deepEqual(own, { kind: "found", command: `${OWN}/bin/cuda-lsp`, origin: "own" });
});

test("Windows: drive letters, semicolons, Scripts and .exe", () => {
  const windows: Partial<Surroundings> = {
    platform: "win32",
    home: "C:\\Users\\me",
    folders: ["D:\\project"],
    searchPath: "C:\\Windows;C:\\Tools",
    ownEnvironment: "C:\\Users\\me\\AppData\\server",
  };
  const cases: [string, string][] = [
    ["D:\\project\\.venv\\Scripts\\cuda-lsp.exe", "workspace"],
    ["C:\\Tools\\cuda-lsp.exe", "path"],
    ["C:\\Users\\me\\AppData\\server\\Scripts\\cuda-lsp.exe", "own"],
  ];
  for (const [command, origin] of cases) {
    assert.deepEqual(findServer(at([command], windows)), { kind: "found", command, origin });
  }
});
