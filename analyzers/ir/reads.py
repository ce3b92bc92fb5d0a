"""Which variables statements read, and which of them only in one loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from analyzers.ir import kernel as K
from analyzers.ir.expr import Expr, walk


@dataclass(frozen=True, slots=True)
class Reads:
    """How many statements read each variable: of all, and of those in each loop, by its label."""

    everywhere: Counter[str] = field(default_factory=Counter[str])
    inside: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])

    @staticmethod
    def of(body: tuple[K.Stmt, ...]) -> Reads:
        out = Reads()
        out._add(body, [out.everywhere])
        return out

    def only_in(self, loop: str, variable: str) -> bool:
        """Statements read the variable, and none of them outside of the loop."""
        inside = self.inside.get(loop)
        return inside is not None and 0 < inside[variable] == self.everywhere[variable]

    def _add(self, body: tuple[K.Stmt, ...], around: list[Counter[str]]) -> None:
        for s in body:
            within = around
            if isinstance(s, K.Loop):
                within = [*around, self.inside.setdefault(s.label, Counter())]
            names = {n.value for n in walk(_read_by(s)) if n.op == "var"}
            for counter in within:
                counter.update(names)
            match s:
                case K.If():
                    self._add(s.then, around)
                    self._add(s.orelse, around)
                case K.Loop():
                    self._add((*s.head, *s.body, *s.latch), within)
                case K.Block():
                    self._add(s.body, around)
                case _:
                    pass


def _read_by(s: K.Stmt) -> Iterator[Expr]:
    match s:
        case K.Assign():
            yield s.value
        case K.Load() | K.Store() | K.Atomic():
            yield s.pointer
            yield from (index for index, _ in s.in_bounds)
            if isinstance(s, K.Store):
                yield s.value
            elif isinstance(s, K.Atomic):
                yield from s.operands
        case K.Barrier():
            yield from s.operands
        case K.Collective():
            yield from s.operands
        case K.If() | K.Loop() | K.Assume():
            yield s.condition
        case _:
            pass
