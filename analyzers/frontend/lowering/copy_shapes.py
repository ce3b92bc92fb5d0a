"""Where a program commits and waits for asynchronous copies, and where its threads may end with copies under way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analyzers.frontend.lowering.open_copies import COMMIT, WAIT
from analyzers.ir.kernel import Barrier, Block, Exit, If, Loop, Stmt, Unsupported, statements


def is_regular(body: Sequence[Stmt]) -> bool:
    """Whether every iteration of a loop commits as many groups as any other, and waits if one does."""
    return all(
        _is_even(part) for s in statements(tuple(body)) if isinstance(s, Loop) for part in (s.head, s.body, s.latch)
    )


def _is_even(body: Iterable[Stmt]) -> bool:
    for s in body:
        if isinstance(s, If):
            kinds = [{m.kind for m in _marks(side)} for side in (s.then, s.orelse)]
            if any(COMMIT in found for found in kinds) or bool(kinds[0]) != bool(kinds[1]):
                return False
            if not (_is_even(s.then) and _is_even(s.orelse)):
                return False
        elif isinstance(s, Block) and not _is_even(s.body):
            return False
    return True


def ends_before_barriers(body: tuple[Stmt, ...]) -> list[Exit]:
    """The ways out of the kernel before a barrier that other threads pass."""
    whole = {s.label for s in body if isinstance(s, Block)}
    found: list[Exit] = []

    def follow(body: tuple[Stmt, ...], later: bool) -> bool:
        """`later`: whether there may be a barrier behind; gives the same for the place before."""
        for s in reversed(body):
            if isinstance(s, Exit) and s.label in whole and later:
                found.append(s)
            elif isinstance(s, If):
                later = max(follow(s.then, later), follow(s.orelse, later))
            elif isinstance(s, Block):
                later = follow(s.body, later)
            elif isinstance(s, Loop):
                parts = (*s.head, *s.body, *s.latch)
                later = follow(parts, later or any(isinstance(t, Barrier) for t in statements(parts)))
            later = later or isinstance(s, Barrier)
        return later

    follow(body, False)
    return found


def _marks(body: tuple[Stmt, ...]) -> list[Unsupported]:
    found = [s for s in statements(body) if isinstance(s, Unsupported)]
    return [s for s in found if s.kind == COMMIT or s.kind.startswith(WAIT)]
