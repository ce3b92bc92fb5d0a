"""Lambdas: what they capture, and how."""

from __future__ import annotations

from analyzers.frontend.captures import THIS
from analyzers.frontend.lowering import class_values, declarations, memory
from analyzers.frontend.lowering.context import Context, Frame
from analyzers.frontend.lowering.designators import held_place
from analyzers.frontend.lowering.function_variables import as_it_is_now
from analyzers.frontend.lowering.implicit_copies import runs_code
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.nodes import Kinds, Node, initializer
from analyzers.frontend.lowering.places import (
    Closure,
    FunctionPlace,
    MemPlace,
    ParamPlace,
    Place,
    RecordValue,
    Value,
    ValuePlace,
)


def closure(ctx: Context, node: Node) -> Value:
    """A lambda expression: by-value captures are copied now, the others seen through the frame."""
    captures: dict[int, Place] = {}
    by_reference, default, copies_this = _capture_modes(node)
    for kid in node.kids:
        if kid.kind == Kinds.PARM or kid.kind == Kinds.COMPOUND:
            break
        if kid.kind not in (Kinds.VARIABLE_REF, Kinds.DECL_REF) or kid.reference is None:
            continue
        target = kid.reference
        if target.key in captures or target.kind not in (Kinds.VAR, Kinds.PARM):
            continue
        if kid.kind == Kinds.VARIABLE_REF and ctx.frame.lookup(target.key) is None:
            _init_capture(ctx, target, captures, target.name in by_reference)
            continue
        if target.name in by_reference or (kid.kind == Kinds.DECL_REF and default == "&" and not _named(node, kid)):
            continue
        place = ctx.frame.lookup(target.key)
        if place is not None:
            captures[target.key] = _captured(ctx, place, target, node)
    this = ctx.frame.enclosing_this()
    if this is not None and copies_this:
        this = _copy_of_object(ctx, this, node)
    made = Closure(node, node.type, ctx.frame, captures, this)
    if node.type.shape == "record":
        ctx.closures.setdefault(node.type.record.declaration.data[0], []).append(made)
    return made


def carried(ctx: Context, place: Place, node: Node) -> Closure | None:
    """A lambda made elsewhere, by the host: its body sees the copies in the data members of its class.

    None where what a member holds cannot be told, and for captures by reference: those are places of the host.
    """
    record = place.type.record
    if record.captures is None:
        return None
    copies: dict[int, Place] = {}
    this: Place | None = None
    for capture, field in zip(record.captures, record.fields, strict=True):
        if field.type.shape == "reference":
            return None
        held = memory.member(ctx, place, field, node)
        if capture.variable is not None:
            copies[ctx.table.declaration(capture.variable).key] = held
        elif capture.name == THIS:
            this = _object_around(ctx, held, node)
    return Closure(node, place.type, Frame("lambda"), copies, this)


def _object_around(ctx: Context, held: Place, node: Node) -> Place:
    """The object that a captured `this` stands for: what the address points to, or the copy of `*this`."""
    if held.type.shape != "pointer":
        return held
    return MemPlace(memory.read(ctx, held, node), held.type.element)


def _named(node: Node, kid: Node) -> bool:
    return any(k.kind == Kinds.VARIABLE_REF and k.reference is kid.reference for k in node.kids)


def _copy_of_object(ctx: Context, this: Place, node: Node) -> Place:
    """``[*this]``: the object as it is now."""
    _check_captured(ctx, this.type, node)
    kept = class_values.storage(ctx, this.type, "this", ("capture", THIS, node.key), node)
    class_values.copy(ctx, kept, this, node)
    return kept


def _check_captured(ctx: Context, ctype: CType, node: Node) -> None:
    inner = ctype.flat()[0]
    if runs_code(ctx.table, inner):
        ctx.unsupported("constructor", f"capturing {inner.spelling} runs code", node)


def _capture_modes(node: Node) -> tuple[set[str], str, bool]:
    """The names captured by reference, the default mode, and whether the object around is copied, as written between
    the brackets."""
    text = node.text
    inner = text[1 : _closing_bracket(text)] if text.startswith("[") else "="
    by_reference: set[str] = set()
    default = ""
    copies_this = False
    for part in inner.split(","):
        part = part.strip()
        if part in ("&", "="):
            default = part
        elif part.replace(" ", "") == "*this":
            copies_this = True
        elif part.startswith("&"):
            by_reference.add(part[1:].split("=")[0].strip())
    return by_reference, default, copies_this


def _closing_bracket(text: str) -> int:
    depth = 0
    for at, letter in enumerate(text):
        if letter == "[":
            depth += 1
        elif letter == "]":
            depth -= 1
            if not depth:
                return at
    return len(text)


def _init_capture(ctx: Context, variable: Node, captures: dict[int, Place], reference: bool) -> None:
    init = initializer(variable)
    if init is None:
        return
    if reference:
        captures[variable.key] = held_place(ctx, ctx.place(init))
        return
    outer = ctx.frame
    ctx.frame = Frame("capture", closure=Closure(variable, variable.type, outer))
    try:
        declarations.declare_local(ctx, variable)
        captures.update(ctx.frame.bindings)
    finally:
        ctx.frame = outer


def _captured(ctx: Context, place: Place, variable: Node, node: Node) -> Place:
    """A copy of a captured variable as it is now."""
    if isinstance(place, (Closure, FunctionPlace)):
        return as_it_is_now(ctx, place)
    _check_captured(ctx, place.type, node)
    if isinstance(place, (ValuePlace, ParamPlace, RecordValue)):
        return place
    if place.type.scalar:
        kept = class_values.storage(ctx, place.type, variable.name, ("capture", variable.key), node)
        memory.write(ctx, kept, memory.read(ctx, place, node), node)
        return kept
    if isinstance(place, MemPlace) and place.type.shape == "array":
        return place
    kept = class_values.storage(ctx, place.type, variable.name, ("capture", variable.key), node)
    class_values.copy(ctx, kept, place, node)
    return kept
