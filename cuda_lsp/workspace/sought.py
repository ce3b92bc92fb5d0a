"""Whether a header that was not found has turned up since, where the front end would look for it today.

Names and includers come from a checked unit; the search is the front end's own, so both always agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from analyzers.frontend.include_search import search
from analyzers.model import UnitResult

Sought = tuple[str, str]
"""The name in the directive, and the file that it stands in."""

_SKIPPED = re.compile(r"header (\S+) not found")
_ISSUE = re.compile(r"'([^']+)' file not found")


def sought_headers(unit: UnitResult) -> list[Sought]:
    """What a unit includes and the compiler did not find."""
    found: dict[Sought, None] = {}
    for pattern, text, span in (
        *((_SKIPPED, skipped.what, skipped.span) for skipped in unit.skipped),
        *((_ISSUE, issue.message, issue.span) for issue in unit.syntax),
    ):
        match = pattern.match(text)
        if match is not None and span is not None:
            found[match[1], span.path] = None
    return list(found)


def has_turned_up(sought: Iterable[Sequence[str]], unit: str) -> bool:
    """Touches the disk."""
    return any(search(name, (includer, unit)) is not None for name, includer in sought)
