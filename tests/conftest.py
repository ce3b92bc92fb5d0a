"""What every test shares: the rule for tests that need a program which is not a Python package."""

import os
import shutil
from collections.abc import Callable

import pytest

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
