import assert from "node:assert/strict";
import { test } from "node:test";

import { kernelsIn } from "../src/kernels";

const names = (text: string): string[] => kernelsIn(text).map((kernel) => kernel.name);

test("kernels with attributes, templates and bounds", () => {
  assert.deepEqual(names("__global__ void plain(int *a) {}"), ["plain"]);
  assert.deepEqual(names("template <int N> __global__ void __launch_bounds__(N * (2 + 1), 4) bounded(float *p) {}"), ["bounded"]);
  assert.deepEqual(names('extern "C" __global__\nvoid\nlines(\nint a) {}'), ["lines"]);
  assert.deepEqual(names("static __global__ __attribute__((noinline)) void a() {}\nvoid __global__ b() {}"), ["a", "b"]);
});

test("declarations count once; comments, strings and macros do not", () => {
  assert.deepEqual(names("__global__ void k(int);\n__global__ void k(int a) {}"), ["k"]);
  assert.deepEqual(names("// __global__ void no(int)\n/* __global__ void no() */\nauto s = \"__global__ void no()\";"), []);
  assert.deepEqual(names("__global__ void k(/* (a */ int a, char c = '(') {}"), ["k"]);
  assert.deepEqual(names("#define KERNEL __global__\nstruct A { int b; };"), []);
});
