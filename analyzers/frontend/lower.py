"""From a parsed unit to program IR: one `Kernel` per `__global__` function and template instantiation.

Takes both passes of `parse`, gives plain data: the kernels, and what was seen and could not be taken in. Kernels are
lowered from the device pass; instantiations are collected from both. A template that nobody instantiates in sight is
instantiated through probes, lines appended to the buffer for one more parse. Finding the kernels of a unit is one
thing and lowering them another, so that the first one can be decided before the last one is lowered.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from analyzers.frontend import focus
from analyzers.frontend.cindex import namespaces_of
from analyzers.frontend.lowering import kernels as kernels_module
from analyzers.frontend.lowering.discovery import Discovery, Found, discover
from analyzers.frontend.lowering.nodes import NodeTable
from analyzers.frontend.parse import ParsedUnit
from analyzers.frontend.unseen import unseen
from analyzers.garbage import uncollected
from analyzers.ir.kernel import Kernel
from analyzers.model import Skipped, SourceSpan

Reparse = Callable[[Sequence[str]], ParsedUnit]
"""Parse the same text again with these probe lines appended."""

#: How often more probes are tried before a template is given up.
_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class FoundKernel:
    """A kernel of a unit that can be lowered as long as the unit is valid. Fields as in `Kernel`."""

    name: str
    base_name: str
    mangled: str
    span: SourceSpan
    extent: SourceSpan
    _lowering: _Lowering = field(repr=False)
    _found: Found = field(repr=False)

    @property
    def full_name(self) -> str:
        """With the namespaces around it; those without a name aside."""
        written = self._found.node or self._found.template
        return (namespaces_of(written.cursor) if written is not None else "") + self.name

    @property
    def parameter_types(self) -> str:
        """Separated by commas; empty for a template without instances."""
        node = self._found.node
        return ", ".join(one.spelling for one in node.cursor.type.argument_types()) if node is not None else ""

    def lower(self) -> Kernel:
        """The kernel's IR; never raises, what goes wrong is an `Unsupported` in its body."""
        return self._lowering.lower(self._found)


@dataclass(frozen=True, slots=True)
class FoundUnit:
    """The kernels of one unit in source order, to be lowered one by one.

    `skipped`: kernel definitions that the text shows and clang did not take in, and headers that were not found; empty
    when only some kernels were asked for. `unit` is the parse they were read from: with `reparse` it may be another one
    than was given. Giving `probes` to the next parse of the same file saves the second parse. `bodies` are those that
    `focus` may leave out.
    """

    kernels: tuple[FoundKernel, ...]
    skipped: tuple[Skipped, ...]
    unit: ParsedUnit
    probes: tuple[str, ...] = ()
    bodies: tuple[focus.Range, ...] = ()


@dataclass(frozen=True, slots=True)
class LoweredUnit:
    """As `FoundUnit`, all kernels lowered."""

    kernels: tuple[Kernel, ...]
    skipped: tuple[Skipped, ...]
    unit: ParsedUnit
    probes: tuple[str, ...] = ()


def find_kernels(
    unit: ParsedUnit, reparse: Reparse | None = None, only: Sequence[str] = (), guessed: Container[str] | None = None
) -> FoundUnit:
    """Find every kernel defined in the unit's file and in the project headers it includes.

    `only` restricts the result to kernels with these names, with or without template arguments. Without `reparse`,
    templates nobody instantiates give an unsupported kernel; with it, those that are not among `guessed` do, by their
    names without template arguments.
    """
    if sys.getrecursionlimit() < _RECURSION:
        sys.setrecursionlimit(_RECURSION)
    with uncollected():
        unit, found = _discovered(unit, reparse, only, guessed)
        lowering = _Lowering(unit, found.table, found.kernels)
        kernels = tuple(
            FoundKernel(k.name, k.base_name, k.mangled, *kernels_module.places(k), lowering, k)
            for k in found.kernels
            if not only or k.base_name in only or k.name in only
        )
        skipped = () if only else unseen(unit, [k.span for k in kernels], found.table.bytes_of)
        bodies = () if only else focus.bodies(unit.path, unit.text, found.functions)
        return FoundUnit(kernels, skipped, unit, found.useful_probes(), bodies)


def lower_unit(unit: ParsedUnit, reparse: Reparse | None = None, only: Sequence[str] = ()) -> LoweredUnit:
    """Find kernels as `find_kernels` does, and lower them."""
    with uncollected():
        found = find_kernels(unit, reparse, only)
        return LoweredUnit(tuple(k.lower() for k in found.kernels), found.skipped, found.unit, found.probes)


def _discovered(
    unit: ParsedUnit, reparse: Reparse | None, only: Sequence[str], guessed: Container[str] | None
) -> tuple[ParsedUnit, Discovery]:
    tried: list[str] = []
    found = discover(unit, only, probing=reparse is not None)
    for _ in range(_ROUNDS):
        if reparse is None:
            break
        wanted = [p for p in found.probes_wanted(tried, guessed) if p not in unit.probes]
        if not wanted:
            break
        tried.extend(wanted)
        unit = reparse((*unit.probes, *wanted))
        found.table.close()
        # No function of the host uses what is only guessed.
        found = discover(unit, only, probing=not found.guesses.issuperset(wanted))
    useful = found.useful_probes()
    if reparse is not None and set(useful) != set(unit.probes):
        # Arguments that were tried in vain leave errors behind in code that is sound.
        unit = reparse(useful)
        found.table.close()
        found = discover(unit, only, probing=False)
    return unit, found


_RECURSION = 20_000
#: Nodes kept from one kernel to the next; the bodies of instantiations are seldom shared.
_MANY_NODES = 100_000


class _Lowering:
    """Lowers the kernels of a unit, which share what was read of its declarations."""

    def __init__(self, unit: ParsedUnit, table: NodeTable, kernels: Sequence[Found]) -> None:
        self._unit = unit
        self._table = table
        self._names = frozenset(k.name for k in kernels)
        self._assumptions = _sought(unit) if unit.sought else ()

    def __del__(self) -> None:
        self._table.close()

    def lower(self, found: Found) -> Kernel:
        with uncollected():
            kernel = kernels_module.lower_kernel(self._table, found, self._unit, self._names - {found.name})
            if self._table.size > _MANY_NODES:
                self._table.forget()
        if not self._assumptions:
            return kernel
        return replace(kernel, assumptions=(*kernel.assumptions, *self._assumptions))


def _sought(unit: ParsedUnit) -> tuple[str, ...]:
    """What is assumed about headers that were found without an include path."""
    here = Path(unit.path).parent
    folders: dict[str, list[str]] = {}
    for header in unit.sought:
        folders.setdefault(os.path.relpath(header.folder, here), []).append(header.name)
    return tuple(
        f"{names[0]} is the one in {folder}: no include path leads to it" for folder, names in sorted(folders.items())
    )
