"""Accesses whose addresses differ in constants only, so that one question tells all of them apart from others.

Unrolled loops, parts of vectors and rows of neighbours give many accesses: ``p[i]``, ``p[i + n]``, ``p[i + 2 * n]``.
Their addresses have a least general generalisation (Plotkin, *A note on inductive generalization*, 1970), here one in
which every constant in which they differ is an unknown of its own between the smallest and the largest of its values:
what is proved of it is proved of each of them. It says more than they do, so that a question about it without a proof
says nothing.

Takes the accesses of a launch, gives for each place the family that it belongs to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from math import gcd
from typing import Literal

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import I64, Expr, IntType
from analyzers.ir.kernel import Alignment
from analyzers.ir.node import COMMUTATIVE
from analyzers.races.pairs import Pair, Place, place, place_key
from analyzers.races.threads import Launch

MAX_HOLES = 4
"""Constants in which the members of a family differ."""

MAX_UNSIGNED = 1 << 12
"""The largest unsigned constant of a family: it adds and multiplies without wrapping around, as far as sizes do."""

MAX_SORTED = 32
"""Places of a family that is found by adding one after the other."""

MAX_DEPTH = 40
"""Levels of an address that are compared."""

MAX_REMEMBERED = 100_000
"""Parts of addresses, and sets of addresses, of which it is remembered what they have in common."""

_STEP = "step:"
"""How the unknowns are named: no name of anything else."""
_UNIFORM = ("param:", "host:", "bdim.", "gdim.", "smem.")
"""Symbols with one value for all threads of a launch."""

_Holes = tuple[tuple[Expr, int, int], ...]

Key = tuple[object, ...]
"""See `pairs.place_key`."""


_Members = dict[Key, tuple[AccessEvent, Place]]


@dataclass(frozen=True, slots=True)
class Family:
    """Places of one allocation, told by one address."""

    keys: frozenset[Key]
    access: AccessEvent
    """The first of them, as it stands for all."""
    place: Place
    holes: _Holes
    """(unknown, its least and its largest value)."""

    def paired(self, other: Family) -> tuple[Pair, list[Expr], list[Expr]]:
        """The pair of any two of their members, and what holds of the unknowns on either side."""
        one, first = _renamed(self, "one")
        two, second = _renamed(other, "two")
        return Pair(self.access, other.access, one, two), first, second


class Families:
    """Of the accesses of one launch."""

    def __init__(self, launch: Launch) -> None:
        found: dict[tuple[Hashable, ...], _Members] = {}
        for access in launch.events.accesses:
            where = place(launch, access)
            if where.offset.ty != I64:
                continue
            keys = tuple(k.key for k in where.keys)
            like = (access.root.key, where.allocation, keys, access.width, access.lanes, _shapes.of(where.offset))
            found.setdefault(like, {}).setdefault(place_key(where, access), (access, where))
        self._of: dict[Key, Family] = {}
        for members in found.values():
            for family in _families(members):
                self._of.update(dict.fromkeys(family.keys, family))

    def of(self, key: Key) -> Family | None:
        """That of the accesses at a place; none where its address is no distance."""
        return self._of.get(key)


def _families(members: _Members) -> Iterator[Family]:
    """All of them as one, or else those that are alike."""
    whole = _family(members)
    groups: list[_Members] = []
    for key, member in members.items() if whole is None else ():
        for group in groups:
            if len(group) < MAX_SORTED and _generalised(tuple(w.offset for _, w in (*group.values(), member))):
                group[key] = member
                break
        else:
            groups.append({key: member})
    if whole is not None:
        yield whole
    yield from (_family(group) or _alone(group) for group in groups)


def _alone(members: _Members) -> Family:
    ((key, (access, where)),) = members.items()
    return Family(frozenset((key,)), access, where, ())


def _family(members: _Members) -> Family | None:
    places = [where for _, where in members.values()]
    accesses = [access for access, _ in members.values()]
    found = _generalised(tuple(p.offset for p in places))
    if found is None:
        return None
    offset, holes = found
    alignment = reduce(_common, (a.alignment for a in accesses))
    standing = replace(accesses[0], alignment=alignment)
    return Family(frozenset(members), standing, replace(places[0], offset=offset), holes)


def _common(one: Alignment, two: Alignment) -> Alignment:
    """What is known of an address of which one or the other is."""
    grain = min(one.grain, two.grain)
    while (one.phase - two.phase) % grain:
        grain //= 2
    return Alignment(grain, one.phase % grain)


def _renamed(family: Family, side: str) -> tuple[Place, list[Expr]]:
    """The family's place with unknowns of this side of a pair, and what holds of them."""
    own = {hole: E.opaque(f"{hole.value[0]}:{side}", hole.ty) for hole, _, _ in family.holes}
    limits = [
        condition
        for hole, low, high in family.holes
        for condition in (
            E.compare("le", _constant(hole, low), own[hole]),
            E.compare("le", own[hole], _constant(hole, high)),
        )
    ]
    return replace(family.place, offset=E.substitute(family.place.offset, own)), limits


# --- shapes ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Shapes:
    """What addresses have in common that may belong to one family: all but constants, and terms of sums that are the
    same for all threads."""

    _known: dict[int, _Shape] = field(default_factory=dict[int, "_Shape"])
    _uniform: set[int] = field(default_factory=set[int])
    """Nodes with one value for all threads. Both by the nodes' keys."""

    def of(self, e: Expr) -> _Shape:
        if len(self._known) > MAX_REMEMBERED:
            self._known.clear()
            self._uniform.clear()
        for node in E.walk((e,), self._known):
            self._known[node.key] = self._of(node)
        return self._known[e.key]

    def _of(self, node: Expr) -> _Shape:
        own = str(node.value).startswith(_UNIFORM) if node.op == "sym" else node.op != "opaque"
        if own and all(a.key in self._uniform for a in node.args):
            self._uniform.add(node.key)
            return ("uniform", node.key)
        if node.op == "add":
            varying = [self._known[a.key] for a in node.args if a.key not in self._uniform]
            terms = [term for shape in varying for term in (shape[1:] if shape[0] == "add" else (shape,))]
            return ("add", *sorted(terms, key=repr)) if len(terms) > 1 else varying[0]
        return (node.op, str(node.ty), node.value, *(self._known[a.key] for a in node.args))


_Shape = tuple[object, ...]

_shapes = _Shapes()


# --- generalisation -------------------------------------------------------------------------------------------


@lru_cache(maxsize=MAX_REMEMBERED)
def _generalised(found: tuple[Expr, ...]) -> tuple[Expr, _Holes] | None:
    """An address that each of them is for some values of the unknowns in it, with those and their limits."""
    alike = _Generalisation(len(found))
    offset = alike.of(found)
    if offset is None or len(alike.holes) > MAX_HOLES or alike.may_wrap:
        return None
    if any(alike.at(offset, i) != _sum(e) for i, e in enumerate(found)):
        return None
    return offset, tuple((hole, min(values), max(values)) for hole, values in alike.holes.items())


@dataclass(slots=True)
class _Generalisation:
    """Of ``count`` expressions."""

    count: int
    holes: dict[Expr, tuple[int, ...]] = field(default_factory=dict[Expr, tuple[int, ...]])
    """By unknown: its value for each of them."""
    may_wrap: bool = False
    """Some constants are large unsigned ones, such as stand for negative ones in ``p[i - 1]``: sums with them wrap
    around, which a question without wrap-around would leave out."""

    def at(self, e: Expr, member: int) -> Hashable:
        """What the generalisation ``e`` is for one of them, to be compared."""
        return _sum(E.substitute(e, {hole: _constant(hole, values[member]) for hole, values in self.holes.items()}))

    def of(self, found: Sequence[Expr], depth: int = 0) -> Expr | None:
        """An expression that each of ``found`` is for some values of the unknowns; None where none is seen."""
        first, ty = found[0], found[0].ty
        if all(e is first for e in found):
            return first
        if depth > MAX_DEPTH or any(e.ty != ty for e in found) or not isinstance(ty, IntType):
            return None
        if all(e.op == "const" for e in found):
            return self._hole(ty, [int(e.value) for e in found])
        if not _is_sum(first) and all(_is_like(e, first) for e in found):
            parts = [self.of(same, depth + 1) for same in zip(*(_operands(e, first) for e in found), strict=True)]
            known = [p for p in parts if p is not None]
            if len(known) == len(parts):
                return E.rebuild(first, tuple(known))
        if ty == I64:
            return self._sum([list(_terms(e)) for e in found], depth + 1)
        return self._with_constants(found, ty, "mul", depth) or self._with_constants(found, ty, "add", depth)

    def _with_constants(self, found: Sequence[Expr], ty: IntType, op: Literal["mul", "add"], depth: int) -> Expr | None:
        """The same of what is a term times a constant, or a term and a constant; the constant may be left out."""
        split = [_split(e, op) for e in found]
        if all(e is term for e, (term, _) in zip(found, split, strict=True)):
            return None
        base = self.of([term for term, _ in split], depth + 1)
        return None if base is None else E.binary(op, base, self._hole(ty, [c for _, c in split]))

    def _sum(self, found: list[list[Expr]], depth: int) -> Expr | None:
        """The same of sums of 64-bit terms, in any order."""
        shared = reduce(lambda a, b: a & b, (Counter(terms) for terms in found))
        rests = [list((Counter(terms) - shared).elements()) for terms in found]
        constants = [sum(int(t.value) for t in terms if t.op == "const") for terms in rests]
        rests = [[t for t in terms if t.op != "const"] for terms in rests]
        parts = list(shared.elements())
        if any(constants):
            parts.append(self._hole(I64, constants))
        if any(rests):
            most = max(map(len, rests))
            rest = self._one_or_none(rests, depth) if most == 1 else self._in_order(rests, depth)
            if rest is None:
                return None
            parts.append(rest)
        return reduce(E.add, parts) if parts else None

    def _one_or_none(self, rests: list[list[Expr]], depth: int) -> Expr | None:
        """One term that stands for the terms of each sum, of which there is one or none."""
        there = [terms[0] for terms in rests if terms]
        own = _Generalisation(len(there))
        pattern = own.of(there, depth + 1)
        self.may_wrap |= own.may_wrap
        if pattern is None:
            return None
        if len(there) == self.count:
            return E.substitute(pattern, {h: self._hole_like(h, values) for h, values in own.holes.items()})
        if not own.holes:
            return E.mul(pattern, self._hole(I64, [len(terms) for terms in rests]))
        # A term that is missing is one that is 0.
        meant: dict[Expr, Expr] = {}
        for hole, values in own.holes.items():
            left = iter(values)
            meant[hole] = self._hole_like(hole, tuple([next(left) if terms else 0 for terms in rests]))
        return E.substitute(pattern, meant)

    def _in_order(self, rests: list[list[Expr]], depth: int) -> Expr | None:
        """The sum of terms that stand for one of each sum."""
        if any(len(terms) != len(rests[0]) for terms in rests):
            return None
        ordered = [sorted(terms, key=lambda t: t.rank[0]) for terms in rests]
        parts = [self.of(same, depth + 1) for same in zip(*ordered, strict=True)]
        known = [p for p in parts if p is not None]
        return reduce(E.add, known) if len(known) == len(parts) else None

    def _hole(self, ty: IntType, values: Sequence[int]) -> Expr:
        """An unknown with these values, times what they have in common."""
        self.may_wrap |= not ty.signed and max(values) > MAX_UNSIGNED
        step = reduce(gcd, values)
        if step <= 1 or step > ty.high:
            return self._hole_like(E.opaque("", ty), tuple(values))
        return E.mul(self._hole_like(E.opaque("", ty), tuple(v // step for v in values)), E.const(step, ty))

    def _hole_like(self, hole: Expr, values: tuple[int, ...]) -> Expr:
        """The unknown of that type with these values."""
        for known, same in self.holes.items():
            if known.ty == hole.ty and same == values:
                return known
        new = E.opaque(f"{_STEP}{len(self.holes)}", hole.ty)
        self.holes[new] = values
        return new


def _constant(like: Expr, value: int) -> Expr:
    assert isinstance(like.ty, IntType)
    return E.const(value, like.ty)


def _is_sum(e: Expr) -> bool:
    return e.op == "add" and e.ty == I64


def _is_like(e: Expr, other: Expr) -> bool:
    return e.op == other.op and e.value == other.value and len(e.args) == len(other.args)


def _operands(e: Expr, like: Expr) -> tuple[Expr, ...]:
    """In the order of another expression of its kind, where an operand that both have says which that is."""
    if e.op in COMMUTATIVE and (e.args[0] is like.args[1] or e.args[1] is like.args[0]):
        return e.args[::-1]
    return e.args


def _split(e: Expr, op: Literal["mul", "add"]) -> tuple[Expr, int]:
    """A term and the constant that it is multiplied by or that is added to it."""
    if e.op == op and e.args[1].op == "const":
        return e.args[0], int(e.args[1].value)
    return e, 1 if op == "mul" else 0


def _terms(e: Expr) -> Iterator[Expr]:
    if _is_sum(e):
        for a in e.args:
            yield from _terms(a)
    else:
        yield e


def _sum(e: Expr) -> Hashable:
    """The terms of a 64-bit sum, in no order."""
    terms = list(_terms(e))
    constant = sum(int(t.value) for t in terms if t.op == "const")
    return constant, frozenset(Counter(t for t in terms if t.op != "const").items())
