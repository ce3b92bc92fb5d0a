"""Reads and writes of surface objects and references (CUDA C++ Programming Guide, "Surface Memory").

The first coordinate is in bytes; one between two elements may be rounded down. A coordinate outside of the surface
makes no access: by default the kernel stops there, with ``cudaBoundaryModeZero`` it goes on. With
``cudaBoundaryModeClamp``
the nearest cell is meant, and as nobody here knows how large the surface is, that may be any.
"""

from __future__ import annotations

import re
from zlib import crc32

from analyzers.frontend.lowering import class_values, memory
from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.designators import pointee
from analyzers.frontend.lowering.intrinsics import INTRINSICS
from analyzers.frontend.lowering.invocation import Call
from analyzers.frontend.lowering.nodes import Kinds, Node, stripped
from analyzers.frontend.lowering.places import RecordValue, Value
from analyzers.ir.expr import I32, I64, U64, Expr, IntType, cast, compare, const, land, ptradd
from analyzers.ir.kernel import If, Load, Store
from analyzers.ir.surfaces import DISTINCT, surface_row

_AXES = {"1D": 1, "2D": 2, "3D": 3, "1DLayered": 2, "2DLayered": 3, "Cubemap": 3, "CubemapLayered": 3}
_LAYERED_ROW = frozenset({"1DLayered"})
"""The second coordinate is the layer."""
_CLAMP = 1
_NAME = re.compile(r"surf(\w+?)(read|write)")


def access(ctx: Context, call: Call) -> Value:
    found = _NAME.fullmatch(call.name)
    assert found is not None
    form, kind = found.groups()
    ahead = call.args[0] if kind == "write" or call.args[0].type.shape == "pointer" else None
    handle, *others = call.args if ahead is None else call.args[1:]
    axes = _AXES[form]
    if len(others) < axes:
        return ctx.unsupported_value("surface", f"cannot read {call.node.text[:60]!r}", call.node)
    surface = _handle(ctx, handle)
    if surface is None:
        return ctx.unsupported_value("surface", f"which surface {call.node.text[:60]!r} means is not known", call.node)
    ctype = call.node.type if ahead is None else ahead.type if kind == "write" else ahead.type.element
    value = ctx.value(ahead) if ahead is not None and kind == "write" else None
    target = pointee(ctx, ahead) if ahead is not None and kind == "read" else None
    coordinates = [ctx.held(cast(ctx.scalar(a), I64)) for a in others[:axes]]
    if _clamps(ctx, others[axes:]):
        coordinates = [ctx.havoc(I64, "a clamped coordinate", call.node) for _ in coordinates]
    zero = const(0, I64)
    x, row, layer = (
        (*coordinates, zero, zero)[:3] if form not in _LAYERED_ROW else (coordinates[0], zero, coordinates[1])
    )
    pointer = ptradd(surface_row(surface, row, layer), x)
    width, site = max(ctype.size, 1), ctx.site(call.node)
    ctx.assumptions[DISTINCT] = None
    with ctx.branch() as inside:
        if kind == "write":
            written = value if isinstance(value, Expr) else ctx.havoc(memory.DATA, "a texel", call.node)
            ctx.emit(Store(ctx.id(), pointer, written, width, site))
        else:
            loaded = ctx.temporary(memory.DATA, "texel")
            ctx.emit(Load(ctx.id(), loaded.value, memory.DATA, pointer, width, site))
    within = land(*(compare("le", zero, c) for c in coordinates))
    ctx.emit(If(within, tuple(inside), (), site))
    if kind == "write":
        return None
    # Outside of the surface the result is zero: any value.
    leaves = ctype.leaves() or ()
    made = {at: ctx.havoc(leaf.ir or U64, "a texel", call.node) for at, leaf in leaves}
    if target is not None and ahead is not None:
        if target.type.scalar and made:
            memory.write(ctx, target, made[0], ahead)
        else:
            class_values.store_leaves(ctx, target, made, ahead)
        return None
    if ctype.ir is not None:
        return made.get(0) or ctx.havoc(ctype.ir, "a texel", call.node)
    return RecordValue(made, ctype)


def _handle(ctx: Context, node: Node) -> Expr | None:
    """The number of a surface object; for a reference, which is a variable, one made from its name."""
    if node.type.scalar:
        return cast(ctx.scalar(node), U64)
    inner = stripped(node)
    while inner.kind in (Kinds.UNEXPOSED, Kinds.CALL) and len(inner.kids) == 1:
        inner = stripped(inner.kids[0])
    target = inner.reference if inner.kind == Kinds.DECL_REF else None
    return const(crc32(target.name.encode()), U64) if target is not None else None


def _clamps(ctx: Context, modes: list[Node]) -> bool:
    given = [m for m in modes if m.kids or m.evaluated() is not None]
    if not given:
        return False
    mode = ctx.scalar(given[0])
    mode = cast(mode, I32) if isinstance(mode.ty, IntType) else mode
    return mode.op != "const" or mode.value == _CLAMP


for _form in _AXES:
    for _kind in ("read", "write"):
        INTRINSICS[f"surf{_form}{_kind}"] = access
