"""The last word on a witness: evaluate the whole query with C's semantics.

Takes a query and values for its symbols and says whether they satisfy every conjunct, every fact and every range, with
equal opaque values wherever identity and arguments agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from analyzers.ir.evaluate import evaluate_each, is_atom
from analyzers.ir.expr import Expr, IntType, walk
from analyzers.solve.query import Query


@lru_cache(maxsize=4096)
def atoms_in(roots: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The integer and boolean leaves of some expressions."""
    return tuple(n for n in walk(roots) if is_atom(n) and n.op != "const" and isinstance(n.ty, IntType))


def roots_of(query: Query) -> tuple[Expr, ...]:
    return (*query.conjuncts, *(f.condition for f in query.facts))


def atoms_of(query: Query) -> tuple[Expr, ...]:
    """The integer and boolean leaves whose values decide the query: symbols, opaque values, results of calls and of
    float comparisons and conversions."""
    return atoms_in(roots_of(query))


def violation(query: Query, values: Mapping[Expr, int]) -> Expr | None:
    """The first condition that ``values`` do not satisfy (or leave undefined), None when all hold."""
    for symbol in atoms_of(query):
        value = values.get(symbol)
        lo, hi = query.ranges.get(symbol, (None, None))
        assert isinstance(symbol.ty, IntType)
        if value is None or not (symbol.ty.low if lo is None else lo) <= value <= (
            symbol.ty.high if hi is None else hi
        ):
            return symbol
    # Most values that are tried fail at once; facts may be many.
    for roots in (query.conjuncts, tuple([f.condition for f in query.facts])):
        failing = next(iter(_failing(query, roots, values)), None)
        if failing is not None:
            return failing
    return _inconsistent(query, values)


def violations(query: Query, values: Mapping[Expr, int]) -> list[Expr]:
    """The conditions that ``values``, of all symbols, do not satisfy (or leave undefined)."""
    return _failing(query, roots_of(query), values)


def _failing(query: Query, roots: tuple[Expr, ...], values: Mapping[Expr, int]) -> list[Expr]:
    results = evaluate_each(roots, values, no_signed_overflow=query.no_signed_overflow)
    return [root for root, result in zip(roots, results, strict=True) if result != 1]


def _inconsistent(query: Query, values: Mapping[Expr, int]) -> Expr | None:
    """An atom whose value differs from that of another application of the same function to the same arguments."""
    seen: dict[tuple[object, ...], int] = {}
    for atom in atoms_of(query):
        if not atom.args:
            continue
        ints = [a for a in atom.args if isinstance(a.ty, IntType)]
        results = dict(zip(ints, evaluate_each(ints, values, no_signed_overflow=query.no_signed_overflow), strict=True))
        if None in results.values():
            continue
        arguments = tuple(results.get(a, a) for a in atom.args)
        key = (atom.op, atom.ty, atom.value, arguments)
        if seen.setdefault(key, values[atom]) != values[atom]:
            return atom
    return None


def satisfies(query: Query, values: Mapping[Expr, int]) -> bool:
    return violation(query, values) is None
