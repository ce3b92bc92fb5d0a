"""From solver values to two concrete threads: the witness a user sees and the launch the reference replays.

Values the question did not mention are completed with the smallest that fit the launch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate
from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import Expr, IntType
from analyzers.model import Access, Dim3, Witness
from analyzers.races.threads import MAX_BLOCK, WARP, Launch, Mode


@dataclass(frozen=True, slots=True)
class Concrete:
    """A launch and two of its threads, all numbers."""

    grid: Dim3
    block: Dim3
    blocks: tuple[Dim3, Dim3]
    threads: tuple[Dim3, Dim3]
    parameters: dict[str, int]
    """Scalar kernel parameters by name."""
    host: dict[str, int]
    """Host values by display name."""
    ranks: dict[str, int]
    """Threads of groups that act for all, by symbol."""
    values: Mapping[Expr, int]
    """The solver's values, completed."""


def concretize(launch: Launch, values: Mapping[Expr, int], mode: Mode, roots: tuple[Expr, ...] = ()) -> Concrete:
    """Complete ``values``: dimensions large enough for both threads, parameters evaluated from host values."""
    full = launch.completed(values)
    _fill_dimensions(launch, full, mode)
    for e in [*roots, *(launch.bind(s) for s in _parameters(launch).values())]:
        for s in E.symbols(e):
            full.setdefault(s, _default(launch, s))
    parameters: dict[str, int] = {}
    for name, symbol in _parameters(launch).items():
        value = evaluate(launch.bind(symbol), full)
        parameters[name] = value if value is not None else 1
    host = {_host_name(s): v for s, v in full.items() if s.op == "sym" and str(s.value).startswith("host:")}
    ranks = {str(s.value): v for s, v in full.items() if s.op == "sym" and str(s.value).startswith("rank:")}
    grid = _dims(launch, E.GDIM, full)
    block = _dims(launch, E.BDIM, full)
    threads = (_coordinates(launch, E.TID, 1, mode, full), _coordinates(launch, E.TID, 2, mode, full))
    blocks = (_coordinates(launch, E.BID, 1, mode, full), _coordinates(launch, E.BID, 2, mode, full))
    return Concrete(grid, block, blocks, threads, parameters, host, ranks, full)


def _parameters(launch: Launch) -> dict[str, Expr]:
    return {
        p.name: E.sym(f"param:{p.name}", p.ty) for p in launch.events.kernel.parameters if isinstance(p.ty, IntType)
    }


def _host_name(s: Expr) -> str:
    return str(s.value).split(":", 2)[-1]


def _default(launch: Launch, s: Expr) -> int:
    low, high = launch.ranges.get(s, (s.ty.low, s.ty.high) if isinstance(s.ty, IntType) else (0, 0))
    return min(max(1, low), high) if s.op == "sym" else min(max(0, low), high)


def _fill_dimensions(launch: Launch, full: dict[Expr, int], mode: Mode) -> None:
    for axis in range(3):
        for coordinate, dim in ((E.TID, E.BDIM), (E.BID, E.GDIM)):
            sides = [launch.side(coordinate[axis], t, mode) for t in (1, 2)]
            for s in sides:
                full.setdefault(s, 0)
            bound = launch.bind(dim[axis])
            if bound.op == "sym":
                needed = max(full[s] for s in sides) + 1
                if bound not in full:
                    low = launch.ranges.get(bound, (1, MAX_BLOCK[axis]))[0]
                    full[bound] = max(needed, low)
            else:
                for s in E.symbols(bound):
                    full.setdefault(s, _default(launch, s))


def _dims(launch: Launch, dims: tuple[Expr, ...], full: Mapping[Expr, int]) -> Dim3:
    x, y, z = (max(1, evaluate(launch.bind(d), full) or 1) for d in dims)
    return (x, y, z)


def _coordinates(launch: Launch, axes: tuple[Expr, ...], thread: int, mode: Mode, full: Mapping[Expr, int]) -> Dim3:
    x, y, z = (full.get(launch.side(a, thread, mode), 0) for a in axes)
    return (x, y, z)


def lane_beside(concrete: Concrete, event: AccessEvent) -> Dim3:
    """A lane that touches what the first thread names at ``event`` and is another one: of the four that hold the row,
    or the column, the first such."""
    width, height, _ = concrete.block
    x, y, z = concrete.threads[0]
    number = x + width * (y + height * z)
    row = number % WARP % 8
    touching = [4 * row + i for i in range(4)] if event.lanes == "rows" else [row // 2 + 4 * i for i in range(8)]
    lane = next(n for n in touching if n != number % WARP)
    other = number - number % WARP + lane
    return (other % width, other // width % height, other // width // height)


def access_of(launch: Launch, event: AccessEvent, concrete: Concrete, thread: int, mode: Mode) -> Access:
    """One side of a finding, with the iterations its thread is in."""
    loops = launch.events.loops
    iterations: list[tuple[str, int]] = []
    for label in event.loops:
        loop = loops[label]
        value = concrete.values.get(launch.side(loop.counter, thread, mode))
        if value is not None:
            iterations.append((loop.site.text or "loop", value))
    return Access(
        id=event.id,
        span=event.site.span,
        kind=event.kind,
        width=event.width,
        text=event.site.text,
        block=concrete.blocks[thread - 1],
        thread=concrete.threads[thread - 1],
        iterations=tuple(iterations),
        calls=event.site.calls,
    )


def address_text(display: str, offset: int | None, element: int, extents: tuple[int, ...], declared: bool) -> str:
    """The cell as a user would write it: ``tile[1][3]``, ``out[7]``, ``buf + 5 bytes``."""
    if offset is None:
        return display
    if (element > 1 and offset % element == 0) or element == 1:
        index = offset // max(element, 1)
        if declared and not extents:
            return display if index == 0 else f"{display} + {offset} bytes"
        if len(extents) > 1 and index >= 0:
            parts: list[int] = []
            for extent in reversed(extents[1:]):
                parts.append(index % extent)
                index //= extent
            parts.append(index)
            return display + "".join(f"[{p}]" for p in reversed(parts))
        return f"{display}[{index}]"
    return f"{display} + {offset} bytes"


def data_of(values: Mapping[Expr, int]) -> tuple[tuple[str, int], ...]:
    """Memory contents that the collision depends on, as far as they can be named."""
    out: dict[str, int] = {}
    for s, v in values.items():
        if s.op != "opaque":
            continue
        identity: str = s.value[0]
        if identity.startswith(("mem:", "load:")):
            name = identity.split(":")[1] if identity.startswith("mem:") else identity.split(":")[2].split("@")[0]
            index = evaluate(s.args[0], values) if s.args else None
            out.setdefault(f"{name} + {index} bytes" if index is not None else name, v)
    return tuple(out.items())


def witness_of(concrete: Concrete, address: str, replayed: bool) -> Witness:
    return Witness(
        grid=concrete.grid,
        block=concrete.block,
        parameters=tuple(sorted({**concrete.host, **concrete.parameters}.items())),
        address=address,
        data=data_of(concrete.values),
        replayed=replayed,
    )
