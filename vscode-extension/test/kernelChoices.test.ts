import assert from "node:assert/strict";
import { test } from "node:test";

import { choiceAt, choicesOf, type Lens } from "../src/kernelChoices";

const URI = "file:///a.cu";

function lenses(line: number, title: string, ...names: string[]): Lens[] {
  const range = { start: { line } };
  return [
    { range, command: { title, command: "cuda-lsp.showRaces", arguments: [URI, ...names] } },
    { range, command: { title: "run", command: "cuda-lsp.run", arguments: [URI, ...names] } },
  ];
}

test("kernels of one name are told apart, each once, with what is known of them", () => {
  const shown = [...lenses(3, "1 race", "_Z1kPf", "k"), ...lenses(9, "race-free", "_Z1kPd", "k"), ...lenses(30, "k: 1 race", "_Z1kPf", "k")];
  assert.deepEqual(choicesOf(shown, "cuda-lsp.run", "", URI), [
    { uri: URI, kernel: "_Z1kPf", label: "k", line: 3, verdict: "1 race" },
    { uri: URI, kernel: "_Z1kPd", label: "k", line: 9, verdict: "race-free" },
  ]);
});

test("a kernel that only a launch shows is offered, without its name in the verdict", () => {
  const [found] = choicesOf(lenses(7, "turn: 2 races", "turn<4>"), "cuda-lsp.run", "", URI);
  assert.deepEqual(found, { uri: URI, kernel: "turn<4>", label: "turn<4>", line: 7, verdict: "2 races" });
});

test("what the server has not read yet is offered by its name, in the order of the text", () => {
  const text = "__global__ void early() {}\n__global__ void turn() {}\n__global__ void late() {}\n";
  const found = choicesOf(lenses(1, "1 race", "turn<4>"), "cuda-lsp.showRaces", text, URI);
  assert.deepEqual(found.map(({ label, line }) => [label, line]), [["early", 0], ["turn<4>", 1], ["late", 2]]);
});

test("lenses of others, and of other commands, are none of them", () => {
  const other: Lens[] = [
    { range: { start: { line: 0 } } },
    { range: { start: { line: 0 } }, command: { title: "x", command: "cuda-lsp.run", arguments: [7] } },
    { range: { start: { line: 0 } }, command: { title: "x", command: "their.run", arguments: [URI, "k"] } },
  ];
  assert.deepEqual(choicesOf(other, "cuda-lsp.run", "", URI), []);
});

test("the choice at a line is the last one that begins at it or above", () => {
  const found = choicesOf([...lenses(3, "1 race", "a"), ...lenses(9, "1 race", "b")], "cuda-lsp.run", "", URI);
  assert.equal(choiceAt(found, 2), undefined);
  assert.equal(choiceAt(found, 8)?.label, "a");
  assert.equal(choiceAt(found, 9)?.label, "b");
});
