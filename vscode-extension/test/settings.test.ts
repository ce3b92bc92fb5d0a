import assert from "node:assert/strict";
import { test } from "node:test";

import manifest from "../package.json";
import { type Inspected, serverNames, serverSettings } from "../src/settings";

const PROPERTIES = Object.assign({}, ...manifest.contributes.configuration.map((section) => section.properties)) as Record<string, unknown>;

test("every setting but the extension's own is the server's", () => {
  const names = serverNames(PROPERTIES, "cudaLsp");
  assert.ok(names.includes("checkOn") && names.includes("severity") && names.includes("smtBudget"));
  assert.ok(!names.some((name) => name.startsWith("server.") || name.startsWith("run.")));
  assert.equal(names.length, Object.keys(PROPERTIES).length - 2);
});

test("only what somebody has set is passed on, with the value that holds", () => {
  const places: Record<string, Inspected & { defaultValue?: unknown }> = {
    checkOn: { defaultValue: "save", workspaceValue: "change" },
    arch: { defaultValue: null },
    useHost: { defaultValue: true, globalValue: false },
    extraArgs: { defaultValue: [], globalValue: ["-DA"], workspaceFolderValue: ["-DB"] },
    baseline: { defaultValue: "", globalValue: "" },
  };
  const held: Record<string, unknown> = { checkOn: "change", arch: null, useHost: false, extraArgs: ["-DB"], baseline: "" };
  const configuration = { get: (name: string) => held[name], inspect: (name: string) => places[name] };
  assert.deepEqual(serverSettings([...Object.keys(places), "unheardOf"], configuration), {
    checkOn: "change",
    useHost: false,
    extraArgs: ["-DB"],
    baseline: null,
  });
});
