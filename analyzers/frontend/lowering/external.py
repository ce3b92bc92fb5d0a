"""Functions without a body: known to be pure, or with effects that nobody sees."""

from __future__ import annotations

from analyzers.frontend.cindex import CursorKind
from analyzers.frontend.lowering import class_values, memory
from analyzers.frontend.lowering.context import Context, pure
from analyzers.frontend.lowering.designators import held_place, pointee
from analyzers.frontend.lowering.effects import ctx_effect
from analyzers.frontend.lowering.implicit_copies import check_copy
from analyzers.frontend.lowering.invocation import Call, Facts, is_implicit
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.nodes import Kinds
from analyzers.frontend.lowering.places import Closure, FunctionPlace, MemPlace, Place, RecordValue, Value
from analyzers.ir.expr import PTR, U64, Expr, addr, make


def number_method(ctx: Context, call: Call, this: Place) -> Value:
    """A method, conversion or operator of a number class: its result is data."""
    given: list[Expr] = []
    for argument in call.args:
        value = ctx.value(argument)
        if value is not None:
            given.append(value if isinstance(value, Expr) else class_values.scalar_of(ctx, value, argument))
    result = ctx.table.types.of(call.target.cursor.result_type)
    shown = call.object if call.object is not None else call.node
    ty = this.type.ir or U64
    if call.name == "operator=" and given:
        memory.write(ctx, this, memory.convert_scalar(ctx, given[0], ty), shown)
        return this
    own = memory.read(ctx, this, shown)
    if result.shape == "reference":
        memory.write(ctx, this, pure(call.name, ty, own, *given), shown)
        return this
    if result.scalar and call.target.kind == Kinds.CONVERSION:
        return memory.convert_scalar(ctx, own, result.ir or U64)
    if result.scalar:
        return pure(call.name, result.ir or U64, own, *given)
    if result.shape == "void":
        return None
    return ctx.unknown_value(result, call.name, call.node)


def external(ctx: Context, call: Call, facts: Facts, this: Place | None) -> Value:
    """A function without a definition in sight."""
    result = ctx.table.types.of(call.target.cursor.result_type)
    made = facts.bundled or is_implicit(call.target.cursor)
    if call.name == "operator=" and this is not None and len(call.args) == 1 and made:
        return _implicit_assignment(ctx, call, this)
    if facts.bundled and facts.file.endswith("textures.h") and facts.name.startswith("tex"):
        ctx.assumptions["what textures read is not written during the kernel"] = None
    writes = _written_arguments(ctx, call, facts)
    if writes is None or not (facts.bundled or _touches_nothing(facts)):
        for argument in call.args:
            if argument.type.scalar:
                ctx_effect(ctx, argument)
        text = f"{facts.qualified} has no definition here"
        return ctx.unsupported_value("call-to-unknown-function", text, call.node)
    given: list[Expr] = []
    for number, argument in enumerate(call.args):
        if number in writes:
            continue
        value = ctx.value(argument)
        if isinstance(value, Expr):
            given.append(value)
        elif value is not None and not isinstance(value, (Closure, FunctionPlace)):
            given.extend((class_values.leaf_values(ctx, value, argument) or {}).values())
    if this is not None and not isinstance(this, Closure):
        given.extend((class_values.leaf_values(ctx, this, call.node) or {}).values())
    for number in writes:
        _write_output(ctx, call, number, facts, given)
    changed = this is not None and not isinstance(this, Closure) and _changes_object(call)
    if changed and not _write_object(ctx, call, this, facts, given):
        text = f"{facts.qualified} has no definition here"
        return ctx.unsupported_value("call-to-unknown-function", text, call.node)
    if result.shape == "reference":
        return _unknown_reference(ctx, call, facts, result)
    if not is_pure(facts):
        return ctx.unknown_value(result, f"result of {facts.qualified}", call.node)
    return pure_result(ctx, result, facts.name, given, call)


def _touches_nothing(facts: Facts) -> bool:
    """Whether a function that is only declared is known to use no memory: those of libdevice, and what the source
    declares ``__attribute__((const))``. One that is ``pure`` may read what others write."""
    return any(k.kind == _CONST_ATTR for k in facts.node.kids) or facts.name.startswith(_LIBDEVICE)


_CONST_ATTR: int = CursorKind.CONST_ATTR.value
_LIBDEVICE = ("__nv_", "__nvvm_", "__builtin_")


def _changes_object(call: Call) -> bool:
    method = call.target.cursor
    return call.target.kind == Kinds.METHOD and not method.is_const_method() and not method.is_static_method()


def _write_object(ctx: Context, call: Call, this: Place | None, facts: Facts, given: list[Expr]) -> bool:
    """The object of a method of a library has other contents afterwards; False where these cannot be told apart."""
    if this is None or this.type.shape != "record":
        return True
    leaves = this.type.leaves()
    if leaves is None or not this.type.record.splittable or any(leaf.ir == PTR for _, leaf in leaves):
        return False
    if is_pure(facts):
        made = {at: pure(f"{facts.name}+{at}", leaf.ir or U64, *given) for at, leaf in leaves}
    else:
        made = {at: ctx.havoc(leaf.ir or U64, f"changed by {facts.qualified}", call.node) for at, leaf in leaves}
    class_values.store_leaves(ctx, this, made, call.node)
    return True


_PURE_FILES = ("math", "device_math", "vectors", "c_library", "cpp_core", "short_float", "cuda_fp16", "cuda_bf16",
               "cuda_fp8",
               "textures",
               "cuComplex", "complex", "builtins")  # fmt: skip


def is_pure(facts: Facts) -> bool:
    """Whether a declared-only function computes its value from its arguments alone.

    Collectives, random numbers and the like are declared only, too: their values differ from thread to thread.
    """
    if not facts.bundled or facts.name.startswith("__cuda_lsp_"):
        return False
    return facts.file.rsplit("/", 1)[-1].split(".")[0] in _PURE_FILES


def _unknown_reference(ctx: Context, call: Call, facts: Facts, result: CType) -> Place:
    if facts.name == "__cuda_lsp_private":
        # Storage that a library class keeps for itself: no other access can reach it.
        return MemPlace(addr(ctx.object("private", "local", result.element, span=call.node.span)), result.element)
    pointer = ctx.havoc(PTR, f"result of {facts.qualified}", call.node)
    return MemPlace(pointer, result.element)


def pure_result(ctx: Context, result: CType, name: str, given: list[Expr], call: Call) -> Value:
    if result.scalar and result.ir is not None and result.shape != "reference":
        return make("call", result.ir, tuple(given), name)
    if result.shape == "record":
        leaves = result.leaves()
        if leaves is not None and result.record.splittable:
            return RecordValue({at: pure(f"{name}+{at}", leaf.ir or U64, *given) for at, leaf in leaves}, result)
    if result.shape == "void":
        return None
    return ctx.unknown_value(result, name, call.node)


def _implicit_assignment(ctx: Context, call: Call, this: Place) -> Value:
    """A copy or move assignment that the compiler made."""
    value = ctx.value(call.args[0])
    target = held_place(ctx, this)
    source = memory.as_place(ctx, value, call.args[0])
    shown = call.object if call.object is not None else call.node
    if source.type.shape == "record" and target.type.shape == "record":
        check_copy(ctx, target.type, call.node, assigned=True)
        source = memory.base_part(ctx, source, target.type, call.node)
        class_values.copy(ctx, target, source, shown, call.args[0])
    elif source.type.scalar and target.type.scalar:
        memory.write(ctx, target, memory.read(ctx, source, call.args[0]), shown)
    else:
        leaves = target.type.leaves() or ()
        made = {at: ctx.havoc(leaf.ir or U64, "assigned value", call.node) for at, leaf in leaves}
        class_values.store_leaves(ctx, target, made, shown)
    return target


def _written_arguments(ctx: Context, call: Call, facts: Facts) -> list[int] | None:
    """The arguments a declared-only function writes through; None when it could touch any memory."""
    written: list[int] = []
    for number, parameter in enumerate(facts.parameters):
        ctype = parameter.type
        if ctype.shape not in ("pointer", "reference") or number >= len(call.args):
            continue
        inner = ctype.element
        if ctype.shape == "reference" and inner.const and not _holds_pointer(inner):
            continue
        if not facts.bundled:
            return None
        if inner.const or inner.shape in ("void", "function") or "&&" in parameter.text:
            continue  # a forwarding reference stands for a value
        if inner.shape == "record" and not inner.record.splittable:
            return None
        written.append(number)
    if not facts.bundled and any(_holds_pointer(a.type) for a in call.args):
        return None
    return written


def _holds_pointer(ctype: CType) -> bool:
    if ctype.shape == "pointer":
        return True
    leaves = ctype.leaves() if ctype.shape == "record" else None
    return ctype.shape == "record" and (leaves is None or any(leaf.ir == PTR for _, leaf in leaves))


def _write_output(ctx: Context, call: Call, number: int, facts: Facts, given: list[Expr]) -> None:
    """An output parameter of a library function gets a value that depends on the inputs."""
    argument = call.args[number]
    target = pointee(ctx, argument) if argument.type.shape in ("pointer", "array") else ctx.place(argument)
    old = class_values.leaf_values(ctx, target, argument) if argument.type.shape != "pointer" else None
    inputs = [*given, *(old or {}).values()]
    leaves = target.type.leaves() or ()
    made: dict[int, Expr] = {}
    for at, leaf in leaves:
        ty = leaf.ir or U64
        if is_pure(facts):
            made[at] = pure(f"{facts.name}:{number}+{at}", ty, *inputs)
        else:
            made[at] = ctx.havoc(ty, f"written by {facts.qualified}", argument)
    if target.type.scalar and made:
        memory.write(ctx, target, made[0], argument)
    else:
        class_values.store_leaves(ctx, target, made, argument)
