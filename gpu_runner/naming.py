"""Numbers of a run in the user's words: threads by coordinates, sites by source lines, addresses by array and index."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import chain, product
from math import prod
from typing import Final

from analyzers.model import Mark, MarkedAccess, marks_in
from gpu_runner.cpu.arena import Arena
from gpu_runner.cpu.launch import Launch
from gpu_runner.cpu.layout import CLUSTER_SHIFT, FIRST_SITE, LOCAL_BASE, PARAM_BASE, SHARED_BASE, SiteKind
from gpu_runner.cpu.sites import Site
from gpu_runner.cpu.variables import RESERVED
from gpu_runner.detector.detect import PLACEMENTS, Silent
from gpu_runner.kernel import AnyKernel
from gpu_runner.ptx import model
from gpu_runner.ptx.mangled import base_name
from gpu_runner.request import Dim3, Place, Recast, RunAccess, Variable

_WIDTHS: Final = {"i8": 1, "u8": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "f32": 4}
_INNER: Final = re.compile(r"(\d+)([A-Za-z_]\w*)$")


class Names:
    """Of one kernel and launch."""

    def __init__(
        self,
        module: model.Module,
        kernel: AnyKernel,
        shared: Mapping[str, int],
        arrays: Mapping[str, tuple[str, str]],
        shapes: Shapes,
    ) -> None:
        """`shared`: offsets of shared variables. `arrays`: name and element type by number (`Launch.arrays`)."""
        self._files = {file.index: marks_in(file.name) for file in module.files}
        self._inlined = dict(module.strings)
        self._kernel = kernel
        self._launch: Launch = kernel.launch
        self._shared = sorted((offset, name) for name, offset in shared.items())
        self._arrays = arrays
        self._shapes = shapes

    def block(self, number: int) -> int:
        """The number of a thread's block."""
        return number >> self._launch.shift

    def thread(self, number: int) -> tuple[Dim3, Dim3]:
        """Block and thread coordinates."""
        launch = self._launch
        block, thread = number >> launch.shift, number & ((1 << launch.shift) - 1)
        return _coordinates(block, launch.grid), _coordinates(thread, launch.block)

    def access(self, site: int, thread: int, kind: str | None = None) -> RunAccess:
        """What a thread did at a site."""
        block, lane = self.thread(thread)
        if site < FIRST_SITE:
            return RunAccess("other", block, lane, (), "")
        found = self._kernel.sites[site]
        kinds = {SiteKind.READ: "read", SiteKind.WRITE: "write", SiteKind.ATOMIC: "atomic"}
        named = kind or kinds.get(found.kind) or ("barrier" if found.instruction.startswith("bar") else "other")
        return RunAccess(named, block, lane, self.places(site), found.instruction)  # pyright: ignore[reportArgumentType]

    def places(self, site: int) -> tuple[Place, ...]:
        """Source lines of a site, innermost first; functions without line information are left out."""
        found = self._kernel.sites[site]
        places: list[Place] = []
        accessing: int | None = site
        for location, function in zip(found.stack, found.functions, strict=True):
            if location is None:
                continue
            inner = self._inlined.get((location.function or "").split("+")[0], function)
            places.append(self._place(location.position, inner, accessing))
            accessing = None
            if location.inlined_at is not None:
                places.append(self._place(location.inlined_at, function))
        return tuple(places)

    def _step(self, site: int) -> int:
        """How many accesses of its kind in front of a site have the same place: compilers compute `a[b[i]]` from the
        inside."""
        sites = self._kernel.sites
        own, step, before = sites[site], 0, site - 1
        while before >= FIRST_SITE and _is_access(sites[before]) and sites[before].stack == own.stack:
            step += _does(sites[before]) == _does(own)
            before -= 1
        return step

    def _place(self, position: model.Position, function: str, site: int | None = None) -> Place:
        """`site`: what is at this place; None for a call."""
        path, accesses = self._files.get(position.file, ("", ()))
        marks = self._marks(accesses, site) if site is not None else ()
        if site is None or not marks:
            return Place(path, position.line, position.column, function)
        does = _does(self._kernel.sites[site])
        fitting = [one.mark for one in accesses if does in one.does] or marks
        here = fitting[min(self._step(site), len(fitting) - 1)]
        others = tuple(mark for mark in marks if mark is not here)
        return Place(path, here.line, here.column, function, (here, *others))

    def _marks(self, accesses: Sequence[MarkedAccess], site: int) -> tuple[Mark, ...]:
        """Those of the accesses that do what the site does. Atomics may be made of plain ones, and the reverse."""
        does = {SiteKind.READ: "ra", SiteKind.WRITE: "wa"}.get(self._kernel.sites[site].kind, "rwa")
        return tuple(one.mark for one in accesses if set(does) & set(one.does))

    def space(self, address: int) -> str:
        return "shared" if SHARED_BASE <= address < LOCAL_BASE else "global"

    def silent(self) -> Silent:
        """What may be read before anybody has written it: what the system keeps for cooperative groups, and clears,
        and what no member of a variable has, or of the elements that it is taken for."""
        always: list[Range] = []
        placed: list[tuple[tuple[Range, ...], ...]] = []
        ends = [begin for begin, _ in self._shared[1:]]
        for (begin, variable), end in zip(self._shared, [*ends, self._kernel.shared_size], strict=False):
            if variable == RESERVED:
                always.append((begin, end))
                continue
            always += _moved(self._shapes.gaps(variable, end - begin), begin)
            for cast in self._shapes.recast(variable):
                placed.append(tuple(tuple(_repeated(cast, at, begin, end)) for at in _places(cast, begin)))
        return Silent(tuple(always), together(placed))

    def address(self, address: int) -> str:
        if _is_about_shared(address):
            return self._shared_address(address - SHARED_BASE)
        if LOCAL_BASE <= address < PARAM_BASE:
            return f"memory of the thread's own, {address - LOCAL_BASE} bytes behind its beginning"
        arena: Arena = self._kernel.arena
        allocation = arena.nearest(address)
        if allocation is None:
            return f"address 0x{address:x}"
        offset = address - allocation.address
        width = 0
        if allocation.name.startswith("argument "):
            name, element = self._arrays[allocation.name.split()[1]]
            width = 0 if element == "b8" else _WIDTHS.get(element, 8)
            is_cell = width and offset % width == 0
            text = f"{name}[{offset // width}]" if is_cell else f"{name} + {offset} bytes"
        else:
            text = self._shapes.cell(allocation.name, offset)
        if not 0 <= offset < allocation.size:
            count = allocation.size // width if width else allocation.size
            held = f"{count} {'element' if width else 'byte'}{'s' * (count != 1)}"
            text += f", which has {held}"
        return text

    def array(self, address: int) -> str | None:
        """The array that holds an address of global memory or is before it; empty where none is near, and None in front
        of one, and of other memory: no array need be larger."""
        if SHARED_BASE <= address < PARAM_BASE or _is_about_shared(address):
            return None
        allocation = self._kernel.arena.nearest(address)
        if allocation is None or (allocation.address <= address and not allocation.name.startswith("argument ")):
            return ""
        if address < allocation.address:
            return None
        return self._arrays[allocation.name.split()[1]][0]

    def _shared_address(self, offset: int) -> str:
        """Addresses of shared memory have 32 bits: those far behind its end are in front of its beginning. Those of
        other blocks of a cluster have the rank in them."""
        if self._kernel.clustered and 0 < offset >> CLUSTER_SHIFT < 128:
            rank, offset = (offset >> CLUSTER_SHIFT) - 1, offset & (1 << CLUSTER_SHIFT) - 1
            ended = ", which has ended" if offset < self._kernel.shared_size else ""
            return f"{self._shared_address(offset)}, in the block with rank {rank} in the cluster{ended}"
        offset -= (1 << 32) if offset >= 1 << 31 else 0
        if offset < 0 and self._shared:
            begin, variable = self._shared[0]
            return f"{self._shapes.cell(variable, offset - begin)}, in front of the block's shared memory"
        before = [(variable, begin) for begin, variable in self._shared if begin <= offset]
        if before:
            variable, begin = before[-1]
            text = self._shapes.cell(variable, offset - begin)
        else:
            text = f"shared memory + {offset} bytes"
        size = self._kernel.shared_size
        return text if offset < size else f"{text}, where the block has {size} bytes of shared memory"


class Shapes:
    """The variables of a module as the source declares them."""

    def __init__(self, variables: Sequence[Variable], sizes: Mapping[str, int]) -> None:
        """`sizes`: bytes by the names of PTX, 0 of extern shared memory."""
        self._variables = variables
        self._sizes = sizes

    def cell(self, mangled: str, offset: int) -> str:
        """What lies at a byte offset of a variable, as one writes it: ``tile[1][3]``, ``count``, ``pair[2] + 4 bytes``.
        Bytes alone where nobody has said what the variable is, or variables of different shapes have its name."""
        name, size, variables = self._declared(mangled)
        found = {(v.element, v.extents) for v in variables}
        if len(found) != 1:
            return f"{name} + {offset} bytes"
        ((element, extents),) = found
        index, rest = divmod(offset, element)
        if size is not None and not extents:
            return name if index == rest == 0 else f"{name} + {offset} bytes"
        inner: list[int] = []
        for extent in reversed(extents[1:]):
            index, position = divmod(index, extent)
            inner.append(position)
        cell = name + "".join(f"[{position}]" for position in (index, *reversed(inner)))
        return f"{cell} + {rest} bytes" if rest else cell

    def gaps(self, mangled: str, size: int) -> list[tuple[int, int]]:
        """(first byte, end) within so many bytes of a variable of what no member has."""
        _, _, variables = self._declared(mangled)
        shapes = {(v.element, v.gaps) for v in variables if v.gaps}
        return [
            (start + first, min(start + behind, size))
            for element, gaps in shapes
            for start in range(0, size, element)
            for first, behind in gaps
            if start + first < size
        ]

    def recast(self, mangled: str) -> Iterator[Recast]:
        """What a variable is taken for."""
        _, _, variables = self._declared(mangled)
        return iter(dict.fromkeys(cast for v in variables for cast in v.recast))

    def _declared(self, mangled: str) -> tuple[str, int | None, list[Variable]]:
        """Its name and size, None of extern shared memory, and the variables that may be meant."""
        size = self._sizes.get(mangled, 0) or None
        name = _variable(mangled, {v.name for v in self._variables if v.size == size})
        return name, size, [v for v in self._variables if (v.name, v.size) == (name, size)]


def _variable(mangled: str, known: Container[str] = ()) -> str:
    """The last name in an Itanium mangled one, as in ``_ZZ1kPiE1s``; other names as they are. Where the end can be read
    in several ways it is one of the `known` names, or else the shortest."""
    name = mangled.split(":")[-1]
    found: list[str] = []
    match = _INNER.search(name) if name.startswith("_Z") else None
    while match is not None:
        if len(match[2]) == int(match[1]):
            found.append(match[2])
        match = _INNER.search(name, match.start() + 1)
    return next((one for one in found if one in known), found[-1] if found else name)


Range = tuple[int, int]


def _moved(ranges: Sequence[Range], by: int) -> list[Range]:
    return [(first + by, end + by) for first, end in ranges]


def _places(cast: Recast, begin: int) -> Sequence[int]:
    """Where elements may begin that a variable at `begin` is taken for."""
    return range(0, cast.size, cast.align) if cast.offset is None else (begin + cast.offset,)


def _repeated(cast: Recast, at: int, begin: int, end: int) -> Iterator[Range]:
    """The gaps of elements in a variable from `begin` to `end`, one of which begins at `at`: the first one, where the
    cast says where it is."""
    first_start = at if cast.offset is not None else begin - (begin - at) % cast.size
    for start in range(first_start, end, cast.size):
        for first, behind in cast.gaps:
            if begin < start + behind and start + first < end:
                yield max(start + first, begin), min(start + behind, end)


def together(placed: Sequence[tuple[tuple[Range, ...], ...]]) -> tuple[tuple[Range, ...], ...]:
    """A place for each cast, in all ways; where these are too many to be told apart, one for those that have most."""
    kept = list(placed)
    while prod(map(len, kept)) > PLACEMENTS:
        most = max(range(len(kept)), key=lambda number: len(kept[number]))
        kept[most] = kept[most][:1]
    return tuple(tuple(chain.from_iterable(way)) for way in product(*kept)) if kept else ()


def _is_about_shared(address: int) -> bool:
    """Whether an address is in the window of shared memory, or so little in front that nothing else is meant."""
    return SHARED_BASE - (1 << 31) <= address < LOCAL_BASE


def _does(site: Site) -> str:
    """As `MarkedAccess.does` has it, one letter."""
    plain = {SiteKind.READ: "r", SiteKind.WRITE: "w"}.get(site.kind, "a")
    return plain if site.order == "weak" or site.volatile else "a"


def _is_access(site: Site) -> bool:
    return site.kind in (SiteKind.READ, SiteKind.WRITE, SiteKind.ATOMIC)


def _coordinates(number: int, size: Dim3) -> Dim3:
    return number % size[0], number // size[0] % size[1], number // (size[0] * size[1])


def entry_named(module: model.Module, name: str) -> str:
    """The PTX name of a kernel: `name` itself, or the only one that is called so: compilers name
    the same types and unnamed namespaces differently. Raises KeyError."""
    entries = [function.name for function in module.functions if function.kind == "entry" and function.body is not None]
    if name in entries:
        return name
    plain = base_name(name) if name.startswith("_Z") else re.sub(r"<.*", "", name).split("::")[-1]
    found = [entry for entry in entries if base_name(entry) == plain]
    if len(found) != 1:
        raise KeyError(name)
    return found[0]
