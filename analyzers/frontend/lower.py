"""From a parsed unit to program IR: one `Kernel` per `__global__` function and template instantiation.

Takes both passes of `parse`, gives plain data: the kernels, and what was seen and could not be taken in. Kernels are
lowered from the device pass; instantiations are collected from both. A template that nobody instantiates in sight is
instantiated through probes, lines appended to the buffer for one more parse.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from analyzers.frontend.lowering import kernels
from analyzers.frontend.lowering.discovery import Discovery, Found, discover
from analyzers.frontend.lowering.nodes import NodeTable
from analyzers.frontend.parse import ParsedUnit
from analyzers.frontend.unseen import unseen
from analyzers.ir.kernel import Kernel
from analyzers.model import Skipped

Reparse = Callable[[Sequence[str]], ParsedUnit]
"""Parse the same text again with these probe lines appended."""

#: How often more probes are tried before a template is given up.
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class LoweredUnit:
    """The kernels of one unit in source order.

    `skipped`: kernel definitions that the text shows and clang did not take in, and headers that were not found; empty
    when only some kernels were asked for. `unit` is the parse they were read from: with `reparse` it may be another one
    than was given. Giving `probes` to the next parse of the same file saves the second parse.
    """

    kernels: tuple[Kernel, ...]
    skipped: tuple[Skipped, ...]
    unit: ParsedUnit
    probes: tuple[str, ...] = ()


def lower_unit(unit: ParsedUnit, reparse: Reparse | None = None, only: Sequence[str] = ()) -> LoweredUnit:
    """Lower every kernel defined in the unit's file and in the project headers it includes.

    `only` restricts the result to kernels with these names, with or without template arguments. Without `reparse`,
    templates nobody instantiates give an unsupported kernel.
    """
    if sys.getrecursionlimit() < _RECURSION:
        sys.setrecursionlimit(_RECURSION)
    collecting = gc.isenabled()
    # Nearly everything made here lives until the end: collections would only walk it again and again.
    gc.disable()
    try:
        return _lower_unit(unit, reparse, only)
    finally:
        if collecting:
            gc.enable()


def _lower_unit(unit: ParsedUnit, reparse: Reparse | None, only: Sequence[str]) -> LoweredUnit:
    tried: list[str] = []
    found = discover(unit)
    for _ in range(_ROUNDS):
        if reparse is None:
            break
        wanted = [p for p in found.probes_wanted(tried) if p not in unit.probes]
        if not wanted:
            break
        tried.extend(wanted)
        unit = reparse((*unit.probes, *wanted))
        found = discover(unit)
    useful = found.useful_probes()
    if reparse is not None and set(useful) != set(unit.probes):
        # Arguments that were tried in vain leave errors behind in code that is sound.
        unit = reparse(useful)
        found = discover(unit)
    return _lowered(unit, found, only)


_RECURSION = 20_000
#: Nodes kept from one kernel to the next; the bodies of instantiations are seldom shared.
_MANY_NODES = 100_000


def _lowered(unit: ParsedUnit, found: Discovery, only: Sequence[str]) -> LoweredUnit:
    table: NodeTable = found.table
    out: list[Kernel] = []
    for item in found.kernels:
        if only and not _selected(item, only):
            continue
        out.append(kernels.lower_kernel(table, item, unit))
        if table.size > _MANY_NODES:
            table.forget()
    if unit.sought:
        found_elsewhere = _sought(unit)
        out = [replace(k, assumptions=(*k.assumptions, *found_elsewhere)) for k in out]
    skipped = () if only else unseen(unit, [k.span for k in out], table.bytes_of)
    return LoweredUnit(tuple(out), skipped, unit, found.useful_probes())


def _sought(unit: ParsedUnit) -> tuple[str, ...]:
    """What is assumed about headers that were found without an include path."""
    here = Path(unit.path).parent
    folders: dict[str, list[str]] = {}
    for header in unit.sought:
        folders.setdefault(os.path.relpath(header.folder, here), []).append(header.name)
    return tuple(
        f"{names[0]} is the one in {folder}: no include path leads to it" for folder, names in sorted(folders.items())
    )


def _selected(item: Found, only: Sequence[str]) -> bool:
    return item.base_name in only or item.name in only
