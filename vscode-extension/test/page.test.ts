import assert from "node:assert/strict";
import { test } from "node:test";

import { nonce, pageOf, wishOf, withPolicy } from "../src/page";

test("the policy is the first thing in the head, and scripts carry the nonce", () => {
  const page = withPolicy('<!doctype html><html><head lang="en"><title>x</title></head><body><script>1</script><SCRIPT async>2</SCRIPT></body></html>', "abc");
  assert.match(page, /<head lang="en"><meta http-equiv="Content-Security-Policy" content="default-src 'none';[^>]*script-src 'nonce-abc'[^>]*><title>/);
  assert.match(page, /<script nonce="abc">1/);
  assert.match(page, /<script nonce="abc" async>2/);
});

test("a page without a head gets one; a nonce of the page's own stays", () => {
  assert.match(withPolicy("<!DOCTYPE html>\n<p>hi", "abc"), /^<!DOCTYPE html><head><meta [^>]*><\/head>\n<p>hi$/);
  assert.match(withPolicy('<head></head><script nonce="own">', "abc"), /<script nonce="own">/);
});

test("nonces differ", () => {
  assert.notEqual(nonce(), nonce());
  assert.match(nonce(), /^[\w-]{24}$/);
});

test("the answer is a page, or an object with one", () => {
  assert.equal(pageOf("<p>"), "<p>");
  assert.equal(pageOf({ html: "<p>" }), "<p>");
  for (const nothing of [null, undefined, "", {}, { html: 3 }]) {
    assert.equal(pageOf(nothing), undefined);
  }
});

test("pages may ask for a place in a file, for a run, and for nothing else", () => {
  const uri = "file:///a.cu";
  assert.deepEqual(wishOf({ type: "open", line: 3 }, uri), { type: "open", uri, line: 3, character: 0 });
  assert.deepEqual(wishOf({ type: "open", uri: "file:///b.cu", line: -1 }, uri), { type: "open", uri: "file:///b.cu", line: 0, character: 0 });
  assert.deepEqual(wishOf({ type: "run", kernel: "k" }, uri), { type: "run", uri, kernel: "k" });
  for (const message of [{ type: "run" }, { type: "open", line: "3" }, { type: "command", line: 3 }, { type: "open", uri: 3, line: 3 }, "open", null]) {
    assert.equal(wishOf(message, uri), undefined);
  }
});
