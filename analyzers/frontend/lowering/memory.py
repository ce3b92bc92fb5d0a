"""Reading and writing what a place stands for, scalar by scalar, and the places of its members, bases and elements.

Takes places (variables, bundles of variables, memory, tables, values) and gives expressions or places; loads and stores
are emitted on the way.
"""

from __future__ import annotations

from analyzers.frontend.lowering.context import ADDRESS_OF, AS_PLACE, SCALAR_OF, Context, pure, zero
from analyzers.frontend.lowering.kernel_parameters import base_of_parameter, parameter_memory, parameter_value
from analyzers.frontend.lowering.layout import CType, Field
from analyzers.frontend.lowering.nodes import Node
from analyzers.frontend.lowering.places import (
    Bounds,
    Closure,
    EitherPlace,
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
    U8,
    U16,
    U32,
    U64,
    Expr,
    IntType,
    Type,
    binary,
    bitnot,
    cast,
    compare,
    const,
    mul,
    pointer_of_integer,
    ptradd,
    select,
    var,
)
from analyzers.ir.kernel import Assign, If, Load, Store

#: The type given to the data of an access wider than a scalar; its value is never computed with.
DATA = F64


#: A constant table longer than this is not spelled out as a chain of selections.
TABLE_LIMIT = 64


def read(ctx: Context, place: Place, node: Node) -> Expr:
    """The scalar value a place holds now; emits a Load for memory."""
    if isinstance(place, VarPlace):
        return var(place.name, place.type.ir)  # pyright: ignore[reportArgumentType]
    if isinstance(place, ValuePlace):
        return place.value
    if isinstance(place, MemPlace):
        return load(ctx, place, node)
    if isinstance(place, ParamPlace):
        return parameter_value(ctx, place)
    if isinstance(place, TablePlace):
        return _table_value(ctx, place, node)
    if isinstance(place, EitherPlace):
        return _either_value(ctx, place, node)
    if isinstance(place, (SplitPlace, RecordValue)) and place.type.ir is not None:
        return _leaf(place, place.type)
    return SCALAR_OF[0](ctx, place, node)


def _either_value(ctx: Context, place: EitherPlace, node: Node) -> Expr:
    with ctx.branch() as then:
        one = read(ctx, place.first, node)
    with ctx.branch() as orelse:
        other = convert_scalar(ctx, read(ctx, place.other, node), one.ty)
    if not then and not orelse:
        return select(place.condition, one, other)
    result = ctx.temporary(one.ty, "choice")
    then.append(Assign(result.value, one))
    orelse.append(Assign(result.value, other))
    ctx.emit(If(place.condition, tuple(then), tuple(orelse), ctx.site(node)))
    return result


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


def load(ctx: Context, place: MemPlace, node: Node) -> Expr:
    ctype = place.type
    own: Type = ctype.ir if ctype.ir is not None else DATA
    ty = own if place.bits is None else _unit(ctype, own)
    loaded = ctx.temporary(ty)
    volatile = place.volatile or ctype.volatile
    width = max(ctype.size, 1)
    site = ctx.site(node)
    ctx.emit(
        Load(
            ctx.id(),
            loaded.value,
            ty,
            place.pointer,
            width,
            site,
            place.bounds,
            volatile,
            place.alignment,
            _linked(place),
        )
    )
    if place.bits is not None and isinstance(ty, IntType) and isinstance(own, IntType):
        first, count = place.bits
        top = binary("shl", loaded, const(ty.width - first - count, ty))
        down = const(ty.width - count, ty)
        if own.signed and own.width > 1:
            return binary("shr", cast(top, own), cast(down, own))
        return convert_scalar(ctx, binary("shr", top, down), own)
    return loaded


def _unit(ctype: CType, own: Type) -> Type:
    """The type in which the bits around a bit-field are taken together: shifts of unsigned numbers never overflow."""
    return _UNITS.get(ctype.size, own) if isinstance(own, IntType) else own


_UNITS = {1: U8, 2: U16, 4: U32, 8: U64}


def _linked(place: MemPlace) -> int:
    """Of a pointer in an object of the class it points to, as in a list or tree: how far apart such objects are."""
    holder = place.within
    if place.type.shape not in ("pointer", "reference") or holder is None or holder.shape != "record":
        return 0
    target = place.type.element
    if target.shape != "record":
        return 0
    if target.record.declaration == holder.record.declaration:
        return max(target.size, 1)
    return max(target.align, 1) if _contains(holder, target) else 0


def _contains(whole: CType, part: CType) -> bool:
    inner = whole.flat()[0]
    if inner.shape != "record":
        return False
    if inner.record.declaration == part.record.declaration:
        return True
    parts = [base for base, _ in inner.record.bases] + [field.type for field in inner.record.fields]
    return any(_contains(p, part) for p in parts)


def write(ctx: Context, place: Place, value: Expr, node: Node) -> None:
    """Store a scalar of the place's type. `node` is the lvalue as written."""
    if isinstance(place, VarPlace):
        ctx.assign(var(place.name, value.ty), value)
    elif isinstance(place, MemPlace):
        store(ctx, place, value, node)
    elif isinstance(place, SplitPlace):
        ctx.assign(var(place.names[place.offset], value.ty), value)
    elif isinstance(place, (ValuePlace, ParamPlace, RecordValue)) and place.key is not None:
        ctx.force(("written", place.key))
    elif isinstance(place, EitherPlace):
        with ctx.branch() as then:
            write(ctx, place.first, value, node)
        with ctx.branch() as orelse:
            write(ctx, place.other, value, node)
        ctx.emit(If(place.condition, tuple(then), tuple(orelse), ctx.site(node)))
    elif isinstance(place, TablePlace):
        store(ctx, MemPlace(place.pointer, place.type, place.bounds), value, node)
    else:
        ctx.unsupported("indirect-call", f"{node.text[:40]!r} is set to a function that is not known", node)


# Writing to a temporary class value changes nothing that anybody sees.
def store(ctx: Context, place: MemPlace, value: Expr, node: Node) -> None:
    width = max(place.type.size, 1)
    volatile = place.volatile or place.type.volatile
    if place.bits is not None and isinstance(value.ty, IntType):
        first, count = place.bits
        ty = _unit(place.type, value.ty)
        assert isinstance(ty, IntType)
        value = cast(value, ty)
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


def member(ctx: Context, place: Place, field: Field, node: Node) -> Place:
    """A data member of a class object."""
    if isinstance(place, MemPlace):
        pointer = ptradd(place.pointer, const(field.offset, I64)) if field.offset else place.pointer
        volatile = place.volatile or place.type.volatile
        inside, within = place.alignment.moved(field.offset), place.within or place.type
        inner = MemPlace(pointer, field.type, place.bounds, field.bits, volatile, inside, within)
        return _referred(ctx, inner, node)
    if isinstance(place, SplitPlace):
        return _referred(ctx, SplitPlace(place.names, field.type, place.key, place.offset + field.offset), node)
    if isinstance(place, RecordValue):
        return _referred(ctx, RecordValue(place.leaves, field.type, place.key, place.offset + field.offset), node)
    if isinstance(place, ParamPlace):
        if place.type.shape == "record" and place.type.record.union:
            return member(ctx, parameter_memory(ctx, place), field, node)
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
            return member(ctx, base_of_parameter(place, base), inner, node)
    for part in record.fields:
        if part.type.shape == "record" and field.key in part.type.record.by_key:
            label = part.name or f"<{part.offset}>"
            inner = ParamPlace(f"{place.name}.{label}", part.type, place.key)
            return member(ctx, inner, part.type.record.by_key[field.key], node)
    return member(ctx, parameter_memory(ctx, place), field, node)


def _referred(ctx: Context, place: Place, node: Node) -> Place:
    """A member of reference type stands for what it refers to."""
    if place.type.shape != "reference":
        if isinstance(place, ParamPlace) and place.type.shape == "array":
            return parameter_memory(ctx, place)
        return place
    return MemPlace(read(ctx, place, node), place.type.element)


def _same_class(one: CType, other: CType) -> bool:
    return one is other or one.record.declaration == other.record.declaration


def base_offset(derived: CType, base: CType) -> int | None:
    """Byte offset of a base class in a class derived from it; None where that is not known, or it is none."""
    found = derived.record.base_offset(base.spelling)
    return derived.record.open_base_offset(base) if found is None else found


def unlocated(ctx: Context, ctype: CType, text: str, node: Node) -> Value:
    ctx.unsupported("base-class", text, node)
    return ctx.unknown_value(ctype, text, node)


def base_part(ctx: Context, place: Place, base: CType, node: Node) -> Place:
    """A base-class part of an object; the object itself where the types already agree."""
    if place.type.shape != "record" or base.shape != "record" or isinstance(place, Closure):
        return place
    if _same_class(place.type, base):
        return place
    offset = base_offset(place.type, base)
    if offset is None:
        text = f"where {base.spelling} lies in {place.type.spelling} is not known"
        return as_place(ctx, unlocated(ctx, base, text, node), node)
    if isinstance(place, ParamPlace):
        return base_of_parameter(place, base)
    if isinstance(place, MemPlace):
        pointer = ptradd(place.pointer, const(offset, I64)) if offset else place.pointer
        inside, within = place.alignment.moved(offset), place.within or place.type
        return MemPlace(pointer, base, place.bounds, None, place.volatile, inside, within)
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
        return element(ctx, MemPlace(ADDRESS_OF[0](ctx, place, node), ctype), index, node)
    if isinstance(place, ParamPlace):
        place = parameter_memory(ctx, place)
    if not isinstance(place, MemPlace):
        return as_place(ctx, ctx.unknown_value(inner, "element of an unknown array", node), node)
    pointer = ptradd(place.pointer, mul(wide, const(max(inner.size, 1), I64)))
    offset = wide.value * inner.size if wide.op == "const" else None
    inside = place.alignment.coarse(inner.size) if offset is None else place.alignment.moved(offset)
    volatile = place.volatile or ctype.volatile
    return MemPlace(pointer, inner, _bounded(place.bounds, wide, ctype), None, volatile, inside, place.within)


def _bounded(bounds: Bounds, index: Expr, array: CType) -> Bounds:
    return (*bounds, (index, array.count)) if array.count is not None else bounds


def as_place(ctx: Context, value: Value, node: Node) -> Place:
    """A value seen as an object without storage."""
    if isinstance(value, Expr):
        return ValuePlace(value, node.type)
    if value is None:
        return ValuePlace(zero(U64), node.type)
    return value


AS_PLACE.append(as_place)
