"""What the steps of a restructuring have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from quickfix.edits import Change

Farthest = Literal["last", "first"]
THREADS: Final[tuple[Farthest, ...]] = ("last", "first")
"""Of the threads of a block, along each of its axes: those that may make all iterations that others make."""
UNIFORM: Final = "let all threads make all iterations of the loop"
"""What becomes of a loop that threads leave at different times."""
BOUNDED: Final = "let all threads make the {} one's iterations of the loop"
"""The same where it gets the bound of one thread."""
VOTES: Final = "+1 barrier in each test of the loop"
"""What it costs where the threads of a block ask in the test whether any of them has work."""
WARP_VOTES: Final = "+1 warp vote in each test of the loop"
"""The same of the threads of a warp."""
BLOCK_VOTE: Final = b"__syncthreads_or("
WARP_VOTE: Final = b"__any_sync(0xffffffff, "
"""How the vote begins, up to what each thread says."""


def is_made_uniform(title: str) -> bool:
    """Whether a repair makes all threads make the iterations of some loop."""
    said = title.lower()
    return any(words in said for words in (UNIFORM, *(BOUNDED.format(which) for which in THREADS)))


def costs_in_words(costs: Iterable[str]) -> str:
    """What steps cost at run time; votes in several loops are told once."""
    counted = Counter(costs)
    return ", ".join(f"{c}s" if many > 1 and c in (VOTES, WARP_VOTES) else c for c, many in counted.items())


@dataclass(frozen=True, slots=True)
class Restructuring:
    """Changes of one file that make a place, and what they do: `split the statement`, where. Nothing is said of
    what only makes room for the next step."""

    path: str
    changes: list[Change]
    text: str
    at: int
    """The offset of what is restructured."""
    cost: str = ""
    """What it costs at run time, beside the barriers to come."""
    granted: str = ""
    """What it takes for granted, a sentence."""
    name: bytes = b""
    """The variable that it declares, if it is one that others may be made beside in the same text."""
    declares_nothing: bool = False
    """It declares no variable, and others may be made beside it."""
    is_spare: bool = False
    """It is for where no other one is to be made: a branch that is taken apart for another race needs no braces."""

    @property
    def is_one_of_several(self) -> bool:
        """Whether others may be made in the same text that it does not touch."""
        return bool(self.name) or self.declares_nothing


def touch(a: Restructuring, b: Restructuring) -> bool:
    """Whether some changes of the two meet, so that the one is about a text that the other has changed."""
    return a.path == b.path and any(x.start <= y.end and y.start <= x.end for x in a.changes for y in b.changes)
