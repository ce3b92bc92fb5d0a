"""How a kernel names the tiles of its threads.

Takes functions, gives the barriers of their tiles as statements, in which a barrier between lanes may be written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from analyzers.frontend.blanking import blanked
from analyzers.frontend.gaps import FunctionTree, SourceTrees

_TILE: Final = re.compile(
    rb"\bthread_block_tile\s*<[^;<>]*>(?:\s|&|\bconst\b)*([A-Za-z_]\w*)\s*[=({,)]"
    rb"|\bauto\s+([A-Za-z_]\w*)\s*=\s*(?:\w+\s*::\s*)*tiled_partition\b"
)
_MOST: Final = 2
"""Tiles that are tried."""


def tile_barriers(trees: SourceTrees, functions: Collection[FunctionTree]) -> Iterator[bytes]:
    """Barriers of tiles that all of the functions know by one name, the last one first: it is the smallest, mostly.
    Whether they order what is to be ordered, and mean anything at a place, is for the engine to say."""
    known: list[list[bytes]] = []
    for function in functions:
        code = blanked(trees.texts[function.path])
        found = (match[1] or match[2] for match in _TILE.finditer(code, function.start, function.end))
        known.append(list(dict.fromkeys(found)))
    names = [name for name in known[0] if all(name in others for others in known)] if known else []
    yield from (name + b".sync();" for name in reversed(names[-_MOST:]))
