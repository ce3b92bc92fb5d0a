"""Random host code that passes pointers around, executed here: a pair that occurs is a pair that the contexts allow.

Every launch site has a kernel of its own with two pointer parameters. What a context says of them is compared with
what the execution of the same program passes there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import hostguide_cases as hg
import pytest

from analyzers.ir.context import LaunchContext

_POINTERS = ("a", "b", "c")
Memory = dict[str, object]


class _ContinueError(Exception):
    pass


@dataclass
class _Program:
    """A function in C and what it does."""

    rng: random.Random
    lines: list[str] = field(default_factory=list[str])
    sites: int = 0
    indent: int = 1

    def block(self, depth: int, looping: bool) -> list[Callable[[Memory, Passed], None]]:
        return [self.statement(depth, looping) for _ in range(self.rng.randint(1, 4))]

    def write(self, text: str) -> None:
        self.lines.append("  " * self.indent + text)

    def statement(self, depth: int, looping: bool) -> Callable[[Memory, Passed], None]:
        kinds = ["assign", "swap", "launch", "launch", "flip", "take", "put"]
        if depth < 2:
            kinds += ["loop", "loop", "if", "if"]
        if looping:
            kinds += ["continue"] if self.rng.random() < 0.3 else []
        return getattr(self, f"_{self.rng.choice(kinds)}")(depth, looping)

    def _two(self) -> tuple[str, str]:
        x, y = self.rng.sample(_POINTERS, 2)
        return x, y

    def _assign(self, _depth: int, _looping: bool) -> Callable[[Memory, Passed], None]:
        x, y = self._two()
        self.write(f"{x} = {y};")

        def run(m: Memory, _out: Passed) -> None:
            m[x] = m[y]

        return run

    def _swap(self, _depth: int, _looping: bool) -> Callable[[Memory, Passed], None]:
        x, y = self._two()
        self.write(f"std::swap({x}, {y});")

        def run(m: Memory, _out: Passed) -> None:
            m[x], m[y] = m[y], m[x]

        return run

    def _launch(self, _depth: int, _looping: bool) -> Callable[[Memory, Passed], None]:
        site = f"k{self.sites}"
        self.sites += 1
        texts, values = zip(*(self._argument() for _ in range(2)), strict=True)
        self.write(f"{site}<<<1, 64>>>({texts[0]}, {texts[1]});")

        def run(m: Memory, out: Passed) -> None:
            out.setdefault(site, set()).add(values[0](m) == values[1](m))

        return run

    def _argument(self) -> tuple[str, Callable[[Memory], object]]:
        x, y = self._two()
        choice = self.rng.randint(0, 4)
        if choice <= 1:
            return x, lambda m: m[x]
        if choice == 2:
            return "t[k]", lambda m: _table(m)[_number(m, "k")]
        if choice == 3:
            return "t[1 - k]", lambda m: _table(m)[1 - _number(m, "k")]
        return f"(k ? {x} : {y})", lambda m: m[x] if m["k"] else m[y]

    def _flip(self, _depth: int, _looping: bool) -> Callable[[Memory, Passed], None]:
        self.write(self.rng.choice(("k = 1 - k;", "k ^= 1;", "k = !k;")))

        def run(m: Memory, _out: Passed) -> None:
            m["k"] = 1 - _number(m, "k")

        return run

    def _take(self, _depth: int, _looping: bool) -> Callable[[Memory, Passed], None]:
        x, _ = self._two()
        self.write(f"{x} = t[k];")

        def run(m: Memory, _out: Passed) -> None:
            m[x] = _table(m)[_number(m, "k")]

        return run

    def _put(self, _depth: int, _looping: bool) -> Callable[[Memory, Passed], None]:
        x, _ = self._two()
        index = self.rng.choice(("0", "1", "k"))
        self.write(f"t[{index}] = {x};")

        def run(m: Memory, _out: Passed) -> None:
            _table(m)[_number(m, "k") if index == "k" else int(index)] = m[x]

        return run

    def _loop(self, depth: int, _looping: bool) -> Callable[[Memory, Passed], None]:
        i = "ijl"[depth]
        self.write(f"for (int {i} = 0; {i} < n; ++{i}) {{")
        self.indent += 1
        body = self.block(depth + 1, True)
        self.indent -= 1
        self.write("}")

        def run(m: Memory, out: Passed) -> None:
            for _ in range(_number(m, "n")):
                try:
                    for step in body:
                        step(m, out)
                except _ContinueError:
                    continue

        return run

    def _if(self, depth: int, looping: bool) -> Callable[[Memory, Passed], None]:
        text, test = self.rng.choice(
            (
                ("k", lambda m: bool(m["k"])),
                ("n > 2", lambda m: _number(m, "n") > 2),
                ("a == b", lambda m: m["a"] == m["b"]),
                ("c != t[0]", lambda m: m["c"] != _table(m)[0]),
            )
        )
        self.write(f"if ({text}) {{")
        self.indent += 1
        body = self.block(depth + 1, looping)
        self.indent -= 1
        self.write("}")

        def run(m: Memory, out: Passed) -> None:
            if test(m):
                for step in body:
                    step(m, out)

        return run

    def _continue(self, _depth: int, _looping: bool) -> Callable[[Memory, Passed], None]:
        self.write("if (k) continue;")

        def run(m: Memory, _out: Passed) -> None:
            if m["k"]:
                raise _ContinueError

        return run


Passed = dict[str, set[bool]]
"""By kernel: whether the two pointers were equal, at some launch."""


def _table(m: Memory) -> list[object]:
    found = m["t"]
    assert isinstance(found, list)
    return found


def _number(m: Memory, name: str) -> int:
    found = m[name]
    assert isinstance(found, int)
    return found


def _alike(context: LaunchContext) -> bool | None:
    """Whether a context passes equal pointers; None: it does not say."""
    (_, one), (_, two) = context.pointers
    if context.uncertain and one.offset != two.offset:
        return None
    return one.allocation is not None and one.allocation == two.allocation


def _generated(seed: int) -> tuple[str, Passed]:
    program = _Program(random.Random(seed))
    steps = program.block(0, False)
    passed: Passed = {}
    for n in range(6):
        memory: Memory = {"a": "A", "b": "B", "c": "C", "k": 0, "n": n, "t": ["A", "B"]}
        for step in steps:
            step(memory, passed)
    kernels = "\n".join(f"__global__ void k{s}(float *x, float *y) {{}}" for s in range(program.sites))
    body = "\n".join(program.lines)
    head = "void run(float *a, float *b, float *c, int n) {\n  int k = 0;\n  float *t[2] = {a, b};\n"
    return f"#include <utility>\n{kernels}\n{head}{body}\n}}\n", passed


def _missing(seed: int) -> Iterator[str]:
    text, passed = _generated(seed)
    contexts = hg.by_name(hg.guide(text))
    for kernel, pairs in passed.items():
        said = {_alike(c) for c in contexts.get(kernel, ())}
        for alike in pairs:
            if alike not in said and None not in said:
                yield f"{kernel} is launched with {'equal' if alike else 'different'} pointers, not in:\n{text}"


@pytest.mark.parametrize("part", range(4))
def test_every_pair_that_occurs_is_allowed(part: int) -> None:
    wrong = [text for seed in range(part * 40, part * 40 + 40) for text in _missing(seed)]
    assert not wrong, wrong[0]
