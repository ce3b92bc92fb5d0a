"""What is found when the pairs of one launch context are asked about: races, proofs, and what stays open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from analyzers.ir.expr import Expr
from analyzers.races.ordering import Case
from analyzers.races.pairs import Pair
from analyzers.races.threads import Mode
from analyzers.solve.query import Proved, Query, Undecided


@dataclass(frozen=True, slots=True)
class Race:
    """A pair that collides under ``values`` (renamed symbols, see ``solve.query``)."""

    pair: Pair
    mode: Mode
    case: Case
    values: Mapping[Expr, int]
    query: Query
    benign: bool = False
    """Both sides write the same value wherever they collide, or a compare-and-swap checks what was read."""
    wraps: bool = False
    """Only possible where unsigned arithmetic on a size the launch does not fix wraps around."""
    signalled: bool = False
    """Locks or signals may order the two, and it was not proved that they do."""
    anywhere: bool = False
    """It was asked under no conditions beside those of the two threads, and is harmful for no other reason: another
    witness is as good."""


@dataclass
class Checked:
    """The answers of one context."""

    races: list[Race] = field(default_factory=list[Race])
    undecided: list[tuple[Pair, Undecided]] = field(default_factory=list[tuple[Pair, Undecided]])
    left_out: list[Pair] = field(default_factory=list[Pair])
    """Pairs that were not asked, because enough others on the same object collide already."""
    unasked: list[Pair] = field(default_factory=list[Pair])
    """Pairs that were not asked, because the context was given up before."""
    unasked_besides: bool = False
    """There may be more of these than are listed."""
    proofs: list[Proved] = field(default_factory=list[Proved])
    """What was proved, as far as it rests on facts of the launch or on the absence of overflow."""
    used_no_wrap: bool = False
    used_alignment: bool = False
    """Some proof needs that the hardware stops at a misaligned address."""
    assumed: set[str] = field(default_factory=set[str])
    """What the order by locks and signals, the bounds of allocations and the signs of sizes rest on."""
    ordering: dict[int, list[Pair]] = field(default_factory=dict[int, list[Pair]])
    """Barrier id -> pairs it helps to order."""
    assumed_apart: list[Pair] = field(default_factory=list[Pair])
    """Pairs that were not asked, because their places are apart unless unsigned arithmetic wraps around."""
    pairs: int = 0

    def add(self, other: Checked) -> None:
        """The answers to more questions of the same pairs."""
        self.undecided += other.undecided
        self.proofs += other.proofs
        self.used_no_wrap |= other.used_no_wrap
        self.used_alignment |= other.used_alignment
        self.assumed |= other.assumed
