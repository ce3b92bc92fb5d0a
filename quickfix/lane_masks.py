"""Which lanes of a warp come to accesses under a condition on the coordinates of threads.

Takes a session, analysed kernels and races, gives the mask that `__syncwarp(mask)` would name between their accesses:
where the same lanes of every warp that comes there do, whatever the launch, and the text of the kernel says which lanes
these are, in coordinates and literals (`own_conditions`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from analyzers.analysed import KernelAnalysis
from analyzers.ir import expr as E
from analyzers.ir.events import Conjunct
from analyzers.ir.uniformity import is_uniform
from analyzers.model import Access, Finding, SourceSpan
from analyzers.races.threads import Launch
from quickfix.named_lanes import ALL_LANES, lanes_of_warps
from quickfix.own_conditions import are_own
from quickfix.paths import chain_to
from quickfix.session import Session, names_of


def lane_mask(session: Session, kernels: Collection[KernelAnalysis], races: Sequence[Finding]) -> int | None:
    """None: all lanes come, or it is not known which, or others in other warps, or the text leaves it open: to the
    argument of a template or a call, to what is defined elsewhere, to another build. Blocks have known extents."""
    if session.kernels_sharing_code(kernels) - names_of(kernels) or len(kernels) != 1:
        return None
    places = {access.span: access for f in races for access in f.accesses[:2]}
    if not _are_settled(session, places.values()):
        return None
    (analysis,) = kernels
    found = set(_masks(analysis, places))
    mask = found.pop() if len(found) == 1 else None
    return None if mask in (0, ALL_LANES) else mask


def _are_settled(session: Session, accesses: Collection[Access]) -> bool:
    """Whether the text of a kernel itself says who comes to accesses, and they are its own."""
    chains = [chain_to(session.trees, access) for access in accesses]
    if any(access.calls for access in accesses) or not all(chains):
        return False
    functions = {(f.path, f.start): f for chain in chains for f in (level.function for level in chain or ())}
    if len(functions) != 1:
        return False
    (function,) = functions.values()
    places = [access.span.start_offset for access in accesses]
    return are_own(function, session.trees.texts[function.path], session.reserved_in(function), places)


def _masks(analysis: KernelAnalysis, places: Iterable[SourceSpan]) -> Iterator[int | None]:
    """Of the lanes that come to the places of accesses, for each of these, each launch and each warp with such."""
    starts = {(span.path, span.start_offset) for span in places}
    events = [e for e in analysis.events.accesses if (e.site.span.path, e.site.span.start_offset) in starts]
    for context in analysis.contexts:
        launch = Launch(analysis.events, context)
        for guard in dict.fromkeys(e.guard for e in events):
            if not all(c.kind == "assume" or _is_of_coordinates(c) for c in guard):
                yield None
            yield from lanes_of_warps(launch, guard)


def _is_of_coordinates(conjunct: Conjunct) -> bool:
    """Whether a condition is about the coordinates of threads alone, or the same for the block."""
    return is_uniform(conjunct.condition, "block") or set(E.TID).issuperset(E.symbols(conjunct.condition))
