"""Which pointers a launch passes together, and which of them may point into the same memory.

A pointer argument can have several values: both sides of a ``?:``, an element of an array, what a loop has left there.
``combinations`` gives those that can occur at once: under contradictory conditions, or with indices that cannot be
equal, they cannot. Pointers that were made from each other in a way that is not followed get one allocation and an
unknown distance; a collision that rests on it is marked as uncertain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from analyzers.hostguide.carried import Resolver
from analyzers.hostguide.hosttypes import OTHER, ArrayOf, FloatType, HostType, PointerTo
from analyzers.hostguide.memory import Memory, alternatives
from analyzers.hostguide.values import ZERO, Address, Null, Pointer, Unknown, Value, Variable
from analyzers.ir import expr as ex
from analyzers.ir.context import Constraint
from analyzers.ir.expr import BOOL, FALSE, I64, TRUE, Expr, IntType
from analyzers.solve.ladder import Budget, Ladder
from analyzers.solve.query import Fact, Proved, Query

_MOST_COMBINATIONS = 8
_SMT_BUDGET = 200_000
"""Z3 resource units for one question about conditions of the host."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a pointer points: an object, and the bytes from its start (I64)."""

    identity: object
    name: str
    offset: Expr = ZERO
    size: Expr | None = None


@dataclass(frozen=True, slots=True)
class Combination:
    """Pointers that are passed together."""

    guard: Expr
    chosen: Mapping[str, Target | Null | None]
    """None: an object that no other parameter points into."""
    uncertain: str = ""
    assumed: bool = False
    """Two of them are told apart only because nothing in sight makes them meet."""


@dataclass(slots=True)
class _Open:
    """A combination in the making."""

    guard: tuple[Expr, ...] = ()
    chosen: dict[str, Value] = field(default_factory=dict[str, Value])
    certain: bool = True


class Aliases:
    """Decides what the pointer arguments of one launch are, given the facts that hold there."""

    def __init__(self, machine: Memory, facts: Sequence[Constraint]) -> None:
        self.machine = machine
        self.facts = facts
        self.resolver = Resolver(machine, self._different)

    def combinations(self, pointers: Mapping[str, Value]) -> list[Combination]:
        values = dict(pointers)
        seen: dict[object, _Open] = {}
        around = self.resolver.assignments(list(values.values()))
        lost = around is None
        for env, certain in around or [({}, False)]:
            guard = tuple(ex.compare("eq", k, v) for k, v in env.items() if isinstance(k, Expr) and isinstance(v, Expr))
            replaced = {name: self.resolver.substituted(v, env) for name, v in values.items()}
            made = self._chosen(replaced, guard, certain)
            if made is None:
                lost = True
                break
            for one in made:
                key = (one.guard, tuple(one.chosen.items()))
                known = seen.setdefault(key, one)
                known.certain = known.certain or one.certain
        found = list(seen.values())
        if lost or len(found) > 2 * _MOST_COMBINATIONS:
            return [self._anything(values)]
        out: list[Combination] = []
        for one in found:
            for guard, chosen, certain in self._by_index(one):
                out.append(self._finished(guard, chosen, certain))
        return _distinct(out)

    # --- choices

    def _chosen(self, values: dict[str, Value], guard: tuple[Expr, ...], certain: bool) -> list[_Open] | None:
        """One entry for each way to choose among alternatives that matter; None where there are too many."""
        leaves = {name: _leaves(value) for name, value in values.items()}
        tangled = self._tangled(leaves)
        found = [_Open(guard, {}, certain)]
        for name, options in leaves.items():
            if len(options) == 1:
                for one in found:
                    one.chosen[name] = options[0][1]
            elif name not in tangled:
                for one in found:
                    one.chosen[name] = Unknown(0, name, OTHER)
            else:
                found = [
                    _Open(both, {**one.chosen, name: leaf}, one.certain)
                    for one in found
                    for condition, leaf in options
                    if (both := self._together(one.guard, condition)) is not None
                ]
                if len(found) > _MOST_COMBINATIONS:
                    return None
        return found

    def _tangled(self, leaves: dict[str, list[tuple[Expr, Value]]]) -> set[str]:
        """Parameters that may point where another one does."""
        owners: dict[object, set[str]] = {}
        for name, options in leaves.items():
            for _, leaf in options:
                for root in self._roots(leaf):
                    owners.setdefault(root, set()).add(name)
        return {name for names in owners.values() if len(names) > 1 for name in names}

    def _together(self, guard: tuple[Expr, ...], condition: Expr) -> tuple[Expr, ...] | None:
        both = tuple(dict.fromkeys((*guard, *ex.conjuncts(condition))))
        return both if self._possible(both) else None

    def _possible(self, conditions: Sequence[Expr]) -> bool:
        """Whether conditions can hold at once, as far as can be told."""
        known = set(conditions)
        if FALSE in known or any(ex.lnot(c) in known for c in known):
            return False
        if all(c is TRUE for c in known):
            return True
        symbols = ex.symbols(*known)
        facts = [c.condition for c in self.facts if ex.symbols(c.condition) & symbols]
        query = Query(
            tuple(c for c in conditions if c is not TRUE),
            tuple(Fact(c, n) for n, c in enumerate(facts)),
        )
        return not isinstance(Ladder(Budget(smt=_SMT_BUDGET)).decide(query), Proved)

    # --- elements of one container

    def _by_index(self, one: _Open) -> list[tuple[tuple[Expr, ...], dict[str, Value], bool]]:
        """Elements at two indices are one pointer where the indices are equal, and two where they are not."""
        found = [(one.guard, one.chosen, one.certain)]
        names = [n for n, v in one.chosen.items() if isinstance(v, Pointer) and v.id in self.machine.elements]
        for i, first in enumerate(names):
            for second in names[i + 1 :]:
                found = [part for entry in found for part in self._split(entry, first, second)]
        return found[:_MOST_COMBINATIONS]

    def _split(
        self, entry: tuple[tuple[Expr, ...], dict[str, Value], bool], first: str, second: str
    ) -> list[tuple[tuple[Expr, ...], dict[str, Value], bool]]:
        guard, chosen, certain = entry
        a, b = chosen[first], chosen[second]
        assert isinstance(a, Pointer)
        assert isinstance(b, Pointer)
        (where, i), (there, j) = self.machine.elements[a.id], self.machine.elements[b.id]
        if a.id == b.id or where != there or self.machine.repeated(a.id):
            return [entry]
        same = ex.compare("eq", i, j)
        apart = self._together(guard, ex.lnot(same))
        equal = self._together(guard, same)
        out: list[tuple[tuple[Expr, ...], dict[str, Value], bool]] = []
        if equal is not None:
            known = self.machine.head_of.keys() | self.machine.loop_indices
            sure = apart is None or ex.symbols(same) <= known
            moved = Pointer(a.id, a.name, b.offset, a.size)
            out.append((equal, {**chosen, second: moved}, certain and sure))
        if apart is not None:
            out.append((apart, chosen, certain))
        return out

    # --- what points where

    def target(self, value: Value) -> Target | None:
        """The object and offset of a pointer; None for what points nowhere that others could."""
        if isinstance(value, Pointer):
            return Target(value.id, value.name, value.offset, value.size)
        if isinstance(value, Unknown) and value.id:
            return Target(value.id, value.name)
        if isinstance(value, Address):
            return self._address(value)
        return None

    def _address(self, value: Address) -> Target:
        fields = max((n + 1 for n, key in enumerate(value.path) if isinstance(key, str) and key != "?"), default=0)
        inside, rest = value.path[:fields], value.path[fields:]
        offset = self._bytes(value.variable.ty if not inside else OTHER, rest)
        if offset is None:
            found = self.machine.derive(("distance", value.variable), value.path, "distance", I64)
            assert isinstance(found, Expr)
            offset = found
        pointer = self.machine.pointer_to.get(value.variable)
        if pointer is not None and not inside:
            return Target(pointer, value.variable.name.lstrip("*"), offset)
        return Target((value.variable, inside) if inside else value.variable, value.variable.name, offset)

    def _bytes(self, ty: HostType, path: tuple[str | int, ...]) -> Expr | None:
        total = 0
        if all(key == 0 for key in path):
            return ZERO
        for key in path:
            if not isinstance(key, int) or not isinstance(ty, ArrayOf):
                return None
            size = _size(ty.element)
            if size is None:
                return None
            total += key * size
            ty = ty.element
        return ex.const(total, I64)

    def _roots(self, value: Value) -> frozenset[object]:
        """Everything that a pointer may have been made from."""
        target = self.target(value)
        if target is None:
            return frozenset()
        identity = target.identity
        if isinstance(identity, int):
            return frozenset(self.machine.roots(identity))
        found: set[object] = {identity}
        variable = value.variable if isinstance(value, Address) else None
        if isinstance(variable, Variable):
            pointer = self.machine.pointer_to.get(variable)
            found |= self.machine.roots(pointer) if pointer is not None else {variable}
        return frozenset(found)

    def _different(self, a: Value, b: Value) -> bool | None:
        one, two = self.target(a), self.target(b)
        if isinstance(a, Null) or isinstance(b, Null):
            return None
        if one is None or two is None or self._apart_by_index(a, b):
            return None
        if one.identity == two.identity:
            same = ex.compare("eq", one.offset, two.offset)
            return same is FALSE if same in (TRUE, FALSE) else None
        return None if self._roots(a) & self._roots(b) else True

    def _apart_by_index(self, a: Value, b: Value) -> bool:
        """Whether two pointers are elements of one container in one state, whose indices have been compared, or
        different members of one object."""
        if isinstance(a, Address) and isinstance(b, Address) and a.variable is b.variable:
            fields = [next((k for k in p.path if isinstance(k, str)), None) for p in (a, b)]
            return None not in fields and fields[0] != fields[1] and "?" not in fields
        if not isinstance(a, Pointer) or not isinstance(b, Pointer):
            return False
        one, two = self.machine.elements.get(a.id), self.machine.elements.get(b.id)
        return one is not None and two is not None and one[0] == two[0] and not self.machine.repeated(a.id)

    # --- finishing

    def _finished(self, guard: tuple[Expr, ...], chosen: dict[str, Value], certain: bool) -> Combination:
        targets: dict[str, Target | Null | None] = {
            name: value if isinstance(value, Null) else self.target(value) for name, value in chosen.items()
        }
        names = [n for n, t in targets.items() if isinstance(t, Target)]
        joined: set[str] = set()
        for i, first in enumerate(names):
            for second in names[i + 1 :]:
                a, b = targets[first], targets[second]
                assert isinstance(a, Target)
                assert isinstance(b, Target)
                if a.identity == b.identity or self._apart_by_index(chosen[first], chosen[second]):
                    continue
                if self._roots(chosen[first]) & self._roots(chosen[second]):
                    distance = self.machine.symbol("distance", I64)
                    replaced = Target(a.identity, a.name, ex.add(b.offset, distance), a.size)
                    targets = {n: replaced if t == b else t for n, t in targets.items()}
                    joined |= {first, second}
        uncertain = ""
        if joined:
            listed = " and ".join(f"`{n}`" for n in names if n in joined)
            uncertain = f"the pointers that the host passes for {listed} reach the same memory"
        elif not certain:
            uncertain = "the host passes these pointers together"
        condition = TRUE
        for c in guard:
            condition = ex.land(condition, c)
        foreign = {t.identity for t in targets.values() if isinstance(t, Target) and not self._own(t)}
        return Combination(condition, targets, uncertain, len(foreign) > 1)

    def _own(self, target: Target) -> bool:
        """Whether the code in sight made an object, so that no pointer from elsewhere reaches it."""
        return not isinstance(target.identity, int) or target.identity in self.machine.allocations

    def _anything(self, values: dict[str, Value]) -> Combination:
        """Which pointers go together is lost: those that may meet, meet anywhere."""
        tangled = self._tangled({name: alternatives(value) for name, value in values.items()})
        chosen: dict[str, Target | Null | None] = {}
        for name, value in values.items():
            options = _leaves(value)
            if name in tangled:
                distance = self.machine.symbol("distance", I64)
                chosen[name] = Target("tangled", "memory", distance)
            else:
                chosen[name] = self.target(options[0][1]) if len(options) == 1 else None
        listed = " and ".join(f"`{n}`" for n in values if n in tangled)
        return Combination(TRUE, chosen, f"the pointers that the host passes for {listed} reach the same memory")


def _leaves(value: Value) -> list[tuple[Expr, Value]]:
    """The alternatives of a pointer. Where null is one of them it is never followed, so it restricts nothing."""
    leaves = alternatives(value)
    pointing = [leaf for leaf in leaves if not isinstance(leaf[1], Null)]
    if pointing and all(leaf == pointing[0][1] for _, leaf in pointing):
        return [(TRUE, pointing[0][1])]
    return leaves


def _size(ty: HostType) -> int | None:
    if isinstance(ty, (IntType, FloatType)):
        return 1 if ty == BOOL else ty.width // 8
    if isinstance(ty, PointerTo):
        return 8
    if isinstance(ty, ArrayOf) and ty.count is not None:
        inner = _size(ty.element)
        return inner * ty.count if inner is not None else None
    return None


def _distinct(found: list[Combination]) -> list[Combination]:
    """Combinations of the same pointers under the same condition, once."""
    out: dict[object, Combination] = {}
    for one in found:
        key = (one.guard, tuple(one.chosen.items()), one.uncertain)
        out.setdefault(key, one)
    return list(out.values())
