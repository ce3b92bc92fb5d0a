"""What loops carry from one iteration to the next: pointers that are swapped, indices that flip.

A loop is run once from a state in which everything it writes is a symbol; here that run is taken as a step from one
tuple of values to the next. ``Resolver`` repeats the step on values until no new tuple appears, so that a launch in the
loop is seen with the tuples that really occur together. Values that never come to an end are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from analyzers.hostguide.memory import Memory, alternatives
from analyzers.hostguide.values import Address, Choice, Key, LoopHead, Null, Pointer, Value
from analyzers.ir import expr as ex
from analyzers.ir.expr import FALSE, TRUE, Expr, IntType

_MOST_TUPLES = 32
_MOST_ROUNDS = 4

Assignment = Mapping[Key, Value]


class _Endless(Exception):
    """Some values take ever new ones."""

    def __init__(self, keys: set[Key]) -> None:
        super().__init__()
        self.keys = keys


class Resolver:
    """Finds the values that loop-carried symbols have together."""

    def __init__(self, machine: Memory, different: Callable[[Value, Value], bool | None]) -> None:
        self.machine = machine
        self.different = different
        """Whether two pointers differ, None where that cannot be told."""
        self._dropped: dict[int, set[Key]] = {}

    def assignments(self, values: list[Value]) -> list[tuple[Assignment, bool]] | None:
        """The possible values of what these depend on; whether each certainly occurs. None: too many."""
        found = self._expanded(values, {}, True, 0)
        return found if found is not None and len(found) <= _MOST_TUPLES else None

    def keys_of(self, value: Value) -> list[Key]:
        """The loop-carried symbols in a value."""
        out: list[Key] = []
        stack: list[Value] = [value]
        while stack:
            top = stack.pop()
            if isinstance(top, Choice):
                stack += [top.first, top.second, top.guard]
            elif isinstance(top, Pointer):
                if top.id in self.machine.head_of:
                    out.append(top.id)
                stack.append(top.offset)
                if top.id in self.machine.elements:
                    stack.append(self.machine.elements[top.id][1])
            elif isinstance(top, Expr):
                for s in ex.symbols(top):
                    if s in self.machine.head_of:
                        out.append(s)
                    compared = self.machine.comparisons.get(s)
                    if compared is not None:
                        stack += compared
        return out

    def substituted(self, value: Value, env: Assignment) -> Value:
        if isinstance(value, Expr):
            return self._number(value, env)
        if isinstance(value, Choice):
            guard = self._number(value.guard, env)
            if guard in (TRUE, FALSE):
                return self.substituted(value.first if guard is TRUE else value.second, env)
            first, second = self.substituted(value.first, env), self.substituted(value.second, env)
            return first if first == second else Choice(guard, first, second)
        if isinstance(value, Pointer):
            offset = self._number(value.offset, env)
            base = env.get(value.id)
            if base is not None:
                return self._moved(base, offset)
            if value.id in self.machine.elements:
                return self._moved(self._element(value, env), offset)
            return Pointer(value.id, value.name, offset, value.size)
        return value

    def _element(self, value: Pointer, env: Assignment) -> Value:
        index = self.machine.elements[value.id][1]
        new = self._number(index, env)
        unmoved = Pointer(value.id, value.name, size=value.size)
        return unmoved if new is index else self.machine.element_at(unmoved, new)

    def _moved(self, base: Value, by: Expr) -> Value:
        if by.op == "const" and by.value == 0:
            return base
        if isinstance(base, Choice):
            return Choice(base.guard, self._moved(base.first, by), self._moved(base.second, by))
        if isinstance(base, Pointer):
            return Pointer(base.id, base.name, ex.add(base.offset, by), base.size)
        made = Pointer(self.machine.number("pointer"), "pointer")
        self.machine.origins[made.id] = frozenset(self.machine.pointers_in(base))
        return made

    def _number(self, e: Expr, env: Assignment) -> Expr:
        def leaf(node: Expr) -> Expr | None:
            if node.op != "sym":
                return None
            given = env.get(node)
            if isinstance(given, Expr):
                return ex.cast(given, node.ty) if given.ty != node.ty else given
            compared = self.machine.comparisons.get(node)
            if compared is not None:
                unlike = self.different(*(self.substituted(v, env) for v in compared))
                if unlike is not None:
                    return FALSE if unlike else TRUE
            return None

        return ex.rewrite(e, leaf)

    # --- expanding

    def _expanded(
        self, values: list[Value], env: dict[Key, Value], certain: bool, depth: int
    ) -> list[tuple[Assignment, bool]] | None:
        """``env`` with everything that ``values`` depend on."""
        heads: list[LoopHead] = []
        for value in values:
            for key in self.keys_of(value):
                head = self.machine.head_of[key]
                if key not in env and not self._is_free(head, key) and head not in heads:
                    heads.append(head)
        if not heads:
            return [(env, certain)]
        if depth > 12:
            return None
        head = min(heads, key=lambda h: h.first)
        outer: list[Value] = [
            v
            for v in (*head.entry.values(), *(v for back in head.back for v in back.values()))
            if any(self.machine.head_of[k].first < head.first for k in self.keys_of(v))
        ]
        before = [k for v in outer for k in self.keys_of(v)]
        waiting = [
            k for k in before
            if self.machine.head_of[k].first < head.first
            and k not in env and not self._is_free(self.machine.head_of[k], k)
        ]  # fmt: skip
        out: list[tuple[Assignment, bool]] = []
        if waiting:
            wanted = [_itself(k) for k in waiting]
            around = self._expanded(wanted, env, certain, depth + 1)
            for more, sure in around or ():
                inner = self._expanded(values, dict(more), sure, depth + 1)
                if inner is None:
                    return None
                out += inner
            return out if around is not None and len(out) <= _MOST_TUPLES else None
        for tuple_, sure in self._closure(head, env):
            inner = self._expanded(values, {**env, **tuple_}, certain and sure, depth + 1)
            if inner is None:
                return None
            out += inner
        return out if len(out) <= _MOST_TUPLES else None

    def _is_free(self, head: LoopHead, key: Key) -> bool:
        return head.broken or key in self._dropped.get(head.first, ())

    def _closure(self, head: LoopHead, env: dict[Key, Value]) -> list[tuple[Assignment, bool]]:
        """All tuples that occur at the head of a loop."""
        for _ in range(_MOST_ROUNDS * max(len(head.entry), 1)):
            try:
                return self._tuples(head, env)
            except _Endless as e:
                self._dropped.setdefault(head.first, set()).update(e.keys)
        self._dropped.setdefault(head.first, set()).update(head.entry)
        return [({}, True)]

    def _tuples(self, head: LoopHead, env: dict[Key, Value]) -> list[tuple[Assignment, bool]]:
        keys = [k for k in head.entry if not self._is_free(head, k)]
        if not keys:
            return [({}, True)]
        start = tuple(self.substituted(head.entry[k], env) for k in keys)
        open_ = {k for k, v in zip(keys, start, strict=True) if isinstance(v, Expr) and v.op != "const"}
        if open_:
            raise _Endless(open_)
        seen: dict[tuple[Value, ...], bool] = {start: True}
        waiting = [start]
        while waiting:
            current = waiting.pop()
            here = {**env, **dict(zip(keys, current, strict=True))}
            for back in head.back:
                for values, sure in self._stepped(head, keys, [back.get(k, _itself(k)) for k in keys], here):
                    sure = sure and seen[current]
                    if seen.get(values) is None or (sure and not seen[values]):
                        seen[values] = sure
                        waiting.append(values)
            if len(seen) > _MOST_TUPLES:
                raise _Endless(_most_varied(keys, list(seen)))
        return [(dict(zip(keys, t, strict=True)), sure) for t, sure in seen.items()]

    def _stepped(
        self, head: LoopHead, keys: list[Key], values: list[Value], here: dict[Key, Value]
    ) -> list[tuple[tuple[Value, ...], bool]]:
        """The tuples one iteration later."""
        around = self._expanded(values, here, True, 4)
        if around is None:
            raise _Endless(set(keys))
        out: list[tuple[tuple[Value, ...], bool]] = []
        for env, sure in around:
            found: list[tuple[list[Value], bool]] = [([], sure)]
            for key, value in zip(keys, values, strict=True):
                new = self.substituted(value, env)
                if self._made_inside(head, new) or self._mentions_free(head, new):
                    raise _Endless({key})
                leaves = [leaf for _, leaf in alternatives(new)] if isinstance(new, Choice) else _values(new)
                if leaves is None:
                    raise _Endless({key})
                found = [([*held, leaf], ok and len(leaves) == 1) for held, ok in found for leaf in leaves]
                if len(found) > _MOST_TUPLES:
                    raise _Endless({key})
            out += [(tuple(held), ok) for held, ok in found]
        return out

    def _made_inside(self, head: LoopHead, value: Value) -> bool:
        age = self.machine.age
        return any(age.get(p, p) >= head.first for p in self.machine.pointers_in(value))

    def _mentions_free(self, head: LoopHead, value: Value) -> bool:
        return any(self.machine.head_of[k].first >= head.first for k in self.keys_of(value))


def _itself(key: Key) -> Value:
    return key if isinstance(key, Expr) else Pointer(key, "carried")


def _values(value: Value) -> list[Value] | None:
    """The constants an integer can be; None where it is no choice of constants."""
    if not isinstance(value, Expr):
        return [value] if isinstance(value, (Pointer, Null, Address)) else None
    if value.op == "const":
        return [value]
    if value.op == "select":
        parts = [_values(a) for a in value.args[1:]]
        return None if None in parts else [v for p in parts if p is not None for v in p]
    return None


def _most_varied(keys: list[Key], tuples: list[tuple[Value, ...]]) -> set[Key]:
    """The keys that took the most values."""
    counts = {k: len({t[i] for t in tuples}) for i, k in enumerate(keys)}
    most = max(counts.values())
    return {k for k, n in counts.items() if n == most}


def unchanged(machine: Memory, values: Iterable[Expr]) -> dict[Expr, Expr]:
    """The loop-carried numbers in ``values`` that are the same constant in every iteration: set to it before the loop,
    and to nothing else in it."""
    found: dict[Expr, Expr] = {}
    waiting = list(ex.symbols(*values))
    while waiting:
        number = waiting.pop()
        head = machine.head_of.get(number)
        entry = head.entry.get(number) if head is not None and not head.broken else None
        if number in found or head is None or not isinstance(entry, Expr):
            continue
        found[number] = entry
        ways = [way.get(number, number) for way in head.back]
        waiting += ex.symbols(entry, *(v for v in ways if isinstance(v, Expr)))
    while True:
        # All that is left is taken for unchanged, until one is seen not to be.
        constants = {n: c for n in found if (c := _followed(n, found)) is not None}
        changing = [n for n in found if not _stays(machine, n, constants)]
        if not changing:
            return constants
        for number in changing:
            del found[number]


def _followed(number: Expr, entries: Mapping[Expr, Expr]) -> Expr | None:
    """The constant that a number enters its loop with, which may be a number that an outer loop carries."""
    seen: set[Expr] = set()
    while number in entries and number not in seen:
        seen.add(number)
        entry = entries[number]
        number = ex.cast(entry, number.ty) if entry.op == "const" and isinstance(number.ty, IntType) else entry
    return number if number.op == "const" else None


def _stays(machine: Memory, number: Expr, constants: Mapping[Expr, Expr]) -> bool:
    constant = constants.get(number)
    ways = [way.get(number, number) for way in machine.head_of[number].back]
    return constant is not None and all(
        isinstance(value, Expr) and ex.cast(ex.substitute(value, constants), constant.ty) == constant for value in ways
    )
