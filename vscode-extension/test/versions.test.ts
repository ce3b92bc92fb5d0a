import assert from "node:assert/strict";
import { test } from "node:test";

import { mismatch, parseVersion, relation, versionOf } from "../src/versions";

test("versions are read with what may follow them", () => {
  assert.deepEqual(parseVersion("1.2.3"), { major: 1, minor: 2, patch: 3 });
  assert.deepEqual(parseVersion("0.10"), { major: 0, minor: 10, patch: 0 });
  assert.deepEqual(parseVersion("0.2.0.dev3+gabc"), { major: 0, minor: 2, patch: 0 });
  assert.deepEqual(parseVersion("0.2.0rc1"), { major: 0, minor: 2, patch: 0 });
  assert.equal(parseVersion("unknown"), undefined);
});

test("before 1.0 the minor number decides, later the major one", () => {
  assert.equal(relation("0.1.0", "0.1.0"), "fits");
  assert.equal(relation("0.1.9", "0.1.0"), "fits");
  assert.equal(relation("0.1.0", "0.2.0"), "server-older");
  assert.equal(relation("0.10.0", "0.9.0"), "server-newer");
  assert.equal(relation("1.0.0", "0.9.0"), "server-newer");
  assert.equal(relation("1.2.0", "1.7.0"), "fits");
  assert.equal(relation("1.9.0", "2.0.0"), "server-older");
  assert.equal(relation(undefined, "0.1.0"), "unknown");
  assert.equal(relation("none", "0.1.0"), "unknown");
});

test("a mismatch says which side to update", () => {
  assert.equal(mismatch("0.1.4", "0.1.0", "/x/cuda-lsp"), undefined);
  assert.match(mismatch("0.1.0", "0.2.0", "/x/cuda-lsp") ?? "", /\/x\/cuda-lsp.*0\.1\.0.*older.*0\.2\.0.*Update the server/);
  assert.match(mismatch("0.3.0", "0.2.0", "/x/cuda-lsp") ?? "", /newer.*Update the extension/);
  assert.match(mismatch(undefined, "0.2.0", "/x/cuda-lsp") ?? "", /does not tell a version/);
});

test("a server tells its version", () => {
  assert.equal(versionOf("cuda-lsp 0.1.0\n"), "0.1.0");
  assert.equal(versionOf("a warning\r\ncuda-lsp 0.2.0.dev1\r\n"), "0.2.0.dev1");
  assert.equal(versionOf("clangd version 18.1.8"), undefined);
  assert.equal(versionOf(""), undefined);
});
