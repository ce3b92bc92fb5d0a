"""What tests share: the rule for those that need a program which is not a Python package, and workers that stay."""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

import pytest

from cuda_lsp.cli import jobs

MISSING_PROGRAM = "system program missing:"
"""How the reason of a test starts that did not run because this machine lacks a program."""

MUST_HAVE_PROGRAMS = "CUDA_LSP_REQUIRE_PROGRAMS"
"""Set to 1, as continuous integration does, a missing program fails the test that needs it."""


def _path_of_program(name: str) -> str:
    path = shutil.which(name)
    if path is not None:
        return path
    reason = f"{MISSING_PROGRAM} {name}"
    if os.environ.get(MUST_HAVE_PROGRAMS) == "1":
        pytest.fail(reason, pytrace=False)
    # A developer's machine need not have every editor; continuous integration sets the variable, so nothing is skipped
    # there.
    pytest.skip(reason)


@pytest.fixture(scope="session")
def require_program() -> Callable[[str], str]:
    """Give the path of a program; where there is none, skip with the reason (under the variable above, fail)."""
    return _path_of_program


MANY_CASES = 4
"""From so many cases of one test of the repairs on, every second one is a thorough test."""


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Each case of a test of the repairs is a kernel that is analysed again and again: they take longer than all the
    rest, and the cases of one test differ little. `make test` leaves every second one to `make test-thorough`."""
    cases = [i for i in items if i.path.name.startswith("test_quickfix_") and hasattr(i, "callspec")]
    counts = Counter(_function_of(case) for case in cases)
    seen = Counter[str]()
    for case in cases:
        function = _function_of(case)
        seen[function] += 1
        if counts[function] >= MANY_CASES and seen[function] % 2 == 0:
            case.add_marker(pytest.mark.thorough)


def _function_of(case: pytest.Item) -> str:
    return case.nodeid.partition("[")[0]


class _LastingPool(jobs.Pool):
    """A pool whose workers the next one takes over, as if both commands had been one with more files."""

    left: ClassVar[dict[tuple[str, float], "_LastingPool"]] = {}
    """By backend and time limit."""

    def __init__(self, count: int, backend: str, hang_seconds: float = jobs.HANG_SECONDS) -> None:
        super().__init__(count, backend, hang_seconds)
        self._key = (backend, hang_seconds)
        before = self.left.pop(self._key, None)
        if before is not None:
            self._workers = before._workers

    def __exit__(self, *_: object) -> None:
        if all(worker.task is None for worker in self._workers):
            self.left[self._key] = self
        else:
            super().__exit__()


@pytest.fixture(scope="session")
def _workers_until_the_end() -> Iterator[None]:
    yield
    for pool in _LastingPool.left.values():
        jobs.Pool.__exit__(pool)


@pytest.fixture
def lasting_workers(monkeypatch: pytest.MonkeyPatch, _workers_until_the_end: None) -> None:
    """Commands of the test that are called in this process use the workers of those before: to start one takes longer
    than most checks."""
    monkeypatch.setattr(jobs, "Pool", _LastingPool)
