"""Sizes that the host does not say to be positive, in questions that have no other answer.

An index is taken apart by ``/ width`` and ``% width``, and put together by ``* width``. Whether places so computed are
apart may not be decided for all signs of the sizes together. Of a size that is zero or less, nobody means a launch: the
question is then asked for positive sizes, and a proof says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from analyzers.ir import expr as E
from analyzers.ir.expr import Expr, IntType
from analyzers.ir.intervals import Intervals
from analyzers.solve.order import side_of
from analyzers.solve.query import Query

MAX_SIZES = 8


def with_positive_sizes(query: Query) -> tuple[Query, tuple[Expr, ...]] | None:
    """The query where its sizes are positive, and these sizes; None where none is open, or they are too many."""
    nodes = list(E.walk(query.conjuncts))
    divisors = [n.args[1] for n in nodes if n.op in ("div", "rem")]
    if not divisors:
        return None
    products = [n for n in nodes if n.op == "mul" and side_of(n)]
    intervals = Intervals(query.ranges)
    sizes = {
        s: intervals.of(s).hi for s in _factors([*divisors, *products]) if intervals.of(s).lo < 1 <= intervals.of(s).hi
    }
    if not sizes or len(sizes) > MAX_SIZES:
        return None
    ranges = {**query.ranges, **{s: (1, high) for s, high in sizes.items()}}
    return replace(query, ranges=ranges), tuple(sizes)


def _factors(products: Iterable[Expr]) -> list[Expr]:
    """The numbers that the host gives among the factors, each once."""
    found: dict[Expr, None] = {}
    stack = list(products)
    while stack:
        node = stack.pop()
        if node.op in ("cast", "narrow", "mul"):
            stack.extend(node.args)
        elif node.op == "sym" and isinstance(node.ty, IntType) and str(node.value).startswith(("param:", "host:")):
            found[node] = None
    return list(found)


def said_positive(sizes: Iterable[Expr]) -> str:
    """The assumption, in words."""
    names = sorted({str(s.value).split(":")[-1] for s in sizes})
    several = f"{', '.join(names[:-1])} and {names[-1]} are" if len(names) > 1 else f"{names[0]} is"
    return f"{several} positive"
