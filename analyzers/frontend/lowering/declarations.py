"""Declaration statements: locals, structured bindings, references."""

from __future__ import annotations

from analyzers.frontend.lowering import class_values, constructors, function_variables, memory
from analyzers.frontend.lowering.context import Context, is_stable, zero
from analyzers.frontend.lowering.designators import held_place
from analyzers.frontend.lowering.initialisation import elided, initialise
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.nodes import Kinds, Node, initializer, stripped
from analyzers.frontend.lowering.places import (
    Closure,
    EitherPlace,
    FunctionPlace,
    MemPlace,
    Place,
    RecordValue,
    SplitPlace,
    ValuePlace,
)
from analyzers.frontend.lowering.static_objects import EXTERN, STATIC, constant_place, declare_shared, is_constant
from analyzers.ir.expr import I64, U64, Expr, const


def declare(ctx: Context, variable: Node) -> None:
    """A variable declaration inside a function."""
    kinds = {k.kind for k in variable.kids} if variable.kids else set[int]()
    if Kinds.SHARED_ATTR in kinds:
        declare_shared(ctx, variable)
        return
    if variable.cursor.storage_class.value in (STATIC, EXTERN):
        return  # found by `unbound_variable` where it is used
    declare_local(ctx, variable)


def declare_local(ctx: Context, variable: Node) -> None:
    ctype = variable.type
    init = initializer(variable)
    frame = ctx.frame
    if ctype.shape == "reference":
        frame.bindings[variable.key] = bound_reference(ctx, ctype, init, variable)
        return
    class_values.check_destructor(ctx, ctype, variable)
    if ctype.shape == "array" and ctype.count is None:
        ctx.unsupported("variable-length-array", variable.text[:60], variable)
    if init is None:
        pointed = function_variables.declared(ctx, variable, None) if ctype.shape == "pointer" else None
        frame.bindings[variable.key] = pointed or class_values.storage(
            ctx, ctype, variable.name or "v", variable.key, variable
        )
        return
    if ctype.scalar:
        _declare_scalar(ctx, variable, init)
        return
    if ctype.shape == "array" and is_constant(variable) and variable.key not in ctx.forced:
        table = constant_place(ctx, variable)
        if table is not None:
            frame.bindings[variable.key] = table
            return
    bare = elided(stripped(init))
    adopts = not constructors.is_construction(bare) or constructors.copies_temporary(bare)
    if ctype.shape == "record" and bare.kind != Kinds.INIT_LIST and adopts:
        value = ctx.value(init)
        adopted = _adopted(ctx, value, variable)
        if adopted is not None:
            frame.bindings[variable.key] = adopted
            return
        target = class_values.storage(ctx, ctype, variable.name or "v", variable.key, variable)
        if isinstance(value, Expr):
            value = memory.as_place(ctx, value, init)
        if value is not None:
            class_values.copy(ctx, target, value, variable, init)
        frame.bindings[variable.key] = target
        return
    target = class_values.storage(ctx, ctype, variable.name or "v", variable.key, variable)
    frame.bindings[variable.key] = target
    initialise(ctx, target, init, variable)


def _adopted(ctx: Context, value: object, variable: Node) -> Place | None:
    """A function object or group is the variable; so is a class value just made by a call."""
    if isinstance(value, (Closure, FunctionPlace)):
        return value
    if isinstance(value, SplitPlace) and value.key is None and not value.offset and variable.key not in ctx.forced:
        return SplitPlace(value.names, variable.type, variable.key)
    return None


def _declare_scalar(ctx: Context, variable: Node, init: Node) -> None:
    ctype = variable.type
    frame = ctx.frame
    raw = ctx.value(init)
    if isinstance(raw, (FunctionPlace, Closure)):
        again = function_variables.declared(ctx, variable, raw) if isinstance(raw, FunctionPlace) else None
        frame.bindings[variable.key] = again or raw
        return
    value = (
        raw
        if isinstance(raw, Expr)
        else zero(ctype.ir or U64)
        if raw is None
        else class_values.scalar_of(ctx, raw, init)
    )
    value = memory.convert_scalar(ctx, value, ctype.ir or value.ty)
    kept = value.op == "const" or (_is_address(value) and is_stable(value))
    if (
        kept
        and (ctype.const or variable.key not in frame.written)
        and not ctype.volatile
        and not ctx.needs_storage(variable.key)
    ):
        frame.bindings[variable.key] = ValuePlace(value, ctype, variable.key)
        return
    target = class_values.storage(ctx, ctype, variable.name or "v", variable.key, variable)
    frame.bindings[variable.key] = target
    memory.write(ctx, target, value, variable)


def declare_bindings(ctx: Context, node: Node) -> None:
    """A structured binding of an array or of a class's data members."""
    names = [k for k in node.kids if k.kind == Kinds.UNEXPOSED_DECL]
    given = [k for k in node.kids if 100 <= k.kind < 200]
    if not names or not given:
        return
    init = given[-1]
    ctype = node.type
    if ctype.shape == "reference":
        whole = bound_reference(ctx, ctype, init, node)
    else:
        whole = class_values.storage(ctx, ctype, "binding", node.key, node)
        initialise(ctx, whole, init, node)
    parts = _binding_parts(ctx, whole, node)
    if len(parts) != len(names):
        ctx.unsupported("statement", f"structured binding {node.text[:60]!r}", node)
    for name, part in zip(names, parts, strict=False):
        ctx.frame.bindings[name.key] = part


def _binding_parts(ctx: Context, whole: Place, node: Node) -> list[Place]:
    ctype = whole.type
    if ctype.shape == "array":
        return [memory.element(ctx, whole, const(i, I64), node) for i in range(ctype.count or 0)]
    if ctype.shape != "record":
        return []
    record = ctype.record
    if not record.fields and len(record.bases) == 1:
        return _binding_parts(ctx, memory.base_part(ctx, whole, record.bases[0][0], node), node)
    if len(record.fields) == 1 and record.fields[0].type.shape == "array":  # std::array
        return _binding_parts(ctx, memory.member(ctx, whole, record.fields[0], node), node)
    return [memory.member(ctx, whole, field, node) for field in record.fields]


def _is_address(value: Expr) -> bool:
    """Whether an integer is an address in disguise: kept as it is, so that the pointer can be found again."""
    while value.op in ("cast", "add") and value.args:
        value = value.args[0]
    return value.op == "call" and value.value == "ptrtoint"


def bound_reference(ctx: Context, ctype: CType, init: Node | None, at: Node) -> Place:
    """What a reference variable or parameter stands for."""
    target = ctype.element
    if init is None:
        return memory.as_place(ctx, ctx.unknown_value(target, "unbound reference", at), at)
    place = held_place(ctx, ctx.place(init))
    if _is_bit_field(place) and target.scalar:
        # A reference to a constant is bound to a copy of a bit-field (C++ [dcl.init.ref]).
        place = ValuePlace(memory.read(ctx, place, init), target)
    if isinstance(place, ValuePlace) and place.key is None:
        if is_stable(place.value) and target.const:
            return place
        kept = class_values.storage(ctx, target, at.name or "temporary", at.key, at)
        memory.write(ctx, kept, memory.convert_scalar(ctx, place.value, target.ir or place.value.ty), at)
        return kept
    if isinstance(place, RecordValue) and place.key is None and not target.const:
        kept = class_values.storage(ctx, target, at.name or "temporary", at.key, at)
        class_values.copy(ctx, kept, place, at)
        return kept
    return place


def _is_bit_field(place: Place) -> bool:
    if isinstance(place, EitherPlace):
        return _is_bit_field(place.first) or _is_bit_field(place.other)
    return isinstance(place, MemPlace) and place.bits is not None
