"""What every rung wants done first: conditions flattened, ranges narrowed, equalities with a symbol substituted.

Takes a query and gives a simpler one with the same answer, remembering which facts went into it and how to turn
values that satisfy the simpler query into values for the original.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from analyzers.ir.evaluate import atoms_below, evaluate_each
from analyzers.ir.expr import (
    BOOL,
    FALSE,
    TRUE,
    Expr,
    IntType,
    cast,
    compare,
    conjuncts,
    const,
    land,
    lnot,
    lor,
    rewrite,
    walk,
)  # fmt: skip
from analyzers.ir.intervals import Intervals
from analyzers.solve.check import atoms_of
from analyzers.solve.narrowing import NO_TAGS, Contradiction, Narrowing
from analyzers.solve.order import side_of, witness_rank
from analyzers.solve.powers import Masks, has_moved_bit, known_powers
from analyzers.solve.query import Fact, Overlap, Query
from analyzers.solve.signed_sums import SignedSums, is_candidate


@dataclass(frozen=True, slots=True)
class Definition:
    """``symbol`` equals ``value``, by the facts ``tags`` (none: by the conjuncts)."""

    symbol: Expr
    value: Expr
    tags: frozenset[int]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A simplified query and the way back."""

    original: Query
    query: Query
    intervals: Intervals
    """Intervals of expressions under the ranges of ``query``."""
    contradiction: frozenset[int] | None = None
    """Tags of the facts that already contradict the rest, when they do."""
    tags: Mapping[Expr, frozenset[int]] = field(default_factory=dict[Expr, frozenset[int]])
    """Symbol -> facts that its range in ``query`` rests on."""
    substituted: tuple[Definition, ...] = ()
    """In the order of substitution."""
    sources: tuple[frozenset[int], ...] = ()
    """The facts of ``query`` are numbered from 0; this says which facts of ``original`` each one comes from."""
    assumed: bool = False
    """Whether simplification used the absence of signed overflow."""

    def core(self, used: Iterable[int]) -> frozenset[int]:
        """The facts of the original behind a proof of the simplified query that used the facts numbered ``used``
        and may have used every range."""
        conditions = {f.tag: f.condition for f in self.query.facts}
        numbers = sorted(set(used))
        tags = NO_TAGS.union(*(self.sources[i] for i in numbers))
        if self.tags:
            for node in walk((*self.query.conjuncts, *(conditions[i] for i in numbers))):
                tags |= self.tags.get(node, NO_TAGS)
        return self.with_definitions(tags)

    def with_definitions(self, tags: frozenset[int]) -> frozenset[int]:
        """``tags`` and the facts by which symbols of the conjuncts and of those facts were replaced."""
        if any(d.tags for d in self.substituted):
            facts = (f.condition for f in self.original.facts if f.tag in tags)
            occurring = set(walk((*self.original.conjuncts, *facts)))
            for d in self.substituted:
                if d.symbol in occurring:
                    tags |= d.tags
                    occurring.update(walk((d.value,)))
        return tags

    def restore(self, values: Mapping[Expr, int]) -> dict[Expr, int]:
        """Values of the original query's atoms from values of the simplified one's."""
        mapping: dict[Expr, Expr] = {}
        for d in self.substituted:
            mapping = {s: rewrite(v, {d.symbol: d.value}.get) for s, v in mapping.items()}
            mapping[d.symbol] = d.value
        atoms = atoms_of(self.original)
        memo: dict[int, Expr] = {}
        images = [rewrite(a, mapping.get, memo) for a in atoms]
        known = dict(values)
        for image in images:
            for node in walk((image,)):
                if node not in known and node.op in ("sym", "opaque") and isinstance(node.ty, IntType):
                    known[node] = _any_value(node, self.query, self.original)
        results = evaluate_each(images, known)
        out: dict[Expr, int] = {}
        for atom, image, result in zip(atoms, images, results, strict=True):
            out[atom] = result if result is not None else known.get(image, _any_value(atom, self.query, self.original))
        return out


def _any_value(symbol: Expr, *queries: Query) -> int:
    assert isinstance(symbol.ty, IntType)
    for q in queries:
        if symbol in q.ranges:
            lo, hi = q.ranges[symbol]
            return min(max(lo, 0), hi)
    return 0


def nnf(e: Expr) -> Expr:
    """Negations pushed to the leaves."""
    if e.op == "land":
        return land(nnf(e.args[0]), nnf(e.args[1]))
    if e.op == "lor":
        return lor(nnf(e.args[0]), nnf(e.args[1]))
    if e.op == "lnot":
        inner = e.args[0]
        if inner.op == "land":
            return lor(*(nnf(lnot(a)) for a in inner.args))
        if inner.op == "lor":
            return land(*(nnf(lnot(a)) for a in inner.args))
        if inner.op == "select" and inner.ty == BOOL:
            return e
    return e


def _flat(e: Expr) -> Iterable[Expr]:
    return (q for p in conjuncts(e) for q in conjuncts(nnf(p)))


def prepare(query: Query) -> Prepared:
    """Simplify; cheap (well under a millisecond for common queries)."""
    parts: dict[Expr, frozenset[int]] = {}
    for c in query.conjuncts:
        for p in _flat(c):
            parts[p] = NO_TAGS
    for f in query.facts:
        for p in _flat(f.condition):
            if p not in parts:
                # Facts with negative tags are never cited: as good as conjuncts.
                parts[p] = frozenset((f.tag,)) if f.tag >= 0 else NO_TAGS
    _join_inequalities(parts)
    narrowing = Narrowing(query.ranges, no_signed_overflow=query.no_signed_overflow)
    try:
        own = [(p, t) for p, t in parts.items() if not t]
        narrowing.run(own)
        if len(own) < len(parts):
            narrowing.run(list(parts.items()))
        parts, overlap = _with_signed_sums(parts, query.overlap, narrowing)
        parts, overlap = _with_remainders(parts, overlap, narrowing)
        _complementary(parts)
        return _Substitution(query, parts, overlap, narrowing).run()
    except Contradiction as found:
        return Prepared(query, query, narrowing.intervals, found.tags, assumed=_rests_on_overflow(query, narrowing))


def _join_inequalities(parts: dict[Expr, frozenset[int]]) -> None:
    """``a <= b`` and ``b <= a`` are ``a == b``, which can be substituted."""
    for p in [p for p in parts if p.op == "le" and isinstance(p.args[0].ty, IntType)]:
        reverse = compare("le", p.args[1], p.args[0])
        if p in parts and reverse in parts and p is not reverse:
            tags = parts.pop(p) | parts.pop(reverse)
            equal = compare("eq", *p.args)
            parts[equal] = parts[equal] & tags if equal in parts else tags


def _with_signed_sums(
    parts: dict[Expr, frozenset[int]], overlap: Overlap | None, narrowing: Narrowing
) -> tuple[dict[Expr, frozenset[int]], Overlap | None]:
    """Unsigned sums that are taken as signed ones (see ``signed_sums``); a condition that is rewritten owes its form to
    what its ranges rest on."""
    addresses = () if overlap is None else (overlap.left, overlap.right)
    if not any(is_candidate(e) for e in (*parts, *addresses)):
        return parts, overlap
    sums = SignedSums(narrowing.intervals)
    changed: dict[Expr, frozenset[int]] = {}
    for p, tags in parts.items():
        image = sums.of(p)
        own = tags if image is p else tags | narrowing.owed((p,))
        for q in conjuncts(image):
            if q is FALSE:
                raise Contradiction(own)
            if q is not TRUE:
                changed[q] = changed[q] & own if q in changed else own
    narrowing.run(list(changed.items()))
    if overlap is None:
        return changed, None
    left, right = sums.of(overlap.left), sums.of(overlap.right)
    moved = [e for e, image in ((overlap.left, left), (overlap.right, right)) if image is not e]
    # Nobody says what the form of an overlap rests on: where that is a fact, it stays as it is.
    plain = narrowing.owed(moved)
    return changed, overlap if plain else Overlap(left, right, overlap.left_width, overlap.right_width)


def _with_remainders(
    parts: dict[Expr, frozenset[int]], overlap: Overlap | None, narrowing: Narrowing
) -> tuple[dict[Expr, frozenset[int]], Overlap | None]:
    """Masks by powers of two as remainders (see ``powers``). The overlap, of which nobody says what its form rests on,
    stays as it is where that is a fact; the conditions that it repeats do not."""
    known = known_powers(parts, narrowing.intervals, narrowing.owed)
    if not known and not any(has_moved_bit(p) for p in parts):
        return parts, overlap
    masks = Masks(known, narrowing.intervals, narrowing.owed)
    changed: dict[Expr, frozenset[int]] = {}
    for p, tags in parts.items():
        image, used = masks.of(p)
        own = tags | used
        for q in conjuncts(image):
            if q is FALSE:
                raise Contradiction(own)
            if q is not TRUE:
                changed[q] = changed[q] & own if q in changed else own
    narrowing.run(list(changed.items()))
    if overlap is None:
        return changed, None
    (left, one), (right, two) = masks.of(overlap.left), masks.of(overlap.right)
    plain = one or two
    return changed, overlap if plain else Overlap(left, right, overlap.left_width, overlap.right_width)


def _rests_on_overflow(query: Query, narrowing: Narrowing) -> bool:
    if not query.no_signed_overflow:
        return False
    return narrowing.assumed or narrowing.intervals.assumed(*query.conjuncts, *(f.condition for f in query.facts))


def _complementary(parts: Mapping[Expr, frozenset[int]]) -> None:
    for p, tags in parts.items():
        if p is FALSE:
            raise Contradiction(tags)
        other = parts.get(lnot(p))
        if other is not None:
            raise Contradiction(tags | other)


class _Substitution:
    """Replaces symbols that are equal to a constant, another symbol or an expression."""

    def __init__(
        self, query: Query, parts: dict[Expr, frozenset[int]], overlap: Overlap | None, narrowing: Narrowing
    ) -> None:
        self.query, self.parts, self.overlap, self.narrowing = query, parts, overlap, narrowing
        self.done: list[Definition] = []

    def run(self) -> Prepared:
        try:
            return self._substituted()
        except Contradiction as found:
            # What contradicts may have been made by any of them.
            raise Contradiction(found.tags.union(*(d.tags for d in self.done))) from None

    def _substituted(self) -> Prepared:
        narrowing = self.narrowing
        constants: dict[Expr, Expr] = {}
        single = [s for s, (lo, hi) in narrowing.ranges.items() if lo == hi and s.op == "sym"]
        if single:
            occurring = frozenset[Expr]().union(*(atoms_below(p) for p in self.parts))
            for symbol in single:
                if symbol in occurring and isinstance(symbol.ty, IntType):
                    constants[symbol] = const(narrowing.ranges[symbol][0], symbol.ty)
                    self.done.append(Definition(symbol, constants[symbol], narrowing.tags.get(symbol, NO_TAGS)))
        changed = bool(constants)
        if constants:
            self._apply(constants)
        for _ in range(16):
            found = self._equality()
            if found is None:
                break
            changed = True
            self.done.append(found)
            self._apply({found.symbol: found.value})
            self._keep_range(found)
        if changed:
            _complementary(self.parts)
            narrowing.run(list(self.parts.items()))
        return self._result()

    def _apply(self, mapping: Mapping[Expr, Expr]) -> None:
        memo: dict[int, Expr] = {}
        parts: dict[Expr, frozenset[int]] = {}
        for p, tags in self.parts.items():
            for q in conjuncts(rewrite(p, mapping.get, memo)):
                if q is FALSE:
                    raise Contradiction(tags)
                if q is not TRUE:
                    parts[q] = parts[q] & tags if q in parts else tags
        for node, bounds in list(self.narrowing.ranges.items()):
            if node.args:
                image = rewrite(node, mapping.get, memo)
                if image is not node:
                    old = self.narrowing.ranges.get(image, bounds)
                    self.narrowing.ranges[image] = (max(old[0], bounds[0]), min(old[1], bounds[1]))
                    known = self.narrowing.tags
                    for n in (image, *atoms_below(image)) if node in known else ():
                        known[n] = known.get(n, NO_TAGS) | known[node]
        self.parts = parts
        if self.overlap is not None:
            o = self.overlap
            self.overlap = Overlap(
                rewrite(o.left, mapping.get, memo), rewrite(o.right, mapping.get, memo), o.left_width, o.right_width
            )

    def _equality(self) -> Definition | None:
        """A conjunct or fact that defines a symbol."""
        for p, tags in self.parts.items():
            if p.op != "eq" or not isinstance(p.args[0].ty, IntType):
                continue
            # Of two symbols the one that comes first in witnesses stays.
            for a, b in sorted((p.args, p.args[::-1]), key=lambda ab: witness_rank(ab[0]), reverse=True):
                target, value = a, b
                if a.op == "cast" and a.args[0].op == "sym":
                    inner = a.args[0]
                    if not isinstance(inner.ty, IntType) or inner.ty == BOOL or self.narrowing.intervals.wraps(a):
                        continue
                    target, value = inner, cast(b, inner.ty)
                if target.op != "sym" or any(n is target for n in walk((value,))):
                    continue
                if value.op == "cast" and self.narrowing.intervals.wraps(value):
                    continue  # of the symbol more is known than of what may have been cut off
                # An expression of a thread would tie the two sides together where its own symbol keeps them apart.
                if value.op == "const" or value.op == "sym" or tags or side_of(p) == 0:
                    return Definition(target, value, tags)
        return None

    def _keep_range(self, definition: Definition) -> None:
        """The symbol is gone: what was known of its range must be said of its value."""
        symbol, value = definition.symbol, definition.value
        bounds = self.narrowing.ranges.get(symbol)
        assert isinstance(value.ty, IntType)
        if bounds is None:
            return
        sources = definition.tags | self.narrowing.tags.get(symbol, NO_TAGS)
        for condition in (
            compare("le", const(bounds[0], value.ty), value) if bounds[0] > value.ty.low else TRUE,
            compare("le", value, const(bounds[1], value.ty)) if bounds[1] < value.ty.high else TRUE,
        ):
            if condition is FALSE:
                raise Contradiction(sources)
            if condition is not TRUE:
                self.parts.setdefault(condition, sources)

    def _result(self) -> Prepared:
        narrowing, original = self.narrowing, self.query
        tagged = [(p, t) for p, t in self.parts.items() if t]
        simplified = Query(
            tuple(p for p, t in self.parts.items() if not t),
            tuple(Fact(p, i) for i, (p, _) in enumerate(tagged)),
            narrowing.ranges,
            self.overlap,
            original.scope,
            original.no_signed_overflow,
        )
        sources = tuple(t for _, t in tagged)
        return Prepared(
            original,
            simplified,
            narrowing.intervals,
            None,
            narrowing.tags,
            tuple(self.done),
            sources,
            narrowing.assumed,
        )
