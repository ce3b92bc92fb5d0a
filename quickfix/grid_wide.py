"""Races between blocks: what makes the blocks of a grid wait for each other, and how to say so.

A barrier of the grid is inserted where the kernel is launched cooperatively (`grid_barriers`). Elsewhere the launch
would have to change, or the kernel to be cut in two, which is left to whoever wrote it: `explanation` says where.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from analyzers.analysed import KernelAnalysis
from analyzers.frontend.blanking import blanked
from analyzers.frontend.gaps import SourceTrees
from analyzers.model import Finding
from quickfix.edits import GRID_BARRIER
from quickfix.file_names import FileNames
from quickfix.naming import line_of
from quickfix.paths import Candidate, Passage, chain_to

_GROUP: Final = re.compile(rb"\b([A-Za-z_]\w*)\s*=\s*(?:\w+\s*::\s*)*this_grid\s*\(\s*\)\s*;")
_ALIAS: Final = re.compile(rb"\bnamespace\s+([A-Za-z_]\w*)\s*=\s*(?:::\s*)?cooperative_groups\s*;")
_USED: Final = re.compile(
    rb"\busing\s+(?:namespace\s+(?:::\s*)?cooperative_groups|(?:::\s*)?cooperative_groups\s*::\s*this_grid)\s*;"
)
_HEADER: Final = b"cooperative_groups.h"


def _is_cooperative(kernels: Collection[KernelAnalysis]) -> bool:
    """Whether the kernels are launched so that the blocks of a grid may wait for each other."""
    launched = [context for analysis in kernels for context in analysis.contexts]
    return bool(launched) and all(context.cooperative for context in launched)


def grid_barriers(
    trees: SourceTrees, kernels: Collection[KernelAnalysis], finding: Finding
) -> Iterator[tuple[bytes, bytes]]:
    """Statements that wait for the whole grid, and the header that each needs beside those of the file: first as the
    kernel around an access would write it, then with the file's short name of the namespace, then in full, for places
    where the shorter ones mean nothing. None where the launch does not allow it."""
    if not _is_cooperative(kernels):
        return
    chain = chain_to(trees, finding.accesses[0])
    if chain:
        function = chain[0].function
        code = blanked(trees.texts[function.path])
        named = _GROUP.search(code, function.body.start, function.body.end)
        if named:
            yield named[1] + b".sync();", b""
        if _USED.search(code, 0, function.end):
            yield b"this_grid().sync();", b""
        if alias := _ALIAS.search(code, 0, function.end):
            yield alias[1] + b"::this_grid().sync();", b""
    yield GRID_BARRIER, b""
    yield GRID_BARRIER, _HEADER


def explanation(trees: SourceTrees, finding: Finding, way: Passage) -> str:
    """Why a race between blocks is not repaired, and what can be done; a clause. `way`: the places between them."""
    (one, two), at = finding.accesses[:2], FileNames.among(trees).shown
    alone = one.id == two.id or one.span == two.span
    # The threads that are shown may be of one block.
    too = "" if finding.scope == "inter-block" else ", too"
    runs = f"{at(one)} runs" if alone else f"{at(one)} and {at(two)} run"
    if finding.signalled and not (alone or too):
        missing = "a barrier of the block in front of the signal or behind the wait, or another fence, may be missing"
        return f"{runs} in different blocks, and what signals between these does not order them: {missing}"
    unordered = f"{runs} in different blocks{too}, which no __syncthreads() orders"
    if not way.candidates:
        if alone:
            return f"different blocks get to {at(one)} in any order, and nothing in the kernel is between them"
        return f"{unordered}, and there is no place between them where all blocks could wait"
    place = _cut(way.candidates, trees)
    wait = "cooperative_groups::this_grid().sync() in a cooperative launch"
    if place is None:
        inner = "in every iteration of the loop" if all(c.loops for c in way.candidates) else "there"
        return f"{unordered}: the blocks would have to wait for each other {inner}, which takes {wait}"
    return f"{unordered}: move what follows {place} to a kernel of its own, or wait there with {wait}"


def _cut(candidates: Collection[Candidate], trees: SourceTrees) -> str | None:
    """The line after which the kernel can be cut in two: the last place between them that no condition, loop or call
    is around."""
    found = [c.gap for c in candidates if not c.called and not c.loops and not c.gap.steps]
    places = [(g.function.path, before.end - 1) for g in found if (before := g.before) is not None]
    lines = [(path, line_of(trees.texts[path], at)) for path, at in places]
    return FileNames.among(trees).lines([max(lines, key=lambda line: line[1])]) if lines else None
