"""Elements of tensors that a kernel gets as accessors: different indices mean different cells.

``accessor[i][j]`` goes to ``data + i * stride(0) + j * stride(1)``, with strides that the launch does not fix. The
elements of a tensor are cells of their own, unless it is an expanded view, which no kernel can write to in a sensible
way: an assumption, listed. So two places of one accessor are one only where all their indices are equal.
"""

from __future__ import annotations

from analyzers.ir import expr as E
from analyzers.ir.events import KernelEvents
from analyzers.ir.expr import I64, Expr, IntType
from analyzers.races.pairs import Pair
from analyzers.races.threads import Launch, Mode

OWN_CELLS = (
    "the elements of a tensor that a kernel gets as an accessor are cells of their own (it is no expanded view, and "
    "indices are less than its sizes)"
)
_STRIDES = ".__strides"
"""How the member of an accessor with the strides is named: no name of a user's."""


def uses_accessors(events: KernelEvents) -> bool:
    """The kernel writes elements of a tensor through an accessor."""
    return any(a.writes and a.root.op == "addr" and _dimensions(events, a.root.value) for a in events.accesses)


def own_cells(launch: Launch, pair: Pair, mode: Mode) -> list[Expr]:
    """What holds where accesses of one width meet at the first byte of both: that they are of one element."""
    root = pair.one.root
    if root is not pair.two.root or root.op != "addr" or pair.one.width != pair.two.width:
        return []
    dimensions = _dimensions(launch.events, root.value)
    if not dimensions:
        return []
    one, two = (_indices(place.offset, root.value, pair.one.width) for place in (pair.first, pair.second))
    if one is None or two is None:
        return []
    zero = E.const(0, I64)
    return [
        E.compare("eq", launch.side(one.get(k, zero), 1, mode), launch.side(two.get(k, zero), 2, mode))
        for k in range(dimensions)
    ]


def _dimensions(events: KernelEvents, data: str) -> int:
    """Of the tensor whose elements are in the object, 0 where it is none."""
    name = _strides_of(data)
    found = next((o for o in events.kernel.objects if o.name == name), None) if name else None
    return found.extents[0] if found is not None and found.extents else 0


def _strides_of(data: str) -> str:
    return data.removesuffix(".data_") + _STRIDES if data.endswith(".data_") else ""


def _indices(offset: Expr, data: str, width: int) -> dict[int, Expr] | None:
    """By dimension: the index (I64) that stands beside its stride. None where the offset is anything else."""
    out: dict[int, Expr] = {}
    todo = [(offset, 1)]
    while todo:
        e, scale = todo.pop()
        if e.op == "const" and e.value == 0:
            continue
        if e.op == "add":
            todo += [(a, scale) for a in e.args]
            continue
        if e.op == "cast" and e.ty == I64 and isinstance(e.args[0].ty, IntType) and e.args[0].ty.signed:
            todo.append((e.args[0], scale))
            continue
        factors = e.args if e.op == "mul" else (e, E.const(1, I64))
        constant = next((f for f in factors if f.op == "const"), None)
        dimension = next((d for f in factors if (d := _dimension(f, data)) is not None), None)
        if dimension is not None and scale == width and isinstance(e.ty, IntType) and e.ty.signed:
            rest = [f for f in factors if _dimension(f, data) is None]
            index = E.cast(rest[0], I64) if len(rest) == 1 else None
            if index is None or dimension in out or any(_dimension(s, data) is not None for s in E.symbols(index)):
                return None
            out[dimension] = index
        elif e.op == "mul" and constant is not None:
            other = factors[1] if factors[0] is constant else factors[0]
            todo.append((other, scale * int(constant.value)))
        else:
            return None
    return out


def _dimension(e: Expr, data: str) -> int | None:
    """The dimension whose stride ``e`` is."""
    while e.op == "cast" and isinstance(e.args[0].ty, IntType) and e.args[0].ty.signed:
        e = e.args[0]
    if e.op != "opaque" or not str(e.value[0]).startswith(f"mem:{_strides_of(data)}:") or len(e.args) != 1:
        return None
    at, size = e.args[0], e.ty.width // 8 if isinstance(e.ty, IntType) else 0
    return int(at.value) // size if at.op == "const" and size and at.value % size == 0 else None
