"""What the steps of a restructuring have in common."""

from __future__ import annotations

from dataclasses import dataclass

from quickfix.edits import Change


@dataclass(frozen=True, slots=True)
class Restructuring:
    """Changes of one file that make a place, and what they do: `split the statement`, where."""

    path: str
    changes: list[Change]
    text: str
    at: int
    """The offset of what is restructured."""
    cost: str = ""
    """What it costs at run time, beside the barriers to come."""
