"""Restructured sources, compared with the old ones by what their threads do: shared by the tests of the repairs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from edited import applied
from lowering import kernel

from analyzers.engine import Engine
from analyzers.frontend.flags import CompileFlags
from analyzers.ir.kernel import Kernel
from analyzers.model import CheckOptions, Fix, FixRefusal
from analyzers.reference.interpreter import run
from analyzers.reference.launch import ConcreteLaunch
from analyzers.requests import CheckRequest
from quickfix import fix_all

THREADS = 64
LAUNCH = "// cuda-lsp: launch grid=(1) block=(64)\n"


@cache
def engine() -> Engine:
    return Engine()


def repaired(
    text: str, name: str, flags: CompileFlags | None = None, unsaved: Mapping[str, str] | None = None
) -> Fix | FixRefusal:
    options = CheckOptions(kernels=(name,))
    return fix_all(
        engine(), CheckRequest("/restructured/a.cu", text, flags or CompileFlags(), unsaved or {}, options=options)
    )


def edited(text: str, fix: Fix | FixRefusal) -> str:
    assert isinstance(fix, Fix), fix
    return applied(text, fix.edits)


@cache
def lonely(text: str, name: str) -> Kernel:
    """The kernel with the number of the thread as a parameter."""
    text = re.sub(r"(__global__ void \w+\()", r"\1int me, ", text.replace("threadIdx.x", "me"))
    return kernel(text, name)


def alone(text: str, name: str, me: int) -> list[tuple[object, ...]]:
    """What one thread does when it is the only one: its accesses by object, offset, kind and value, in order."""
    result = run(lonely(text, name), ConcreteLaunch(values={"me": me, "n": 3}, seed=7))
    assert result.outcome == "finished", result.reason
    return [(a.object.rsplit("$", 1)[0], a.offset, a.width, a.kind, a.value) for a in result.accesses]


def refusal(text: str) -> str:
    answer = repaired(LAUNCH + text, "k")
    assert isinstance(answer, FixRefusal), edited(LAUNCH + text, answer)
    return answer.text


def in_a_block(
    text: str, begin: int, end: int, block: tuple[int, int, int] = (THREADS, 1, 1)
) -> list[list[tuple[object, ...]]]:
    """The accesses of each thread of a block, in order: object, offset and kind."""
    result = run(kernel(text, "k"), ConcreteLaunch(block=block, values={"b": begin, "e": end}, seed=3))
    assert result.outcome == "finished", result.reason
    found: list[list[tuple[object, ...]]] = [[] for _ in range(THREADS)]
    for a in result.accesses:
        found[a.thread].append((a.object, a.offset, a.kind))
    return found
