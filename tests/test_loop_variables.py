"""The variables that come to life in a loop are used nowhere else: only then have they nothing from before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lowering import kernels

from analyzers.ir import kernel as k
from analyzers.ir.expr import Expr, walk

FILES = sorted((Path(__file__).parent / "corpus").rglob("*.cu"))


def _named(s: k.Stmt) -> set[str]:
    """The variables that a statement names itself, without what it contains."""
    parts = [
        getattr(s, name) for name in s.__dataclass_fields__ if name not in ("then", "orelse", "head", "body", "latch")
    ]
    found = {getattr(s, "var", None)}
    for part in parts:
        values = part if isinstance(part, tuple) else (part,)
        flat = [v for value in values for v in (value if isinstance(value, tuple) else (value,))]
        found |= {n.value for n in walk(v for v in flat if isinstance(v, Expr)) if n.op == "var"}
    return {name for name in found if isinstance(name, str)}


def _parts(s: k.Stmt) -> Iterator[tuple[k.Stmt, ...]]:
    for name in ("then", "orelse", "head", "body", "latch"):
        if hasattr(s, name):
            yield getattr(s, name)


def _outside(body: tuple[k.Stmt, ...], loop: k.Loop) -> Iterator[str]:
    """The variables that are named anywhere but in a loop."""
    for s in body:
        if s is not loop:
            yield from _named(s)
            for part in _parts(s):
                yield from _outside(part, loop)


def _loops(body: tuple[k.Stmt, ...]) -> Iterator[k.Loop]:
    for s in body:
        if isinstance(s, k.Loop):
            yield s
        for part in _parts(s):
            yield from _loops(part)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_they_are_named_in_it_alone(path: Path) -> None:
    for kernel in kernels(path.read_text(encoding="utf-8")).values():
        for loop in _loops(kernel.body):
            assert not {*loop.own} & {*_outside(kernel.body, loop)}, (kernel.name, loop.label)
