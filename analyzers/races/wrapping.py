"""The question for two accesses under the assumption that 32-bit index arithmetic does not wrap around.

Takes a query, gives the same query with sums and products of open sizes computed in whole numbers
(``docs/decisions/0008``). Two kinds of arithmetic are taken so:

- sums and products of what is never negative: none of them exceeds its type;
- the whole of an index with negative parts (``x + offset``, ``base + (t - 32)``): its parts may be negative on the way,
  only what becomes the index (or a signed number) fits.

Distances between addresses that are computed as unsigned 64-bit numbers, as by ``size_t``, are taken for signed ones,
which do not overflow.

Anything else counts exactly: what is divided, shifted, masked or cut off, large factors, numbers that are compared with
ones beyond 2^31, differences in conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate_each
from analyzers.ir.expr import I32, I64, U32, U64, Expr, IntType
from analyzers.ir.intervals import Intervals
from analyzers.races.threads import Launch
from analyzers.solve.narrowing import NO_TAGS, Contradiction, Narrowing
from analyzers.solve.query import Fact, Overlap, Query, identity

MAX_PLAIN_CONSTANT = 1 << 16
"""Factors and terms beyond this are those of hashes."""

MAX_VECTOR = 16
"""Elements of a vector, or bytes."""

_ROUNDS = 2
"""Passes in which the conditions of a query narrow the ranges of its symbols: enough to see what is not negative."""

_RING = frozenset({"add", "sub", "mul", "neg"})

_COMPARISONS = frozenset({"eq", "ne", "lt", "le"})
_REARRANGING = frozenset({"div", "rem", "shr", "shl", "and", "or", "xor", "not"})
"""Operations that make something else of a number that has wrapped around: bits of a hash, a place in a ring."""


@dataclass(frozen=True, slots=True)
class WithoutWrap:
    """A query in whole numbers, and what that assumes."""

    query: Query
    assumed: tuple[tuple[Expr, IntType], ...]
    """(value in whole numbers, the type that it is taken to fit)."""
    distances: tuple[Expr, ...] = ()
    """Parts of addresses (I64) computed as unsigned 64-bit numbers, and taken not to overflow as signed ones."""

    def fails(self, values: Mapping[Expr, int]) -> bool:
        """Whether something that is assumed does not hold with these values of the symbols, as far as they decide
        it."""
        wholes = evaluate_each([whole for whole, _ in self.assumed], values)
        known = [d for d in self.distances if all(s in values for s in E.symbols(d))]
        if None in evaluate_each(known, values, no_signed_overflow=True):
            return True
        return any(w is not None and not t.low <= w <= t.high for w, (_, t) in zip(wholes, self.assumed, strict=True))


def without_wrap(launch: Launch, query: Query) -> WithoutWrap | None:
    """The query under the assumption, or None where it changes nothing; worked out once for each query of a launch,
    which is asked about in several ways."""
    known = launch.once(_Known).queries
    key = identity(query)
    if key not in known:
        known[key] = _without_wrap(launch, query)
    return known[key]


class _Known:
    """Of one launch."""

    def __init__(self, _: Launch) -> None:
        self.queries: dict[tuple[object, ...], WithoutWrap | None] = {}


def _without_wrap(launch: Launch, query: Query) -> WithoutWrap | None:
    rewriting = _Rewriting(launch, query)
    plain = rewriting.plain
    distances = _distances(query)

    def taken(e: Expr) -> Expr:
        return plain(E.rewrite(e, distances.get))

    conjuncts = tuple(taken(c) for c in query.conjuncts)
    if conjuncts == query.conjuncts:
        return None
    sizes = [s for s in E.symbols(*distances) if s.op == "sym" and s.ty == U64]
    conjuncts += tuple(E.compare("le", E.const(0, I64), E.cast(s, I64)) for s in sizes)
    rewriting.assumed.update((s, I64) for s in sizes)
    o = query.overlap
    whole = replace(
        query,
        conjuncts=conjuncts,
        facts=tuple(Fact(plain(f.condition), f.tag) for f in query.facts),
        overlap=None if o is None else Overlap(taken(o.left), taken(o.right), o.left_width, o.right_width),
    )
    return WithoutWrap(whole, tuple(rewriting.assumed.items()), tuple(distances.values()))


def _distances(query: Query) -> dict[Expr, Expr]:
    """The unsigned 64-bit sums and products that the addresses of a query are linear in, as conversions to distances
    (I64), and the same computed as signed numbers: equal modulo 2^64, and no array is so large that these overflow.
    What has a large factor or term, and what is also used otherwise, counts exactly."""
    found: dict[Expr, Expr] = {}
    stack = [query.overlap.left, query.overlap.right] if query.overlap is not None else []
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if node.key in seen:
            continue
        seen.add(node.key)
        if node.op == "cast" and node.ty == I64 and node.args[0].ty == U64 and node.args[0].op in _RING:
            if (signed := _signed_ring(node.args[0])) is not None:
                found[node] = signed
        elif node.op in _RING or (node.op == "cast" and _width(node) >= _width(node.args[0])):
            stack.extend(node.args)
    for node in E.walk(query.conjuncts) if found else ():
        if node.op in _REARRANGING:
            for below in E.walk(node.args):
                found.pop(below, None)
    return found


def _signed_ring(e: Expr) -> Expr | None:
    """A sum or product of unsigned 64-bit numbers, as signed ones (I64); None with a large constant in it."""
    if e.op == "const":
        value = int(e.value) - (1 << 64) if e.value >= 1 << 63 else int(e.value)
        return E.const(value, I64) if abs(value) <= MAX_PLAIN_CONSTANT else None
    if e.ty != U64 or e.op not in _RING:
        return E.cast(e, I64)
    parts = [_signed_ring(a) for a in e.args]
    if any(p is None for p in parts):
        return None
    known = [p for p in parts if p is not None]
    return E.neg(known[0]) if e.op == "neg" else E.binary(e.op, *known)


class _Rewriting:
    def __init__(self, launch: Launch, query: Query) -> None:
        self.assumed: dict[Expr, IntType] = {}
        conditions = (*query.conjuncts, *(f.condition for f in query.facts))
        self._open = _OpenSizes(launch)
        self._signs = _Signs(query, conditions)
        self._memo: dict[int, Expr] = {}
        self._whole: dict[int, Expr] = {}
        addresses = () if query.overlap is None else (query.overlap.left, query.overlap.right)
        self._indices = frozenset(n for n in _linear(*addresses) if _is_index(n))
        ranges = Intervals(query.ranges, no_signed_overflow=query.no_signed_overflow)
        vectors = frozenset(n for n in _linear(*addresses) if _is_of_vectors(n))
        self._exact = _exact(conditions, vectors, ranges, lambda n: self._open.cut_size(n) is not None)

    def plain(self, e: Expr) -> Expr:
        """``e`` with what is assumed about the arithmetic in it."""
        memo = self._memo
        for node in E.walk((e,), memo):
            cut = self._open.cut_size(node)
            if cut is not None or self._is_taken(node):
                whole = cut or self._in_whole_numbers(node)
                assert isinstance(node.ty, IntType)
                self.assumed[whole] = node.ty
                memo[node.key] = E.narrow(whole, node.ty)
            else:
                args = tuple([memo[a.key] for a in node.args])
                memo[node.key] = node if args == node.args else E.rebuild(node, args)
        return memo[e.key]

    def _is_taken(self, node: Expr) -> bool:
        conversion = _is_conversion(node)
        computed = (node.op in _RING and node.ty == U32) or _is_scaled(node)
        if not (conversion or computed) or not self._open.occur_in(node):
            return False
        if node.key in self._exact or (conversion and node.ty != I32):
            return False
        if self._signs.may_be_negative(node):
            # What is left of a negative number must be all there is of it: a part of an index may be negative.
            return node in self._indices or (conversion and node.args[0].op in _RING)
        return True

    def _in_whole_numbers(self, node: Expr) -> Expr:
        found = self._whole.get(node.key)
        if found is None:
            if node.op in _RING and node.ty == U32:
                parts = [self._part(a) for a in node.args]
                found = E.neg(parts[0]) if node.op == "neg" else E.binary(node.op, *parts)
            elif _is_scaled(node):
                found = E.binary("shl", self._part(node.args[0]), E.cast(node.args[1], I64))
            elif _is_conversion(node):
                found = self._part(node.args[0])
            elif node.op == "const" and node.ty == U32:
                found = E.const(_as_written(node.value), I64)
            else:
                found = E.cast(self.plain(node), I64)
            self._whole[node.key] = found
        return found

    def _part(self, node: Expr) -> Expr:
        """Of a larger sum or product: what is never negative fits by itself."""
        return E.cast(self.plain(node), I64) if self._is_taken(node) else self._in_whole_numbers(node)


def _passed(launch: Launch) -> frozenset[Expr]:
    """What the values are made of that the host passes."""
    return frozenset(E.walk([value for symbol, value in launch.bound.items() if _starts(symbol, ("param:",))]))


def _is_scaled(node: Expr) -> bool:
    """The number of a block times a power of two that is not known: ``blockIdx.x << log2_of_size``. What else is
    shifted so, a mask or by a number that threads differ in, is bits."""
    if node.op != "shl" or node.ty != U32 or node.args[1].op == "const":
        return False
    number, amount = node.args
    return _starts(number, ("bid.",)) and all(_starts(s, ("param:", "host:")) for s in E.symbols(amount))


def _starts(e: Expr, prefixes: tuple[str, ...]) -> bool:
    return e.op == "sym" and e.value.startswith(prefixes)


def _is_conversion(node: Expr) -> bool:
    """Between the 32-bit types."""
    return node.op == "cast" and {node.ty, node.args[0].ty} == {I32, U32}


def _as_written(value: int) -> int:
    """What an unsigned constant was before its conversion: numbers near 2^32 were negative."""
    return value - (1 << 32) if value > U32.high - MAX_PLAIN_CONSTANT else value


def _linear(*addresses: Expr) -> Iterator[Expr]:
    """The numbers that addresses are linear in: nothing else than an index is made of them."""
    stack, seen = [*addresses], set[int]()
    while stack:
        node = stack.pop()
        if node.key in seen:
            continue
        seen.add(node.key)
        yield node
        if not _is_index(node) and (node.op in _RING or (node.op == "cast" and _width(node) >= _width(node.args[0]))):
            stack.extend(node.args)


def _is_index(node: Expr) -> bool:
    return (node.op in _RING and node.ty == U32) or (_is_conversion(node) and node.ty == I32)


def _is_of_vectors(node: Expr) -> bool:
    """An index of small vectors, from one of their elements."""
    if node.op not in ("div", "shr") or node.args[1].op != "const":
        return False
    return 1 < (node.args[1].value if node.op == "div" else 1 << node.args[1].value) <= MAX_VECTOR


def _width(e: Expr) -> int:
    return e.ty.width if isinstance(e.ty, IntType) else 0


def _exact(
    conditions: Iterable[Expr], indices: frozenset[Expr], ranges: Intervals, is_size: Callable[[Expr], bool]
) -> frozenset[int]:
    """Keys of the nodes whose exact value counts: what has a large factor or term, what is compared with a large
    number, conversions of these, and all that is rearranged or cut off, but for the ``indices`` of vectors and for
    sizes that host code keeps in an ``int``."""
    nodes = tuple(E.walk(conditions))
    compared = [n for n in nodes if n.op in _COMPARISONS]
    numbers = {s.key for n in compared for s in _compared_with_large(n)}
    exact: set[int] = set()
    for node in nodes:
        ring = node.op in _RING and node.ty == U32
        large = any(a.op == "const" and abs(_as_written(a.value)) > MAX_PLAIN_CONSTANT for a in node.args)
        below = ring or _is_conversion(node)
        if node.key in numbers or (ring and large) or (below and any(a.key in exact for a in node.args)):
            exact.add(node.key)
    exact.update(key for node in compared for key in _sign_tests(node))
    for node in nodes:
        cut = node.op == "cast" and _width(node) < _width(node.args[0]) and not is_size(node) and ranges.wraps(node)
        if (node.op in _REARRANGING and node not in indices) or cut:
            exact.update(n.key for n in E.walk(node.args))
    return frozenset(exact)


def _compared_with_large(node: Expr) -> tuple[Expr, ...]:
    """A symbol that a comparison compares with a number no size has."""
    if node.args[0].ty != U32:
        return ()
    known, other = sorted(node.args, key=lambda a: a.op != "const")
    if known.op != "const" or known.value <= I32.high or known.value > U32.high:
        return ()
    return tuple(s for s in E.symbols(other) if s.op == "sym")


def _sign_tests(node: Expr) -> Iterator[int]:
    """Keys of the conversions of single numbers whose sign a condition asks for: ``(int)n < 0``."""
    if any(a.op == "const" and a.value <= 0 for a in node.args):
        for a in node.args:
            if _is_conversion(a) and a.ty == I32 and a.args[0].op in ("sym", "shl", "cast"):
                yield a.key


class _OpenSizes:
    """Parameters, host values, dimensions, the blocks of a grid of unknown size: what the launch does not fix."""

    def __init__(self, launch: Launch) -> None:
        blocks = (f"bid.{axis}" for axis, extent in zip("xyz", launch.grid, strict=True) if extent is None)
        self._passed = launch.once(_passed)
        self._prefixes = ("param:", "host:", "bdim.", "gdim.", "gid.", "threads.", *blocks)

    def occur_in(self, e: Expr) -> bool:
        return any(s.op == "sym" and s.value.startswith(self._prefixes) for s in E.symbols(e))

    def cut_size(self, node: Expr) -> Expr | None:
        """The number (I64) that host code computes with 64 bits from sizes, where ``node`` is what it passes of it as
        an ``int``: ``int pitch = width * sizeof(float)``. None for anything else, such as the halves of a number, or
        what the kernel itself cuts off."""
        if node.op != "cast" or node.ty != I32 or node not in self._passed:
            return None
        (kept,) = node.args
        if kept.ty not in (I64, U64) or kept.op != "mul":
            return None
        sizes = E.symbols(kept)
        if not sizes or not all(s.op == "sym" and s.value.startswith("host:") for s in sizes):
            return None
        return _signed_ring(kept)


class _Signs:
    """Whether 32-bit arithmetic may have a negative result in whole numbers."""

    def __init__(self, query: Query, conditions: tuple[Expr, ...]) -> None:
        self._query = query
        self._conditions = conditions
        self._memo: dict[int, bool] = {}

    def may_be_negative(self, e: Expr) -> bool:
        found = self._memo.get(e.key)
        if found is None:
            found = self._memo[e.key] = self._look(e)
        return found

    def _look(self, e: Expr) -> bool:
        if e.op in ("sub", "neg"):
            return True
        if e.op == "const":
            return _as_written(e.value) < 0
        if e.op in _RING or (_is_conversion(e) and (e.ty == I32 or _is_conversion(e.args[0]))):
            return any(map(self.may_be_negative, e.args))
        return _is_conversion(e) and self._intervals.of(e.args[0]).lo < 0

    @cached_property
    def _intervals(self) -> Intervals:
        query = self._query
        narrowing = Narrowing(query.ranges, no_signed_overflow=query.no_signed_overflow)
        # A contradiction means that nothing satisfies the query, whatever is assumed.
        with suppress(Contradiction):
            narrowing.run([(c, NO_TAGS) for c in self._conditions], _ROUNDS)
        return Intervals(narrowing.ranges, no_signed_overflow=query.no_signed_overflow)
