"""What a worker runs: the analysis and the repairs behind one interface, so that tests can put another in its place.

`create` makes the real one; a worker is told which to use as `module:function`. Imports are late: the server itself
never loads libclang or a solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from analyzers.model import Fix, FixRefusal, UnitResult

if TYPE_CHECKING:
    from analyzers.requests import CheckRequest, Event

DEFAULT = "cuda_lsp.backend:create"

Stop = Callable[[], bool]


class Backend(Protocol):
    """One per worker, used by one thread. `stop` is polled; when it answers true, give up soon."""

    def check(self, request: CheckRequest, stop: Stop) -> Iterator[Event]: ...

    def offers(self, request: CheckRequest, result: UnitResult, stop: Stop) -> Iterable[Fix | FixRefusal]:
        """All verified repairs for a checked unit, each as soon as it is known; for what has none, why."""
        ...

    def hints(self, request: CheckRequest, result: UnitResult, stop: Stop) -> Iterable[Fix]:
        """Verified edits that make a unit faster and repair nothing."""
        ...

    def fix_for(self, request: CheckRequest, group: str, stop: Stop) -> Fix | FixRefusal:
        """The verified repair for one group of findings, computed now."""
        ...

    def fix_all(self, request: CheckRequest, stop: Stop, groups: Sequence[str]) -> Fix | FixRefusal:
        """One edit for all of these groups that can be repaired, verified together."""
        ...

    def still_right(self, request: CheckRequest, fix: Fix, stop: Stop) -> Fix | FixRefusal:
        """A verified repair as the other units are now that include what it edits."""
        ...

    def forget(self, path: str) -> None: ...


class _Real:
    def __init__(self) -> None:
        from analyzers.engine import Engine

        self._engine = Engine()

    def check(self, request: CheckRequest, stop: Stop) -> Iterator[Event]:
        return self._engine.check(request, stop)

    def offers(self, request: CheckRequest, result: UnitResult, stop: Stop) -> Iterable[Fix | FixRefusal]:
        import quickfix

        return quickfix.answers(self._engine, request, result, stop)

    def hints(self, request: CheckRequest, result: UnitResult, stop: Stop) -> Iterable[Fix]:
        import quickfix

        return quickfix.hoisted(self._engine, request, result, stop)

    def fix_for(self, request: CheckRequest, group: str, stop: Stop) -> Fix | FixRefusal:
        import quickfix

        return quickfix.fix_for(self._engine, request, group, stop)

    def fix_all(self, request: CheckRequest, stop: Stop, groups: Sequence[str]) -> Fix | FixRefusal:
        import quickfix

        return quickfix.fix_all(self._engine, request, stop, among=frozenset(groups))

    def still_right(self, request: CheckRequest, fix: Fix, stop: Stop) -> Fix | FixRefusal:
        import quickfix

        return quickfix.still_right(self._engine, request, fix, stop)

    def forget(self, path: str) -> None:
        self._engine.forget(path)


def create() -> Backend:
    """The real analysis."""
    return _Real()


def load(spec: str) -> Backend:
    """The backend that `module:function` makes."""
    module, _, name = spec.partition(":")
    return cast("Callable[[], Backend]", getattr(import_module(module), name))()
