"""The question every rung of the ladder answers: can all these conditions hold at once?

A query is about two threads of one launch. Per-thread symbols carry the suffix ``@1`` or ``@2`` (``tid.x@1``,
``loop:L3#0@2``, thread-scoped opaque identities too); everything without a suffix is common to both. ``conjuncts``
alone define
the question; ``overlap`` repeats in structured form what most of them say, for rungs that reason about addresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from analyzers.ir import expr as E
from analyzers.ir.expr import Expr


@dataclass(frozen=True, slots=True)
class Overlap:
    """The byte ranges [left, left + left_width) and [right, right + right_width) of one object intersect (I64
    offsets)."""

    left: Expr
    right: Expr
    left_width: int
    right_width: int


@dataclass(frozen=True, slots=True)
class Fact:
    """A condition that may be used; ``tag`` is reported back when a proof needed it."""

    condition: Expr
    tag: int


@dataclass(frozen=True, slots=True)
class Query:
    conjuncts: tuple[Expr, ...]
    """Guards of both accesses, thread distinctness, the overlap, ordering conditions."""
    facts: tuple[Fact, ...] = ()
    """Host facts, hardware limits that are not plain ranges, user assumptions."""
    ranges: Mapping[Expr, tuple[int, int]] = field(default_factory=dict[Expr, tuple[int, int]])
    """Inclusive bounds of symbols (``sym`` and ``opaque`` nodes). A symbol without an entry has its type's range."""
    overlap: Overlap | None = None
    scope: Literal["thread", "warp", "block", "grid"] = "block"
    """``block``: both threads in one block (``bid.*`` is then common to both), different thread indices. ``grid``:
    different blocks.
    ``warp``: one block, same warp."""
    no_signed_overflow: bool = True
    """Signed 32/64-bit ``add sub mul neg shl`` do not overflow (an assumption the caller lists)."""


@dataclass(frozen=True, slots=True)
class Proved:
    """No values satisfy the query."""

    core: frozenset[int] = frozenset()
    """Tags of the facts used."""
    used_no_overflow: bool = True
    """False when the proof holds with wrapping signed arithmetic too."""
    rung: str = ""
    used_no_wrap: bool = False
    """The proof needs that unsigned sums and products of sizes nobody limits do not wrap around."""
    of: Query | None = field(default=None, repr=False, compare=False)
    """What was proved, where fewer facts may do (``solve.economy``)."""


@dataclass(frozen=True, slots=True)
class Satisfied:
    """Values that satisfy the query, checked by exact evaluation."""

    values: Mapping[Expr, int]
    """Every symbol occurring in the query -> value."""
    rung: str = ""


def identity(query: Query) -> tuple[object, ...]:
    """All that an answer depends on, in its order: which values are found may depend on that too."""
    symbols = E.symbols(*query.conjuncts, *(f.condition for f in query.facts))
    overlap = query.overlap
    return (
        query.scope,
        query.no_signed_overflow,
        tuple([c.key for c in query.conjuncts]),
        tuple([(f.condition.key, f.tag) for f in query.facts]),
        frozenset([(s.key, *query.ranges[s]) for s in symbols if s in query.ranges]),
        overlap and (overlap.left.key, overlap.right.key, overlap.left_width, overlap.right_width),
    )


WRAPS: Final = "wrap-around"
"""``Undecided.kind`` of a question that is impossible but for unsigned arithmetic that wraps around."""
WRAPS_TEXT: Final = "it takes unsigned arithmetic that wraps around, which was not excluded"


@dataclass(frozen=True, slots=True)
class Undecided:
    """This rung cannot tell. ``kind``: ``not-applicable``, ``budget``, ``unsupported-operator``, ``wrap-around``."""

    kind: str
    text: str = ""
    rung: str = ""


Answer = Proved | Satisfied | Undecided
