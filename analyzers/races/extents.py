"""Accesses stay inside the allocations whose size the host states: an assumption, used only where it decides.

Where a kernel works on arrays of a known size, launches that would leave them are no launches anybody makes: a matrix
of ``n * n`` elements whose first 16 rows are written has at least 16. What follows is said of the two accesses that
collide, and of the first and the last thread and iteration of every access to the same allocation, as far as these are
certain to be executed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate
from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import I64, Expr
from analyzers.ir.kernel import Assume, statements
from analyzers.races.pairs import Pair, Place, place
from analyzers.races.threads import Launch, Mode

INSIDE = "no access leaves an allocation whose size the host code states"

MAX_TRIPS = 4096
"""Iterations of a loop up to which its test is evaluated for each."""


@dataclass(slots=True)
class Extents:
    """Of one launch context."""

    launch: Launch
    _sizes: dict[str, Expr] = field(init=False)
    """Allocation -> bytes (I64, bound)."""
    _corners: dict[str, tuple[Expr, ...]] = field(default_factory=dict[str, tuple[Expr, ...]])

    def __post_init__(self) -> None:
        self._sizes = {
            f"host:{p.allocation}": self.launch.bind(p.size)
            for _, p in self.launch.context.pointers
            if p.allocation is not None and p.size is not None
        }

    def conditions(self, pair: Pair, mode: Mode) -> tuple[Expr, ...]:
        """What holds of two threads at a collision of the pair; nothing where the size is not known."""
        size = self._sizes.get(pair.first.allocation)
        if size is None or self.launch.events.unsupported:
            return ()
        own: list[Expr] = []
        for thread, access, where in ((1, pair.one, pair.first), (2, pair.two, pair.second)):
            own += [self.launch.side(c, thread, mode) for c in _inside(where.offset, access.width, size)]
        return (*own, *self.corners(pair.first.allocation))

    def corners(self, allocation: str) -> tuple[Expr, ...]:
        """What holds of every launch that stays inside an allocation of known size."""
        if allocation not in self._corners:
            found = self._of_all(allocation, self._sizes[allocation])
            self._corners[allocation] = tuple(self.launch.fused(c) for c in dict.fromkeys(found))
        return self._corners[allocation]

    def fails(self, conditions: tuple[Expr, ...], values: Mapping[Expr, int]) -> bool:
        """Whether what was found leaves an allocation."""
        known = self.launch.completed(values)
        return any(evaluate(c, known) == 0 for c in conditions if all(s in known for s in E.symbols(c)))

    def _of_all(self, allocation: str, size: Expr) -> Iterator[Expr]:
        body = self.launch.events.kernel.body
        if any(isinstance(s, Assume) and s.source == "trap" for s in statements(body)):
            return  # a thread that traps ends the launch for all: later accesses may not have been made
        for access in self.launch.events.accesses:
            where = place(self.launch, access)
            if where.allocation == allocation:
                yield from self._ends(access, where, size)

    def _ends(self, access: AccessEvent, where: Place, size: Expr) -> Iterator[Expr]:
        """The access by the first and by the last thread, each in the first and in the last iteration."""
        launch = self.launch
        guard = E.land(*(c.condition for c in access.guard))
        if any(s.op == "opaque" for s in E.symbols(guard, where.offset)):
            return
        if any(c.kind == "break" or (c.kind == "return" and c.depth > 0) for c in access.guard):
            return  # it says of one iteration that the loop goes on, not of those before
        last = {ell: self._last(access, ell) for ell in access.loops}
        for end, ending in product((False, True), (False, True) if any(last.values()) else (False,)):
            corner: dict[Expr, Expr] = {}
            for coordinates, dimensions in ((E.TID, E.BDIM), (E.BID, E.GDIM)):
                for coordinate, dimension in zip(coordinates, dimensions, strict=True):
                    one = E.const(1, E.U32)
                    corner[coordinate] = E.sub(launch.bind(dimension), one) if end else E.const(0, E.U32)
            for ell, iteration in last.items():
                corner[launch.events.loops[ell].counter] = E.const((iteration or 0) if ending else 0, I64)
            executed = E.substitute(launch.bind(guard), corner)
            inside = _inside(E.substitute(launch.bind(where.offset), corner), access.width, size)
            condition = E.lor(E.lnot(executed), E.land(*inside))
            if condition is not E.TRUE:
                yield condition

    def _last(self, access: AccessEvent, label: str) -> int | None:
        """The last iteration of a loop around the access that every thread makes in full, None where that is open: a
        test that fails once ends the loop whatever it says later, so each iteration's is looked at."""
        counter = self.launch.events.loops[label].counter
        tests = [
            c.condition
            for c in access.guard
            if c.kind == "loop" and counter in E.symbols(self.launch.bind(c.condition))
        ]
        if not tests or any(s is not counter for s in E.symbols(*map(self.launch.bind, tests))):
            return None
        for n in range(MAX_TRIPS):
            if any(evaluate(self.launch.bind(t), {counter: n}) != 1 for t in tests):
                return n - 1 if n else None
        return None


def _inside(offset: Expr, width: int, size: Expr) -> tuple[Expr, Expr]:
    end = E.add(E.cast(offset, I64), E.const(width, I64))
    return E.compare("le", E.const(0, I64), E.cast(offset, I64)), E.compare("le", end, size)
