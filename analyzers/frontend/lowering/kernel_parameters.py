"""By-value parameters of a kernel: symbols for their scalars, objects for what their pointers point to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analyzers.frontend.lowering.context import Context
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.places import MemPlace, ParamPlace
from analyzers.ir.expr import PTR, U64, Expr, addr, sym
from analyzers.ir.kernel import Kernel, Layout, MemObject, Parameter
from analyzers.ir.pointers import points_to, written_objects

_MOST_ELEMENTS = 64
"""Of an array in a parameter, that are told one by one."""


def parameter_value(ctx: Context, place: ParamPlace) -> Expr:
    """The symbol for a scalar inside a by-value parameter; a pointer points to an object of its own."""
    ty = place.type.ir or U64
    if ty == PTR:
        made = ctx.parameter_objects.get(place.name)
        return addr(made if made is not None else declare_pointee(ctx, place.name, place.type))
    if not any(p.name == place.name for p in ctx.parameters):
        ctx.parameters.append(Parameter(place.name, ty, place.type.spelling))
    return sym(f"param:{place.name}", ty)


def declare_pointee(ctx: Context, name: str, ctype: CType) -> str:
    """The object a pointer parameter points to, by its name, and the parameter."""
    pointee = ctype.element
    inner, _ = pointee.flat()
    restrict = bool(ctype.clang.is_restrict_qualified())
    read_only = pointee.const and restrict
    made = ctx.parameter_objects[name] = ctx.name(name)
    element = max(inner.size, 1)
    ctx.objects[made] = MemObject(made, "global", "pointee", None, element, (), name, read_only)
    if not any(p.name == name for p in ctx.parameters):
        ctx.parameters.append(Parameter(name, PTR, ctype.spelling, restrict, made))
    return made


def base_of_parameter(place: ParamPlace, base: CType) -> ParamPlace:
    """The part of a by-value parameter that is of a base class, direct or not; the class has one."""
    for direct, offset in place.type.record.bases:
        same = direct.record.declaration == base.record.declaration
        if same or direct.record.base_offset(base.spelling) is not None:
            part = ParamPlace(base_label(place.name, place.type, direct, offset), direct, place.key)
            return ParamPlace(part.name, base, part.key) if same else base_of_parameter(part, base)
    # An instance of the template that the only unknown base names.
    return ParamPlace(f"{place.name}.<base {base.spelling}>", base, place.key)


def base_label(name: str, derived: CType, base: CType, offset: int) -> str:
    """What the part of ``name`` is called that is of a direct base class: the same, where no member of another part of
    the object shares its name with one of the base class."""
    others = [f.name for f in derived.record.fields]
    for other, at in derived.record.bases:
        if (other, at) != (base, offset):
            others += _member_names(other)
    return name if _member_names(base).isdisjoint(others) else f"{name}.<{offset}>"


def _member_names(ctype: CType) -> set[str]:
    found = {f.name for f in ctype.record.fields}
    return found.union(*(_member_names(base) for base, _ in ctype.record.bases))


def parameter_memory(ctx: Context, place: ParamPlace) -> MemPlace:
    """Arrays and unions inside a by-value parameter live in parameter memory, which nobody writes: a kernel that would
    has a copy instead (``force_written``)."""
    name = ctx.parameter_objects.get(place.name)
    if name is None:
        inner, extents = place.type.flat()
        name = ctx.parameter_objects[place.name] = ctx.name(place.name)
        size = place.type.size or None
        ctx.objects[name] = MemObject(
            name, "param", "declared", size, max(inner.size, 1), extents, place.name, read_only=True
        )
    ctx.parameter_keys.setdefault(name, set()).add(place.key)
    return MemPlace(addr(name), place.type)


def force_written(ctx: Context, kernel: Kernel) -> None:
    """Have those parameters copied into memory of the thread whose arrays or unions a statement of ``kernel`` writes,
    also through a pointer or a reference: each thread changes a copy of its own."""
    if not ctx.parameter_keys:
        return
    objects = tuple(replace(o, read_only=False) if o.name in ctx.parameter_keys else o for o in kernel.objects)
    kernel = replace(kernel, objects=objects)
    for name in written_objects(kernel, points_to(kernel)) & ctx.parameter_keys.keys():
        for key in ctx.parameter_keys[name]:
            ctx.force(("written", key))


def layout_of(name: str, ctype: CType) -> Layout:
    """How a parameter is passed. Unions and what libclang does not say the layout of have no parts."""
    if ctype.shape != "record":
        return Layout(name, ctype.spelling, ctype.size)
    return Layout(name, ctype.spelling, ctype.size, tuple(_parts(name, 0, ctype)))


def _parts(name: str, at: int, ctype: CType) -> Iterator[tuple[str, int, str]]:
    if ctype.scalar:
        yield name, at, ctype.spelling
    elif ctype.shape == "array":
        for number in range(min(ctype.count or 0, _MOST_ELEMENTS)):
            yield from _parts(f"{name}[{number}]", at + number * ctype.element.size, ctype.element)
    elif ctype.shape == "record" and not ctype.record.union:
        for base, offset in ctype.record.bases:
            yield from _parts(base_label(name, ctype, base, offset), at + offset, base)
        for field in ctype.record.fields:
            if field.bits is None:
                yield from _parts(f"{name}.{field.name}", at + field.offset, field.type)
