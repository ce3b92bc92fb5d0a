"""Reading and writing what a place stands for: variables, bundles of variables, memory, fields, elements, addresses.

A class of floats moves between memory and variables as one access of its full width, as the hardware does it: the
value is data, taken apart by the pure functions ``lane`` and put together by ``pack``. Classes with integers or
pointers move scalar by scalar, so that those stay exact.
"""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.frontend.lowering.context import AS_PLACE, SCALAR_OF, UNKNOWN_RECORD, Context, pure, zero
from analyzers.frontend.lowering.layout import CType, Field
from analyzers.frontend.lowering.nodes import Node
from analyzers.frontend.lowering.places import (
    Bounds,
    Closure,
    FunctionPlace,
    MemPlace,
    ParamPlace,
    Place,
    RecordValue,
    SplitPlace,
    TablePlace,
    Value,
    ValuePlace,
    VarPlace,
)
from analyzers.ir.expr import (
    BOOL,
    F64,
    I64,
    NULL,
    PTR,
    U64,
    Expr,
    FloatType,
    IntType,
    Type,
    addr,
    binary,
    bitnot,
    cast,
    compare,
    const,
    make,
    mul,
    pointer_of_integer,
    ptradd,
    select,
    sym,
    var,
)
from analyzers.ir.kernel import Load, MemObject, Parameter, Store

#: The type given to the data of an access wider than a scalar; its value is never computed with.
DATA = F64
#: A constant table longer than this is not spelled out as a chain of selections.
TABLE_LIMIT = 64
#: Class and array values with more scalars than this are copied as one opaque access.
COPY_LIMIT = 64


# --- scalars ------------------------------------------------------------------------------------------------


def read(ctx: Context, place: Place, node: Node) -> Expr:
    """The scalar value a place holds now; emits a Load for memory."""
    if isinstance(place, VarPlace):
        return var(place.name, place.type.ir)  # pyright: ignore[reportArgumentType]
    if isinstance(place, ValuePlace):
        return place.value
    if isinstance(place, MemPlace):
        return _load(ctx, place, node)
    if isinstance(place, ParamPlace):
        return parameter_value(ctx, place)
    if isinstance(place, TablePlace):
        return _table_value(ctx, place, node)
    if isinstance(place, (SplitPlace, RecordValue)) and place.type.ir is not None:
        return _leaf(place, place.type)
    return scalar_of(ctx, place, node)


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


def _leaf(place: SplitPlace | RecordValue, ctype: CType) -> Expr:
    ty = ctype.ir or U64
    if isinstance(place, SplitPlace):
        return var(place.names[place.offset], ty)
    return place.leaves[place.offset]


def convert_scalar(ctx: Context, e: Expr, ty: Type) -> Expr:
    """C's conversion between scalar types, pointers included."""
    if e.ty == ty:
        return e
    if ty == PTR:
        if e.op == "const" and e.value == 0:
            return NULL
        return pointer_of_integer(e)
    if e.ty == PTR:
        if ty == BOOL:
            return compare("ne", e, NULL)
        return cast(pure("ptrtoint", U64, e), ty)
    if ty == BOOL and e.op == "cast" and e.args[0].ty == BOOL and isinstance(e.ty, IntType):
        return e.args[0]
    return cast(e, ty)


def _load(ctx: Context, place: MemPlace, node: Node) -> Expr:
    ctype = place.type
    ty: Type = ctype.ir if ctype.ir is not None else DATA
    loaded = ctx.temporary(ty)
    volatile = place.volatile or ctype.volatile
    width = max(ctype.size, 1)
    site = ctx.site(node)
    ctx.emit(Load(ctx.id(), loaded.value, ty, place.pointer, width, site, place.bounds, volatile, place.alignment))
    if place.bits is not None and isinstance(ty, IntType) and ty.width > 1:
        first, count = place.bits
        up = const(ty.width - first - count, ty)
        shifted = binary("shl", loaded, up)
        return binary("shr", shifted, const(ty.width - count, ty))
    return loaded


def write(ctx: Context, place: Place, value: Expr, node: Node) -> None:
    """Store a scalar of the place's type. `node` is the lvalue as written."""
    if isinstance(place, VarPlace):
        ctx.assign(var(place.name, value.ty), value)
    elif isinstance(place, MemPlace):
        _store(ctx, place, value, node)
    elif isinstance(place, SplitPlace):
        ctx.assign(var(place.names[place.offset], value.ty), value)
    elif isinstance(place, (ValuePlace, ParamPlace, RecordValue)) and place.key is not None:
        ctx.force(("written", place.key))
    elif isinstance(place, TablePlace):
        _store(ctx, MemPlace(place.pointer, place.type, place.bounds), value, node)
    # Writing to a temporary class value changes nothing that anybody sees.


def _store(ctx: Context, place: MemPlace, value: Expr, node: Node) -> None:
    width = max(place.type.size, 1)
    volatile = place.volatile or place.type.volatile
    if place.bits is not None and isinstance(value.ty, IntType):
        first, count = place.bits
        ty = value.ty
        whole = ctx.temporary(ty)
        site = ctx.site(node)
        ctx.emit(Load(ctx.id(), whole.value, ty, place.pointer, width, site, place.bounds, volatile, place.alignment))
        mask = const(((1 << count) - 1) << first, ty)
        moved = binary("and", binary("shl", value, const(first, ty)), mask)
        value = binary("or", binary("and", whole, bitnot(mask)), moved)
    ctx.emit(Store(ctx.id(), place.pointer, value, width, ctx.site(node), place.bounds, volatile, place.alignment))


def _table_value(ctx: Context, place: TablePlace, node: Node) -> Expr:
    index, values = place.index, place.values
    ty = place.type.ir or U64
    if index.op == "const":
        return values[int(index.value)] if 0 <= index.value < len(values) else ctx.havoc(ty, "outside the table", node)
    if len(values) > TABLE_LIMIT or not isinstance(ty, IntType):
        return pure(f"table {node.text.split('[')[0]}", ty, index)
    result = values[-1]
    for number in range(len(values) - 2, -1, -1):
        result = select(compare("eq", index, const(number, I64)), values[number], result)
    return result


# --- kernel parameters of class type ------------------------------------------------------------------------


def parameter_value(ctx: Context, place: ParamPlace) -> Expr:
    """The symbol for a scalar inside a by-value parameter; a pointer points to an object of its own."""
    ty = place.type.ir or U64
    if ty == PTR:
        if place.name not in ctx.objects:
            declare_pointee(ctx, place.name, place.type)
        return addr(place.name)
    if not any(p.name == place.name for p in ctx.parameters):
        ctx.parameters.append(Parameter(place.name, ty, place.type.spelling))
    return sym(f"param:{place.name}", ty)


def declare_pointee(ctx: Context, name: str, ctype: CType) -> None:
    """The object a pointer parameter points to, and the parameter."""
    pointee = ctype.element
    inner, _ = pointee.flat()
    restrict = bool(ctype.clang.is_restrict_qualified())
    read_only = pointee.const and restrict
    made = ctx.name(name)
    element = max(inner.size, 1)
    ctx.objects[made] = MemObject(made, "global", "pointee", None, element, (), name, read_only)
    if not any(p.name == name for p in ctx.parameters):
        ctx.parameters.append(Parameter(name, PTR, ctype.spelling, restrict, made))


def _parameter_memory(ctx: Context, place: ParamPlace) -> MemPlace:
    """Arrays and unions inside a by-value parameter live in parameter memory."""
    if place.name not in ctx.objects:
        inner, extents = place.type.flat()
        name = ctx.name(place.name)
        size = place.type.size or None
        ctx.objects[name] = MemObject(
            name, "param", "declared", size, max(inner.size, 1), extents, place.name, read_only=True
        )
    return MemPlace(addr(place.name), place.type)


# --- parts --------------------------------------------------------------------------------------------------


def member(ctx: Context, place: Place, field: Field, node: Node) -> Place:
    """A data member of a class object."""
    if isinstance(place, MemPlace):
        pointer = ptradd(place.pointer, const(field.offset, I64)) if field.offset else place.pointer
        volatile = place.volatile or place.type.volatile
        inner = MemPlace(pointer, field.type, place.bounds, field.bits, volatile, place.alignment.moved(field.offset))
        return _referred(ctx, inner, node)
    if isinstance(place, SplitPlace):
        return _referred(ctx, SplitPlace(place.names, field.type, place.key, place.offset + field.offset), node)
    if isinstance(place, RecordValue):
        return _referred(ctx, RecordValue(place.leaves, field.type, place.key, place.offset + field.offset), node)
    if isinstance(place, ParamPlace):
        if place.type.shape == "record" and place.type.record.union:
            return member(ctx, _parameter_memory(ctx, place), field, node)
        if field.bits is None and field.name and field in place.type.record.fields:
            inner = ParamPlace(f"{place.name}.{field.name}", field.type, place.key)
            return _referred(ctx, inner, node)
        return _parameter_part(ctx, place, field, node)
    if isinstance(place, ValuePlace) and place.type.scalar:
        # A number class of the headers: its bits.
        return ValuePlace(pure(f"bits of {place.type.spelling}", field.type.ir or U64, place.value), field.type)
    if isinstance(place, VarPlace):
        return member(ctx, ValuePlace(read(ctx, place, node), place.type), field, node)
    return as_place(ctx, ctx.unknown_value(field.type, "member of an unknown object", node), node)


def _parameter_part(ctx: Context, place: ParamPlace, field: Field, node: Node) -> Place:
    """A member that is not direct: of a base class or an anonymous struct or union inside the parameter."""
    record = place.type.record
    for base, offset in record.bases:
        inner = base.record.find(field.key, "")
        if inner is not None and inner.offset + offset == field.offset:
            return member(ctx, ParamPlace(place.name, base, place.key), inner, node)
    for part in record.fields:
        if part.type.shape == "record" and field.key in part.type.record.by_key:
            label = part.name or f"<{part.offset}>"
            inner = ParamPlace(f"{place.name}.{label}", part.type, place.key)
            return member(ctx, inner, part.type.record.by_key[field.key], node)
    return member(ctx, _parameter_memory(ctx, place), field, node)


def _referred(ctx: Context, place: Place, node: Node) -> Place:
    """A member of reference type stands for what it refers to."""
    if place.type.shape != "reference":
        if isinstance(place, ParamPlace) and place.type.shape == "array":
            return _parameter_memory(ctx, place)
        return place
    return MemPlace(read(ctx, place, node), place.type.element)


def base_part(ctx: Context, place: Place, base: CType, node: Node) -> Place:
    """A base-class part of an object; the object itself where the types already agree."""
    if place.type.shape != "record" or base.shape != "record" or isinstance(place, Closure):
        return place
    if isinstance(place, ParamPlace):
        return ParamPlace(place.name, base, place.key)
    offset = place.type.record.base_offset(base.spelling)
    if offset is None:
        offset = 0
    if isinstance(place, MemPlace):
        pointer = ptradd(place.pointer, const(offset, I64)) if offset else place.pointer
        return MemPlace(pointer, base, place.bounds, None, place.volatile, place.alignment.moved(offset))
    if isinstance(place, SplitPlace):
        return SplitPlace(place.names, base, place.key, place.offset + offset)
    if isinstance(place, RecordValue):
        return RecordValue(place.leaves, base, place.key, place.offset + offset)
    return place


def element(ctx: Context, place: Place, index: Expr, node: Node) -> Place:
    """An element of an array object; the subscript is assumed in bounds."""
    ctype = place.type
    inner = ctype.element
    wide = cast(index, I64) if isinstance(index.ty, IntType) else index
    if isinstance(place, TablePlace):
        leaf, extents = inner.flat()
        count = 1
        for extent in extents:
            count *= extent
        position = binary("add", place.index, mul(wide, const(count, I64)))
        pointer = ptradd(place.pointer, mul(wide, const(max(inner.size, 1), I64)))
        del leaf
        return TablePlace(place.values, position, inner, pointer, _bounded(place.bounds, wide, ctype))
    if isinstance(place, (SplitPlace, RecordValue)):
        if wide.op == "const":
            offset = place.offset + wide.value * inner.size
            if isinstance(place, SplitPlace):
                return SplitPlace(place.names, inner, place.key, offset)
            return RecordValue(place.leaves, inner, place.key, offset)
        return element(ctx, MemPlace(address(ctx, place, node), ctype), index, node)
    if isinstance(place, ParamPlace):
        place = _parameter_memory(ctx, place)
    if not isinstance(place, MemPlace):
        return as_place(ctx, ctx.unknown_value(inner, "element of an unknown array", node), node)
    pointer = ptradd(place.pointer, mul(wide, const(max(inner.size, 1), I64)))
    offset = wide.value * inner.size if wide.op == "const" else None
    inside = place.alignment.coarse(inner.size) if offset is None else place.alignment.moved(offset)
    return MemPlace(pointer, inner, _bounded(place.bounds, wide, ctype), None, place.volatile, inside)


def _bounded(bounds: Bounds, index: Expr, array: CType) -> Bounds:
    return (*bounds, (index, array.count)) if array.count is not None else bounds


def address(ctx: Context, place: Place, node: Node) -> Expr:
    """A pointer to the object; a local that lived in variables is given memory in the next round."""
    if isinstance(place, (MemPlace, TablePlace)):
        return place.pointer
    if isinstance(place, (VarPlace, SplitPlace)):
        if isinstance(place, SplitPlace) and place.key is None:
            return _materialised(ctx, place, node)
        ctx.force(place.key)
        return addr("?forced")
    if isinstance(place, (ValuePlace, RecordValue, ParamPlace)):
        if place.key is not None:
            ctx.force(place.key)
            return addr("?forced")
        return _materialised(ctx, place, node)
    return addr(f"?{type(place).__name__}")


def _materialised(ctx: Context, place: Place, node: Node) -> Expr:
    """A pointer to a local copy of a value that has no storage."""
    name = ctx.object("temporary", "local", place.type, span=node.span)
    target = MemPlace(addr(name), place.type)
    if place.type.scalar:
        write(ctx, target, read(ctx, place, node), node)
    else:
        copy(ctx, target, place, node)
    return addr(name)


def as_place(ctx: Context, value: Value, node: Node) -> Place:
    """A value seen as an object without storage."""
    if isinstance(value, Expr):
        return ValuePlace(value, node.type)
    if value is None:
        return ValuePlace(zero(U64), node.type)
    return value


AS_PLACE.append(as_place)


# --- class values -------------------------------------------------------------------------------------------


def storage(ctx: Context, ctype: CType, hint: str, key: object, node: Node) -> Place:
    """Fresh storage for a local object."""
    forced = key in ctx.forced
    if ctype.scalar and not forced:
        return VarPlace(ctx.name(hint), ctype, key)
    if ctype.shape == "record" and not forced and ctype.record.splittable:
        leaves = ctype.leaves() or ()
        labels = _leaf_labels(ctype)
        return SplitPlace({at: ctx.name(f"{hint}.{labels.get(at, at)}") for at, _ in leaves}, ctype, key)
    name = ctx.object(hint, "local", ctype, span=node.span)
    return MemPlace(addr(name), ctype)


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
        return MemPlace(pointer, leaf, place.bounds, None, place.volatile, place.alignment.moved(offset))
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


def leaf_values(ctx: Context, place: Place, node: Node) -> dict[int, Expr] | None:
    """The scalars of a class value by offset within it, loaded where they are in memory; None when too many."""
    ctype = place.type
    leaves = ctype.leaves()
    if leaves is None or len(leaves) > COPY_LIMIT:
        return None
    if isinstance(place, RecordValue):
        return {at: place.leaves[place.offset + at] for at, _ in leaves}
    if isinstance(place, SplitPlace):
        return {at: var(place.names[place.offset + at], leaf.ir or U64) for at, leaf in leaves}
    if isinstance(place, ParamPlace):
        return _parameter_leaves(ctx, place, node)
    if isinstance(place, MemPlace):
        wide = _wide(ctype)
        if wide is not None and not is_local(place.pointer, ctx):
            whole = _load(ctx, place, node)
            return {at: lane(whole, at, leaf) for at, leaf in wide}
        return {at: _load(ctx, _typed(part_at(ctx, place, at, leaf)), node) for at, leaf in leaves}
    if isinstance(place, ValuePlace) and place.type.scalar:
        return {0: place.value}
    return None


def _typed(place: Place) -> MemPlace:
    assert isinstance(place, MemPlace)
    return place


def lane(whole: Expr, offset: int, leaf: CType) -> Expr:
    """The scalar at a byte offset of a wide access's data."""
    return pure("lane", leaf.ir or U64, whole, const(offset, I64))


def _parameter_leaves(ctx: Context, place: ParamPlace, node: Node) -> dict[int, Expr] | None:
    out: dict[int, Expr] = {}
    record = place.type.record
    for base, offset in record.bases:
        inner = _parameter_leaves(ctx, ParamPlace(place.name, base, place.key), node)
        if inner is None:
            return None
        out.update({offset + at: e for at, e in inner.items()})
    for part in record.fields:
        inner_place = ParamPlace(f"{place.name}.{part.name}", part.type, place.key)
        if part.type.scalar:
            out[part.offset] = parameter_value(ctx, inner_place)
        else:
            source: Place = _parameter_memory(ctx, inner_place) if part.type.shape == "array" else inner_place
            inner = leaf_values(ctx, source, node)
            if inner is None:
                return None
            out.update({part.offset + at: e for at, e in inner.items()})
    return out


def copy(ctx: Context, target: Place, source: Place, node: Node, source_node: Node | None = None) -> None:
    """Copy a class or array value. `node` is the target as written, `source_node` the source."""
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
        given = MemPlace(source.pointer, target.type, source.bounds, None, source.volatile, source.inside)
        whole = _load(ctx, given, origin)
        _store(ctx, target, whole, node)
        return
    values = leaf_values(ctx, source, origin)
    if values is None and isinstance(source, ParamPlace) and not source.type.record.union:
        for part in source.type.record.fields:
            if part.bits is None:
                copy(ctx, member(ctx, target, part, node), member(ctx, source, part, origin), node, origin)
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
            _store(ctx, target, packed(ctype, values), node)
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
    if isinstance(source, MemPlace):
        whole = _load(ctx, source, origin)
    else:
        whole = ctx.havoc(ty, f"value of {source.type.spelling}", origin)
    if isinstance(target, MemPlace):
        _store(ctx, target, whole, node)


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
            _store(ctx, target, zero(DATA), node)
        return
    store_leaves(ctx, target, {at: zero(leaf.ir or U64) for at, leaf in leaves}, node)
