"""What the command's exit status means."""

from __future__ import annotations

from typing import Final

CLEAN: Final = 0
FINDINGS: Final = 1
"""Something was found that `--fail-on` names."""
USAGE: Final = 2
"""The arguments or the configuration are wrong; nothing was checked."""
NOT_ANALYSED: Final = 3
"""Some input is missing, unreadable or made the analysis fail, what the others gave is reported nevertheless; or the
result could not be written."""
CUT_SHORT: Final = 4
"""Of `run`: nothing was seen, and for some inputs no run came to its end within the time."""
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
"""Whoever read the output left before its end: what a shell says of other programs then."""


class UsageError(Exception):
    """Wrong arguments or configuration; the text is a sentence for the user."""
