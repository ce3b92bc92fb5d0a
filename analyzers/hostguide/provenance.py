"""Where host pointers come from: which of them may be one pointer, or point into one object.

Every unknown pointer has a number. Here it is noted what a pointer was made from where that is not followed, which
container it was read from and at which index, and what a loop carries on; ``aliasing`` judges by it.
"""

from __future__ import annotations

from typing import Final

from analyzers.hostguide.hosttypes import OTHER, HostType, PointerTo
from analyzers.hostguide.values import (
    Address,
    Choice,
    Key,
    LoopHead,
    Pointer,
    Record,
    Unknown,
    Value,
    Variable,
)
from analyzers.ir import expr as ex
from analyzers.ir.expr import Expr

A_STEP: Final = 8
"""Pointers that are gone through in the time of a statement."""


class Provenance:
    """The origins of pointers."""

    def __init__(self) -> None:
        self.steps: int = 0
        """Work done so far: about one for each statement that was run."""
        self._pointees: dict[int, Variable] = {}
        self.pointer_to: dict[Variable, int] = {}
        """The pointer that a variable was reached through."""
        self.origins: dict[int, frozenset[int]] = {}
        """Other pointers that a pointer was made from in a way that is not followed: they may point to one object."""
        self.elements: dict[int, tuple[object, Expr]] = {}
        """Pointers that were read from a container: from which one in which state, and at which index."""
        self.head_of: dict[Key, LoopHead] = {}
        """Values that a loop carries on, and the loop."""
        self.comparisons: dict[Expr, tuple[Value, Value]] = {}
        """Symbols that stand for the equality of two pointers."""
        self.addresses: dict[Expr, frozenset[int]] = {}
        """Symbols that stand for pointers as numbers, and the pointers."""
        self._containers: dict[object, int] = {}
        self.age: dict[int, int] = {}
        """Numbers of values that were asked for late: the number they would have had when they came to be."""
        self.innermost = 0
        """The number at which the loop around the current statement began."""
        self.loop_indices: set[Expr] = set()
        """Symbols for the position of a range-based loop."""
        self.repeating: set[int] = set()
        """Containers, by number, that may hold one pointer twice."""
        self._kept_in: dict[int, Value] = {}
        """What the container held that an element was read from."""
        self.holders: set[int] = set()
        """Numbers that are no pointers, but stand for what pointers were read from."""
        self._placed: set[int] = set()
        """Pointers of which it is noted where they were read."""
        self._derived: dict[tuple[object, ...], Value] = {}
        self._asked: set[int] = set()
        """Of which the roots are being collected."""
        self.names: dict[int, str] = {}
        """What each symbol number stands for, for display."""

    def number(self, name: str) -> int:
        made = len(self.names) + 1
        self.names[made] = name
        return made

    def derive(self, source: object, key: tuple[object, ...], name: str, ty: HostType) -> Value:
        raise NotImplementedError

    def pointers_in(self, value: Value) -> list[int]:
        """The numbers of the pointers that a value holds, or was computed from."""
        out: list[int] = []
        stack = [value]
        while stack:
            top = stack.pop()
            if isinstance(top, Pointer):
                out.append(top.id)
            elif isinstance(top, Choice):
                stack += [top.first, top.second]
            elif isinstance(top, Record):
                stack.extend(top.parts.values())
            elif isinstance(top, Address):
                pointer = self.pointer_to.get(top.variable)
                if pointer is not None:
                    out.append(pointer)
            elif isinstance(top, Unknown):
                out += sorted(p for p in self.roots(top.id) if p > 0 and p != top.id)
            elif isinstance(top, Expr) and self.addresses:
                out += [p for s in ex.symbols(top) for p in sorted(self.addresses.get(s, ()))]
        return out

    def related(self, name: str, *values: Value) -> Pointer:
        """A pointer that may point anywhere into the memory of others."""
        made = Pointer(self.number(name), name)
        self.origins[made.id] = frozenset(p for v in values for p in self.pointers_in(v))
        return made

    def element(self, container: object, state: object, index: Expr, ty: HostType, name: str, held: Value) -> Value:
        """A pointer read from a container: the same whenever the same index is asked for in the same state."""
        found = self.derive(("element", container, state), (index.key,), name, ty)
        if isinstance(found, Pointer) and found.id not in self.elements:
            self.enlist(found, container, state, index, held)
        return found

    def element_at(self, pointer: Pointer, index: Expr) -> Pointer:
        """The element at another index of the container that a pointer was read from."""
        (where, _), kin = self.elements[pointer.id], self.origins[pointer.id]
        found = self.derive(("element at", where), (index.key,), pointer.name, PointerTo(OTHER, None, False))
        assert isinstance(found, Pointer)
        self.elements[found.id], self.origins[found.id] = (where, index), kin
        if pointer.id in self._kept_in:
            self._kept_in[found.id] = self._kept_in[pointer.id]
        return found

    def enlist(self, pointer: Pointer, container: object, state: object, index: Expr, held: Value) -> None:
        """Say of a pointer that it is an element of a container, which may have held these pointers before."""
        where = (container, index.value) if index.op == "const" else container
        self._kept_in[pointer.id] = held
        self.elements[pointer.id] = ((container, state), index)
        known = self.origins.get(pointer.id, frozenset())
        self.origins[pointer.id] = known | {self._token(where), *self.pointers_in(held)}

    def now_holds(self, made: Unknown, before: Value, added: list[Value]) -> None:
        """A container in a new state: what it held before, and more somewhere in it."""
        old = self.pointers_in(before)
        new = [p for v in added for p in self.pointers_in(v)]
        self.origins[made.id] = frozenset((*old, *new))
        again = not set(old).isdisjoint(new) or any(self.age.get(p, p) < self.innermost for p in new)
        if again or self.repeats(before):
            self.repeating.add(made.id)

    def repeated(self, element: int) -> bool:
        """Whether an element may visibly be in its container twice."""
        held = self._kept_in.get(element)
        return held is not None and self.repeats(held)

    def grown(self, start: Unknown, held: Value, head: LoopHead) -> None:
        """What a container held at the start and at the end of an iteration."""
        old = set(self.pointers_in(start))
        new = self.pointers_in(held)
        again = [p for p in new if self.age.get(p, p) < head.first or p in self.head_of]
        if isinstance(held, Record):
            again += [p for part in held.parts.values() for p in self.pointers_in(part) if p in old]
        self.holders.add(start.id)
        self.origins[start.id] = self.origins.get(start.id, frozenset()) | frozenset(new)
        if self.repeats(held) or any(p not in old for p in again) or (isinstance(held, Record) and again):
            self.repeating.add(start.id)

    def repeats(self, held: Value) -> bool:
        """Whether a container may visibly hold one pointer twice."""
        if isinstance(held, Record):
            found = [p for part in held.parts.values() for p in self.pointers_in(part)]
            return len(set(found)) < len(found) or held.base.id in self.repeating
        if isinstance(held, Choice):
            return self.repeats(held.first) or self.repeats(held.second)
        return isinstance(held, Unknown) and held.id in self.repeating

    def blurred(self, name: str, *values: Value) -> Unknown:
        """A value that may be any of these."""
        made = Unknown(self.number(name), name, OTHER)
        self.origins[made.id] = frozenset(p for v in values for p in self.pointers_in(v))
        if any(self.repeats(v) for v in values):
            self.repeating.add(made.id)
        return made

    def token(self, container: object) -> frozenset[int]:
        return frozenset((self._token(container),))

    def _token(self, container: object) -> int:
        """A number that stands for something pointers are kept in."""
        return -self._containers.setdefault(container, len(self._containers) + 1)

    def roots(self, pointer: int) -> frozenset[int]:
        """A pointer and all those it may have been made from."""
        found: set[int] = set()
        if pointer in self._asked:
            return frozenset()  # what it was made from holds it itself: whoever asked first is collecting that
        self._asked.add(pointer)
        waiting = [pointer]
        while waiting:
            top = waiting.pop()
            if top in found:
                continue
            found.add(top)
            waiting += self.origins.get(top, ())
            head = self.head_of.get(top)
            if head is not None:
                values = [head.entry[top], *(back[top] for back in head.back if top in back)]
                waiting += [p for v in values for p in self.pointers_in(v)]
        self._asked.discard(pointer)
        return frozenset(found - self.holders)

    def same_memory(self, pointer: int) -> list[int]:
        """The pointers that may point to the same memory as one."""
        mine = self.roots(pointer)
        self.steps += len(self._pointees) // A_STEP
        return [pointer, *(p for p in self._pointees if p != pointer and mine & self.roots(p))]
