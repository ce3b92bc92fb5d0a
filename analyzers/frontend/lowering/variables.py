"""Variables that no declaration statement of the current calls has made: globals, coordinates, statics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from analyzers.frontend.cindex import scope_of
from analyzers.frontend.lowering.context import VARIABLE_OF, Context
from analyzers.frontend.lowering.declarations import declare_local
from analyzers.frontend.lowering.literals import constant
from analyzers.frontend.lowering.nodes import Kinds, Node, initializer, stripped
from analyzers.frontend.lowering.places import MemPlace, Place, RecordValue, ValuePlace
from analyzers.frontend.lowering.static_objects import STATIC, constant_place, declare_shared, is_constant
from analyzers.ir.expr import BDIM, BID, GDIM, I32, TID, U64, Expr, addr, cast, const

_COORDINATES = {"threadIdx": TID, "blockIdx": BID, "blockDim": BDIM, "gridDim": GDIM}


_FUNCTION_CURSORS = frozenset({Kinds.FUNCTION, Kinds.METHOD, Kinds.CONSTRUCTOR, Kinds.CONVERSION})


def unbound_variable(ctx: Context, variable: Node, use: Node) -> Place:
    """The place of a variable that no declaration statement of the current calls has made."""
    known = ctx.globals.get(variable.key)
    if known is not None:
        return known
    return _unbound(ctx, variable, use)


VARIABLE_OF.append(unbound_variable)


def _unbound(ctx: Context, variable: Node, use: Node) -> Place:
    name = variable.name
    coordinates = _COORDINATES.get(name)
    if coordinates is not None and _is_global(variable.cursor):
        place: Place = _coordinates(ctx, variable, coordinates)
        ctx.globals[variable.key] = place
        return place
    if name == "warpSize" and variable.type.scalar:
        return ValuePlace(const(32, I32), variable.type)
    kinds = {k.kind for k in variable.kids}
    if variable.kind == Kinds.UNEXPOSED_DECL:
        return _template_variable(ctx, variable, kinds, use)
    if Kinds.SHARED_ATTR in kinds:
        return declare_shared(ctx, variable)
    local = variable.cursor.semantic_parent
    inside = local is not None and local._kind_id in _FUNCTION_CURSORS
    if inside and variable.cursor.storage_class.value != STATIC and not is_constant(variable):
        # libclang leaves out the initialiser statement of a switch: the declaration comes to light at its use.
        declare_local(ctx, variable)
        found = ctx.frame.lookup(variable.key)
        if found is not None:
            return found
    place = _static(ctx, variable, kinds, use)
    ctx.globals[variable.key] = place
    return place


def _is_global(variable: Any) -> bool:
    scope = scope_of(variable)
    return scope is not None and scope.kind.is_translation_unit()


def _template_variable(ctx: Context, variable: Node, kinds: set[int], use: Node) -> Place:
    """An instance of a variable template: libclang gives it no kind of its own, the use has its type."""
    ctype = use.type
    if ctype.scalar and ctype.const:
        found = constant(use.evaluated(), ctype.ir or I32)
        if found is not None:
            return ValuePlace(found, ctype)
    text = variable.text
    constant_memory = Kinds.CONSTANT_ATTR in kinds or "__constant__" in text
    name = ctx.object(variable.name or "variable", "constant" if constant_memory else "global", ctype,
                      read_only=constant_memory or ctype.const, span=variable.span)  # fmt: skip
    if "=" in text or "{" in text:
        ctx.objects[name] = replace(ctx.objects[name], preset=True)
    place = MemPlace(addr(name), ctype)
    ctx.globals[variable.key] = place
    return place


def _coordinates(ctx: Context, variable: Node, values: tuple[Expr, ...]) -> Place:
    ctype = variable.type
    leaves = ctype.leaves() if ctype.shape == "record" else None
    if not leaves or len(leaves) != 3:
        return RecordValue({0: values[0], 4: values[1], 8: values[2]}, ctype)
    return RecordValue({at: cast(v, leaf.ir or U64) for (at, leaf), v in zip(leaves, values, strict=True)}, ctype)


def _static(ctx: Context, variable: Node, kinds: set[int], use: Node) -> Place:
    ctype = variable.type
    if is_constant(variable):
        found = constant_place(ctx, variable)
        if found is not None:
            return found
    if ctype.shape == "reference":
        init = initializer(variable)
        if init is not None:
            return ctx.place(init)
    space = "global" if Kinds.DEVICE_ATTR in kinds or not is_constant(variable) else "constant"
    if Kinds.CONSTANT_ATTR in kinds:
        space = "constant"
    read_only = space == "constant" or is_constant(variable)
    name = ctx.object(variable.name or "variable", space, ctype, read_only=read_only, span=variable.span)
    init = initializer(variable)
    if init is not None and not _is_zero(init):
        ctx.objects[name] = replace(ctx.objects[name], preset=True)
    return MemPlace(addr(name), ctype)


def _is_zero(init: Node) -> bool:
    """An initialiser that says zero, or nothing: `0`, `{}`, `{0, 0}`, a constructor without other arguments."""
    value = init.evaluated()
    if value is not None:
        return value == 0
    bare = stripped(init)
    if bare.kind not in (Kinds.INIT_LIST, Kinds.CALL):
        return bare is not init and _is_zero(bare)
    return all(_is_zero(kid) for kid in bare.kids if kid.cursor.kind.is_expression())
