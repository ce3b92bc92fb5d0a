"""Pairs of accesses that would conflict if two threads made them at one address: same object, at least one write, not
both atomic at a
sufficient scope.

Which pointer parameters point into one object is what the launch says; without a word on it they are distinct.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.ir import expr as E
from analyzers.ir.clusters import block_of, is_in_block, own_object
from analyzers.ir.context import LaunchContext
from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import Expr
from analyzers.ir.kernel import Kernel
from analyzers.ir.surfaces import is_surface
from analyzers.races.threads import Launch, Mode

_SCOPES_COVERING: dict[Mode, frozenset[str]] = {
    "thread": frozenset({"warp", "block", "cluster", "grid", "system"}),
    "warp": frozenset({"warp", "block", "cluster", "grid", "system"}),
    "block": frozenset({"block", "cluster", "grid", "system"}),
    "grid": frozenset({"grid", "system"}),
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where an access goes: an allocation and a byte offset in it. ``keys`` tell apart objects found through
    memory."""

    allocation: str
    offset: Expr
    keys: tuple[Expr, ...]
    space: str


@dataclass(frozen=True, slots=True)
class Pair:
    one: AccessEvent
    two: AccessEvent
    first: Place
    second: Place

    @property
    def space(self) -> str:
        return self.first.space

    @property
    def crosses_lanes(self) -> bool:
        """At addresses that one thread gives, other lanes of its warp may touch what it touches."""
        return self.one.lanes != self.two.lanes

    @property
    def crosses_blocks(self) -> bool:
        """Threads of different blocks may mean one object."""
        return self.space == "global" or is_in_block(self.one.root) or is_in_block(self.two.root)


def place(launch: Launch, access: AccessEvent) -> Place:
    """The allocation and offset of an access under the launch's pointer arguments."""
    root = access.root
    if is_in_block(root):
        size = launch.events.kernel.bounds.cluster
        assert size is not None
        return Place(own_object(root).value, access.offset, block_of(root.args[1], size), "shared")
    if is_surface(root):
        return _on_surface(launch, access)
    if root.op != "addr":
        return Place(f"*{root.value[0]}", access.offset, root.args, "global")
    name: str = root.value
    for parameter, argument in launch.context.pointers:
        if argument.allocation is not None and _object_of(launch, parameter) == name:
            offset = access.offset if argument.offset is None else E.add(access.offset, argument.offset)
            return Place(f"host:{argument.allocation}", offset, (), "global")
    space = launch.events.kernel.object(name).space
    variable = variable_allocation(launch.events.kernel, launch.context, name)
    if variable is not None:
        return Place(f"host:{variable}", access.offset, (), "global")
    return Place(name, access.offset, E.BID if name in launch.mapped else (), space)


def _on_surface(launch: Launch, access: AccessEvent) -> Place:
    """Surfaces are told apart by what the launch passes for their handles; where one is not passed, by no name."""
    handle, *cell = access.root.args
    every = dict.fromkeys(launch.bind(a.root.args[0]) for a in launch.events.accesses if is_surface(a.root))
    if all(h.op in ("sym", "const") for h in every):
        return Place(f"surface:{E.show(launch.bind(handle))}", access.offset, tuple(cell), "global")
    return Place("surface", access.offset, (handle, *cell), "global")


def variable_allocation(kernel: Kernel, context: LaunchContext, name: str) -> str | None:
    """The host's name of a variable in device memory that is also passed by pointer; None for any other object."""
    if not context.variables:
        return None
    o = kernel.object(name)
    if o.kind != "declared" or o.space not in ("global", "constant"):
        return None
    return next((a for declared, a in context.variables if declared == (o.display or o.name)), None)


def starts_otherwise(launch: Launch, allocation: str) -> bool:
    """A variable in the allocation is declared with a value other than zero."""
    kernel = launch.events.kernel
    for o in kernel.objects:
        if o.preset:
            variable = variable_allocation(kernel, launch.context, o.name)
            if allocation == (o.name if variable is None else f"host:{variable}"):
                return True
    return False


def _object_of(launch: Launch, parameter: str) -> str | None:
    for p in launch.events.kernel.parameters:
        if p.name == parameter:
            return p.object
    return None


def place_key(where: Place, access: AccessEvent) -> tuple[object, ...]:
    """Equal for accesses that touch the same bytes by equal threads, at addresses of which the same is known."""
    return (
        access.root.key,
        where.allocation,
        where.offset.key,
        tuple(k.key for k in where.keys),
        access.width,
        access.alignment,
        access.lanes,
    )


@dataclass(frozen=True, slots=True)
class Shapes:
    """The accesses of one allocation in source order, with a number for each that says where it stands."""

    accesses: list[AccessEvent]
    places: list[Place]
    shapes: list[int]
    members: list[list[int]]
    """By shape: the indices of its accesses, ascending."""

    def pair(self, i: int, j: int) -> Pair:
        return Pair(self.accesses[i], self.accesses[j], self.places[i], self.places[j])


def by_shape(launch: Launch) -> list[Shapes]:
    """The allocations that are written, with their accesses."""
    found: dict[str, Shapes] = {}
    numbers: dict[tuple[object, ...], int] = {}
    for access in launch.events.accesses:
        where = place(launch, access)
        group = found.setdefault(where.allocation, Shapes([], [], [], []))
        key = place_key(where, access)
        number = numbers.setdefault(key, len(group.members))
        if number == len(group.members):
            group.members.append([])
        group.members[number].append(len(group.accesses))
        group.accesses.append(access)
        group.places.append(where)
        group.shapes.append(number)
    return [group for group in found.values() if any(a.writes for a in group.accesses)]


def conflicting(launch: Launch) -> Iterator[Pair]:
    """All unordered pairs (an access with itself included) of one allocation with at least one write, in source
    order."""
    by_allocation: dict[str, list[tuple[AccessEvent, Place]]] = {}
    for access in launch.events.accesses:
        where = place(launch, access)
        by_allocation.setdefault(where.allocation, []).append((access, where))
    for group in by_allocation.values():
        if not any(a.writes for a, _ in group):
            continue
        for i, (a, pa) in enumerate(group):
            for b, pb in group[i:]:
                if a.writes or b.writes:
                    yield Pair(a, b, pa, pb)


def synchronizes(pair: Pair, mode: Mode) -> bool:
    """Both sides are atomic at a scope that covers both threads, or both volatile: no race with each other where they
    touch
    exactly the same bytes."""
    a, b = pair.one, pair.two
    wide = _SCOPES_COVERING[mode]
    if mode == "grid" and pair.space == "shared":
        wide |= {"cluster"}  # shared memory is reached from one cluster only
    strong = [x.volatile or (x.atomic is not None and x.atomic.scope in wide) for x in (a, b)]
    return all(strong) and a.width == b.width


def starts_retry(launch: Launch, pair: Pair) -> bool:
    """A plain read meets an atomic of its width, and what it reads goes into compare-and-swaps of the same cell only:
    they fail where it is out of date."""
    for read, other in ((pair.one, pair.two), (pair.two, pair.one)):
        fed = launch.events.retried.get(read.id)
        if read.kind != "read" or other.kind != "atomic" or fed is None or read.width != other.width:
            continue
        swaps = [a for a in launch.events.accesses if a.id in fed]
        return all(a.root is read.root and a.offset is read.offset and a.width == read.width for a in swaps)
    return False
