"""What to do when something happens that cannot happen: say so once in the log and go on.

A language server that stops because one of its invariants broke takes the user's other results with it.
"""

from __future__ import annotations

import logging

from cuda_lsp import __version__

_log = logging.getLogger("cuda_lsp.bug")
_reported: set[str] = set()


def report(what: str, error: BaseException | None = None) -> None:
    """Log a broken invariant with its traceback; the same one is logged once."""
    key = f"{what}: {type(error).__name__}"
    if key in _reported:
        return
    _reported.add(key)
    _log.error("bug in cuda-lsp %s, please report it with these lines: %s", __version__, what, exc_info=error)


def count() -> int:
    """How many different bugs this process has reported."""
    return len(_reported)
