"""Objects as wholes: storage for them, copies, their scalars, addresses of values that have no storage.

A class of floats moves between memory and variables as one access of its full width, as the hardware does it: the
value is data, taken apart by the pure functions ``lane`` and put together by ``pack``. Classes with integers or
pointers move scalar by scalar, so that those stay exact.
"""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.frontend.lowering.context import ADDRESS_OF, SCALAR_OF, UNKNOWN_RECORD, Context, pure, zero
from analyzers.frontend.lowering.kernel_parameters import base_of_parameter, parameter_memory, parameter_value
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.memory import DATA, convert_scalar, load, member, read, store, write
from analyzers.frontend.lowering.nodes import Node
from analyzers.frontend.lowering.places import (
    Closure,
    EitherPlace,
    FunctionPlace,
    MemPlace,
    ParamPlace,
    Place,
    RecordValue,
    SplitPlace,
    TablePlace,
    ValuePlace,
    VarPlace,
)
from analyzers.ir.expr import I64, PTR, U64, Expr, FloatType, addr, const, make, ptradd, select, var

#: Class and array values with more scalars than this are copied as one opaque access.
COPY_LIMIT = 64


def scalar_of(ctx: Context, place: Place, node: Node) -> Expr:
    """A scalar for a value that is none: a pointer to it, or unknown data."""
    ty = node.type.ir
    if isinstance(place, (FunctionPlace, Closure)):
        return addr(f"?{type(place).__name__}") if ty == PTR else ctx.havoc(ty or U64, "function or group", node)
    if place.type.scalar:
        return read(ctx, place, node)
    leaves = leaf_values(ctx, place, node)
    if leaves and len(leaves) == 1 and ty is not None:
        return convert_scalar(ctx, next(iter(leaves.values())), ty)
    return ctx.havoc(ty or U64, f"value of {place.type.spelling}", node)


SCALAR_OF.append(scalar_of)


def address(ctx: Context, place: Place, node: Node) -> Expr:
    """A pointer to the object; a local that lived in variables is given memory in the next round."""
    if isinstance(place, (MemPlace, TablePlace)):
        return place.pointer
    if isinstance(place, (VarPlace, SplitPlace)):
        if isinstance(place, SplitPlace) and place.key is None:
            return _materialised(ctx, place, node)
        ctx.force(place.key)
        return addr("?forced")
    if isinstance(place, EitherPlace):
        return select(place.condition, address(ctx, place.first, node), address(ctx, place.other, node))
    if isinstance(place, (ValuePlace, RecordValue, ParamPlace)):
        if place.key is not None:
            ctx.force(place.key)
            return addr("?forced")
        return _materialised(ctx, place, node)
    return addr(f"?{type(place).__name__}")


ADDRESS_OF.append(address)


def _materialised(ctx: Context, place: Place, node: Node) -> Expr:
    """A pointer to a local copy of a value that has no storage."""
    name = ctx.object("temporary", "local", place.type, span=node.span)
    target = MemPlace(addr(name), place.type)
    if place.type.scalar:
        write(ctx, target, read(ctx, place, node), node)
    else:
        copy(ctx, target, place, node)
    return addr(name)


def storage(ctx: Context, ctype: CType, hint: str, key: object, node: Node) -> Place:
    """Fresh storage for a local object."""
    check_destructor(ctx, ctype, node)
    forced = key in ctx.forced
    if ctype.scalar and not forced:
        return VarPlace(ctx.born(hint), ctype, key)
    if ctype.shape == "record" and not forced and ctype.record.splittable:
        leaves = ctype.leaves() or ()
        labels = _leaf_labels(ctype)
        return SplitPlace({at: ctx.born(f"{hint}.{labels.get(at, at)}") for at, _ in leaves}, ctype, key)
    name = ctx.object(hint, "local", ctype, span=node.span)
    return MemPlace(addr(name), ctype)


def check_destructor(ctx: Context, ctype: CType, node: Node) -> None:
    """The end of an object is not followed: give up where it runs code."""
    inner = ctype.flat()[0]
    if inner.shape == "record" and inner.record.has_destructor():
        ctx.unsupported("destructor", f"{inner.spelling} has a destructor with effects", node)


def _leaf_labels(ctype: CType, start: int = 0, prefix: str = "") -> dict[int, str]:
    labels: dict[int, str] = {}
    for base, offset in ctype.record.bases:
        labels.update(_leaf_labels(base, start + offset, prefix))
    for part in ctype.record.fields[:1] if ctype.record.union else ctype.record.fields:
        label = f"{prefix}{part.name or part.offset}"
        if part.type.shape == "record" and not part.name:
            labels.update(_leaf_labels(part.type, start + part.offset, prefix))
        elif part.type.shape == "record":
            labels.update(_leaf_labels(part.type, start + part.offset, f"{label}."))
        elif part.type.shape == "array":
            for at, _ in part.type.leaves() or ():
                labels[start + part.offset + at] = f"{label}+{at}"
        else:
            labels[start + part.offset] = label
    return labels


def part_at(ctx: Context, place: Place, offset: int, leaf: CType) -> Place:
    """The scalar at a byte offset of a class or array object."""
    if isinstance(place, MemPlace):
        pointer = ptradd(place.pointer, const(offset, I64)) if offset else place.pointer
        within = place.within or (place.type if place.type.shape == "record" else None)
        return MemPlace(pointer, leaf, place.bounds, None, place.volatile, place.alignment.moved(offset), within)
    if isinstance(place, SplitPlace):
        return SplitPlace(place.names, leaf, place.key, place.offset + offset)
    if isinstance(place, RecordValue):
        return RecordValue(place.leaves, leaf, place.key, place.offset + offset)
    raise TypeError(type(place).__name__)


def _wide(ctype: CType) -> Sequence[tuple[int, CType]] | None:
    """The leaves of a class of 2 to 16 floats (or one number of each), which moves as one access."""
    if ctype.shape != "record" or not 0 < ctype.size <= 64:
        return None
    leaves = ctype.leaves()
    if not leaves or len(leaves) < 2 or not all(isinstance(leaf.ir, FloatType) for _, leaf in leaves):
        return None
    return leaves


def is_local(pointer: Expr, ctx: Context) -> bool:
    """Whether a pointer certainly points into memory of the thread itself."""
    while pointer.op == "ptradd":
        pointer = pointer.args[0]
    if pointer.op != "addr":
        return False
    known = ctx.objects.get(pointer.value)
    return known is not None and known.space == "local"


def leaf_values(ctx: Context, place: Place, node: Node, limit: int = COPY_LIMIT) -> dict[int, Expr] | None:
    """The scalars of a class value by offset within it, loaded where they are in memory; None when more than ``limit``,
    or not known."""
    ctype = place.type
    leaves = ctype.leaves()
    if leaves is None or len(leaves) > limit:
        return None
    if isinstance(place, RecordValue):
        return {at: place.leaves[place.offset + at] for at, _ in leaves}
    if isinstance(place, SplitPlace):
        return {at: var(place.names[place.offset + at], leaf.ir or U64) for at, leaf in leaves}
    if isinstance(place, ParamPlace):
        return _parameter_leaves(ctx, place, node, limit)
    if isinstance(place, MemPlace):
        wide = _wide(ctype)
        if wide is not None and not is_local(place.pointer, ctx):
            whole = load(ctx, place, node)
            return {at: lane(whole, at, leaf) for at, leaf in wide}
        return {at: load(ctx, _typed(part_at(ctx, place, at, leaf)), node) for at, leaf in leaves}
    if isinstance(place, ValuePlace) and place.type.scalar:
        return {0: place.value}
    return None


def _typed(place: Place) -> MemPlace:
    assert isinstance(place, MemPlace)
    return place


def lane(whole: Expr, offset: int, leaf: CType) -> Expr:
    """The scalar at a byte offset of a wide access's data."""
    return pure("lane", leaf.ir or U64, whole, const(offset, I64))


def _parameter_leaves(ctx: Context, place: ParamPlace, node: Node, limit: int) -> dict[int, Expr] | None:
    out: dict[int, Expr] = {}
    record = place.type.record
    for base, offset in record.bases:
        inner = _parameter_leaves(ctx, base_of_parameter(place, base), node, limit)
        if inner is None:
            return None
        out.update({offset + at: e for at, e in inner.items()})
    for part in record.fields:
        inner_place = ParamPlace(f"{place.name}.{part.name or f'<{part.offset}>'}", part.type, place.key)
        if part.type.scalar:
            out[part.offset] = parameter_value(ctx, inner_place)
        else:
            source: Place = parameter_memory(ctx, inner_place) if part.type.shape == "array" else inner_place
            inner = leaf_values(ctx, source, node, limit)
            if inner is None:
                return None
            out.update({part.offset + at: e for at, e in inner.items()})
    return out


def copy(
    ctx: Context,
    target: Place,
    source: Place,
    node: Node,
    source_node: Node | None = None,
    limit: int = COPY_LIMIT,
) -> None:
    """Copy a class or array value. `node` is the target as written, `source_node` the source. ``limit``: how many
    scalars are copied one by one; more are one access on each side."""
    origin = source_node or node
    if isinstance(target, (Closure, FunctionPlace)) or isinstance(source, (Closure, FunctionPlace)):
        return
    if target.type.scalar:
        write(ctx, target, convert_scalar(ctx, read(ctx, source, origin), target.type.ir or U64), node)
        return
    if isinstance(target, (RecordValue, ParamPlace)):
        if target.key is not None:
            ctx.force(("written", target.key))
        return
    if (
        isinstance(target, MemPlace)
        and isinstance(source, MemPlace)
        and 0 < target.type.size <= 64
        and not is_local(target.pointer, ctx)
        and not is_local(source.pointer, ctx)
    ):
        given = MemPlace(
            source.pointer, target.type, source.bounds, None, source.volatile, source.inside, source.within
        )
        whole = load(ctx, given, origin)
        store(ctx, target, whole, node)
        return
    values = leaf_values(ctx, source, origin, limit)
    if values is None and isinstance(source, ParamPlace) and not source.type.record.union:
        for part in source.type.record.fields:
            if part.bits is None:
                copy(ctx, member(ctx, target, part, node), member(ctx, source, part, origin), node, origin, limit)
        return
    if values is None:
        _copy_opaque(ctx, target, source, node, origin)
        return
    store_leaves(ctx, target, values, node)


def store_leaves(ctx: Context, target: Place, values: dict[int, Expr], node: Node) -> None:
    """Write the scalars of a class value."""
    ctype = target.type
    if isinstance(target, MemPlace):
        wide = _wide(ctype)
        if wide is not None and not is_local(target.pointer, ctx):
            store(ctx, target, packed(ctype, values), node)
            return
    for at, leaf in ctype.leaves() or ():
        value = values.get(at)
        if value is None:
            continue
        write(ctx, part_at(ctx, target, at, leaf), convert_scalar(ctx, value, leaf.ir or value.ty), node)


def packed(ctype: CType, values: dict[int, Expr]) -> Expr:
    """The data of a wide access: the whole of a loaded value again, or its parts put together."""
    parts = [values[at] for at in sorted(values)]
    first = parts[0]
    if first.op == "call" and first.value == "lane":
        whole = first.args[0]
        if all(
            p.op == "call" and p.value == "lane" and p.args[0] is whole and p.args[1].value == at
            for at, p in sorted(values.items())
        ):
            return whole
    return make("call", DATA, tuple(parts), "pack")


def _copy_opaque(ctx: Context, target: Place, source: Place, node: Node, origin: Node) -> None:
    """Copy what has no fixed list of scalars (unions, bit-fields, large arrays) as one access on each side."""
    ty = DATA
    if isinstance(source, ParamPlace):
        source = parameter_memory(ctx, source)
    if isinstance(source, MemPlace):
        whole = load(ctx, source, origin)
    else:
        whole = ctx.havoc(ty, f"value of {source.type.spelling}", origin)
    if isinstance(target, MemPlace):
        store(ctx, target, whole, node)


def unknown_record(ctx: Context, ctype: CType, reason: str, node: Node) -> Place:
    """A class value about which nothing is known."""
    leaves = ctype.leaves()
    if leaves is not None and ctype.record.splittable:
        return RecordValue({at: ctx.havoc(leaf.ir or U64, reason, node) for at, leaf in leaves}, ctype)
    name = ctx.object("unknown", "local", ctype, span=node.span)
    return MemPlace(addr(name), ctype)


UNKNOWN_RECORD.append(unknown_record)


def zeroed(ctx: Context, target: Place, node: Node) -> None:
    """Zero-initialise an object."""
    if target.type.scalar:
        write(ctx, target, zero(target.type.ir or U64), node)
        return
    leaves = target.type.leaves()
    if leaves is None or len(leaves) > COPY_LIMIT:
        if isinstance(target, MemPlace):
            store(ctx, target, zero(DATA), node)
        return
    store_leaves(ctx, target, {at: zero(leaf.ir or U64) for at, leaf in leaves}, node)
