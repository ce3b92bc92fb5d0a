"""Objects that outlive a call: constants and shared memory."""

from __future__ import annotations

from analyzers.frontend.lowering import memory
from analyzers.frontend.lowering.context import Context, zero
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.literals import constant
from analyzers.frontend.lowering.nodes import Kinds, Node, initializer, stripped
from analyzers.frontend.lowering.places import MemPlace, Place, TablePlace, ValuePlace
from analyzers.ir.expr import I64, U64, Expr, addr, const
from analyzers.ir.kernel import MemObject

STATIC = 3  # CX_SC_Static


EXTERN = 2  # CX_SC_Extern


def is_constant(variable: Node) -> bool:
    ctype = variable.type
    while ctype.shape == "array" and not ctype.const:
        ctype = ctype.element
    return ctype.const


def constant_place(ctx: Context, variable: Node) -> Place | None:
    """The place of a constant whose value the source gives."""
    ctype = variable.type
    if ctype.scalar and ctype.ir is not None:
        found = constant(variable.evaluated(), ctype.ir)
        if found is None:
            init = initializer(variable)
            found = constant(init.evaluated(), ctype.ir) if init is not None else None
        if found is not None:
            return ValuePlace(found, ctype)
        return _initialised_constant(ctx, variable)
    if ctype.shape == "array":
        init = initializer(variable)
        inner, extents = ctype.flat()
        total = 1
        for extent in extents:
            total *= extent
        if init is None or not inner.scalar or not 0 < total <= 4096:
            return None
        values: list[Expr] = []
        if not _constants(stripped(init), ctype, values):
            return None
        values.extend([zero(inner.ir or U64)] * (total - len(values)))
        name = ctx.object(variable.name, "constant", ctype, read_only=True, span=variable.span)
        return TablePlace(tuple(values), const(0, I64), ctype, addr(name))
    if ctype.shape == "record":
        return _initialised_constant(ctx, variable)
    return None


def _initialised_constant(ctx: Context, variable: Node) -> Place | None:
    """A namespace-scope constant of class type or with a computed initialiser, evaluated where it is used."""
    init = initializer(variable)
    if init is None:
        return None
    value = ctx.value(init)
    if isinstance(value, Expr):
        return ValuePlace(memory.convert_scalar(ctx, value, variable.type.ir or U64), variable.type)
    return value


def _constants(init: Node, ctype: CType, out: list[Expr]) -> bool:
    """Append the values of a constant initialiser of an array in row-major order."""
    inner = ctype.element
    if init.kind != Kinds.INIT_LIST:
        return False
    start = len(out)
    width = 1
    for extent in inner.flat()[1]:
        width *= extent
    for kid in init.kids:
        bare = stripped(kid)
        if inner.shape == "array" and bare.kind == Kinds.INIT_LIST:
            before = len(out)
            if not _constants(bare, inner, out):
                return False
            out.extend([zero(inner.flat()[0].ir or U64)] * (width - (len(out) - before)))
        else:
            found = constant(kid.evaluated(), inner.flat()[0].ir or U64)
            if found is None:
                return False
            out.append(found)
    return len(out) - start <= width * (ctype.count or 0)


def declare_shared(ctx: Context, variable: Node) -> Place:
    """A ``__shared__`` variable: one object per kernel, however often its function is inlined."""
    known = ctx.globals.get(variable.key)
    if known is not None:
        return known
    ctype = variable.type
    if (ctype.shape == "array" and ctype.count is None) or variable.cursor.storage_class.value == EXTERN:
        place = MemPlace(addr(_dynamic_object(ctx, variable)), ctype)
    else:
        name = ctx.object(variable.name or "shared", "shared", ctype, span=variable.span)
        place = MemPlace(addr(name), ctype)
    ctx.globals[variable.key] = place
    return place


def _dynamic_object(ctx: Context, variable: Node) -> str:
    for known in ctx.objects.values():
        if known.kind == "dynamic":
            return known.name
    inner, _ = variable.type.flat()
    name = ctx.name(variable.name)
    ctx.objects[name] = MemObject(
        name, "shared", "dynamic", None, max(inner.size, 1), (), variable.name, span=variable.span, gaps=inner.gaps()
    )
    return name
