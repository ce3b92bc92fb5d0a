"""Content keys: the same in every process, and of everything but positions."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, replace

from analyzers.ir.expr import I32, I64, U32, Expr, add, cast, const, fconst, mul, opaque, sub, sym
from analyzers.ir.fingerprint import fingerprint
from analyzers.model import SourceSpan

X, Y = sym("param:x", I32), sym("param:y", I32)


@dataclass(frozen=True)
class Part:
    value: Expr
    names: frozenset[str]
    span: SourceSpan


def test_equal_content_has_equal_keys() -> None:
    here, there = SourceSpan("a.cu", 1, 2, 3, 4, 5, 6), SourceSpan("b.cu", 5, 6, 7, 8, 9, 10)
    part = Part(add(X, Y), frozenset("ab"), here)
    assert fingerprint(part) == fingerprint(replace(part, span=there))
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})


def test_other_content_has_other_keys() -> None:
    read = opaque("mem:a", I32, (cast(X, I64),), "grid")
    values = [
        X, Y, add(X, Y), sub(X, Y), sub(Y, X), mul(X, Y), cast(X, I64), cast(X, U32), read, const(0, I32),
        const(0, I64), opaque("mem:b", I32, (cast(X, I64),), "grid"), opaque("mem:a", I32, (cast(X, I64),), "block"),
        fconst(0.0), fconst(-0.0), (X, Y), [(X,), Y], (X, Y, X), "x", 1, "1", 1.0, None, frozenset("x"), {"x": X},
    ]  # fmt: skip
    keys = [fingerprint(v) for v in values]
    assert len(set(keys)) == len(keys)


def test_keys_do_not_depend_on_what_a_process_made_before() -> None:
    code = (
        "from analyzers.ir.expr import *\n"
        "from analyzers.ir.fingerprint import fingerprint\n"
        "y = sym('param:y', I32)\n"
        "print(fingerprint(add(sym('param:x', I32), y), [y]))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == fingerprint(add(X, Y), [Y])
