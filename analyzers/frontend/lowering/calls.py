"""Calls: inlining of device functions, methods, constructors, operators and lambdas; functions without a body."""

from __future__ import annotations

from analyzers.frontend.lowering import memory, objects
from analyzers.frontend.lowering.context import INLINE_DEPTH, Context, Frame, places, pure, values
from analyzers.frontend.lowering.expressions import ctx_effect, function_named, held_place, pointee
from analyzers.frontend.lowering.groups import GROUP_METHODS
from analyzers.frontend.lowering.intrinsics import INTRINSICS, QUALIFIED
from analyzers.frontend.lowering.invocation import Call, Facts, arguments_of, describe
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.nodes import REFERENCES, Kinds, Node, initializer, stripped
from analyzers.frontend.lowering.places import (
    Closure,
    FunctionPlace,
    MemPlace,
    ParamPlace,
    Place,
    RecordValue,
    SplitPlace,
    Value,
    ValuePlace,
    VarPlace,
)
from analyzers.ir.expr import PTR, U64, Expr, addr, make, var
from analyzers.ir.kernel import Block

_CONTAINERS = frozenset({Kinds.FUNCTION, Kinds.METHOD, Kinds.CONSTRUCTOR, Kinds.CONVERSION, Kinds.DESTRUCTOR})


@values(Kinds.CALL)
def call_value(ctx: Context, node: Node) -> Value:
    result = call(ctx, node)
    if result is None or isinstance(result, Expr):
        return result
    if result.type.scalar and ctx.discarded is not node:
        return memory.read(ctx, result, node)
    return result


@places(Kinds.CALL)
def call_place(ctx: Context, node: Node) -> Place:
    result = call(ctx, node)
    return memory.as_place(ctx, result, node)


def call(ctx: Context, node: Node) -> Value:
    """The result of a call: a place when it returns a reference or a class value."""
    target = node.reference
    inner = objects.elided(node)
    if inner is not node:
        return ctx.value(inner)
    if target is None or target.kind not in _CONTAINERS:
        return _indirect(ctx, node, target)
    if target.kind == Kinds.CONSTRUCTOR:
        return constructed(ctx, node)
    if target.kind == Kinds.DESTRUCTOR:
        return None
    return invoke(ctx, arguments_of(node, target))


def invoke(ctx: Context, call: Call) -> Value:
    """A call of a known function: an intrinsic, a definition to inline, or a declaration only."""
    facts = describe(ctx.table, call.target)
    rule = INTRINSICS.get(call.name) or GROUP_METHODS.get(facts.qualified)
    if rule is None and call.node.type.scalar and len(call.args) == 2:
        rule = QUALIFIED.get(facts.qualified)
    if rule is not None and (facts.bundled or facts.body is None):
        return rule(ctx, call)
    if facts.node.kind == Kinds.FUNCTION and any(k.kind == Kinds.GLOBAL_ATTR for k in facts.node.kids):
        return ctx.unsupported_value("device-launch", f"{call.name} launched from device code", call.node)
    method = call.target.kind in (Kinds.METHOD, Kinds.CONVERSION) and not call.target.cursor.is_static_method()
    this: Place | None = None
    if method:
        this = _object(ctx, call)
        if isinstance(this, FunctionPlace):
            return inline(ctx, describe(ctx.table, this.function), call.node, call.args, None)
        if this is not None and this.type.scalar:
            return _number_method(ctx, call, this)
        if call.target.cursor.is_virtual_method() and not isinstance(this, (SplitPlace, RecordValue)):
            return ctx.unsupported_value("virtual-call", call.node.text[:60], call.node)
    if facts.body is not None:
        return inline(ctx, facts, call.node, call.args, this)
    return external(ctx, call, facts, this)


def _object(ctx: Context, call: Call) -> Place | None:
    if call.object is None:
        this = ctx.frame.enclosing_this()
        if this is None:
            return None
        parent = call.target.cursor.semantic_parent
        owner = ctx.table.types.of(parent.type) if parent is not None else this.type
        return memory.base_part(ctx, this, owner, call.node) if owner.spelling != this.type.spelling else this
    if call.arrow:
        return pointee(ctx, call.object)
    return ctx.place(call.object)


def _indirect(ctx: Context, node: Node, target: Node | None) -> Value:
    """A call through a variable: known when the function was passed down to here."""
    kids = [k for k in node.kids if k.kind not in REFERENCES]
    if kids:
        callee = stripped(kids[0])
        while callee.kind == Kinds.UNARY and callee.operator == "*":
            callee = stripped(callee.kids[0])
        found: Value = function_named(callee)
        if found is None and callee.kind in (Kinds.DECL_REF, Kinds.MEMBER, Kinds.CALL):
            with ctx.captured() as emitted:
                found = ctx.place(callee)
            if isinstance(found, (FunctionPlace, Closure)):
                ctx.out.extend(emitted)
        if isinstance(found, FunctionPlace):
            facts = describe(ctx.table, found.function)
            called = Call(node, found.function, found.function.name, kids[1:])
            rule = INTRINSICS.get(called.name)
            if rule is not None and (facts.bundled or facts.body is None):
                return rule(ctx, called)
            if facts.body is not None:
                return inline(ctx, facts, node, kids[1:], None)
            return external(ctx, called, facts, None)
    for kid in kids[1:]:
        if kid.type.scalar:
            ctx_effect(ctx, kid)
    if target is None and node.type.shape in ("other", "record") and not node.type.scalar:
        return ctx.unsupported_value("parse-error", f"clang did not resolve {node.text[:60]!r}", node)
    return ctx.unsupported_value("indirect-call", f"the target of {node.text[:60]!r} is not known", node)


# --- inlining -----------------------------------------------------------------------------------------------


def inline(ctx: Context, facts: Facts, node: Node, args: list[Node], this: Place | None) -> Value:
    """The body of a function in place of its call."""
    if facts.key in ctx.active:
        return ctx.unsupported_value("recursion", f"{facts.qualified} calls itself", node)
    if len(ctx.active) > INLINE_DEPTH:
        return ctx.unsupported_value("recursion", f"calls nested deeper than {INLINE_DEPTH}", node)
    frame = Frame(facts.name, this=this)
    if isinstance(this, Closure):
        frame = Frame(facts.name, closure=this)
    elif this is not None and this.type.spelling.removeprefix("const ").startswith("(lambda at"):
        known = ctx.closures.get(this.type.record.declaration.data[0])
        if not known:
            return ctx.unsupported_value("indirect-call", "a lambda whose captures are not known", node)
        frame = Frame(facts.name, closure=known[-1])
    _bind(ctx, frame, facts, node, args)
    return _body(ctx, facts, node, frame, this)


def _bind(ctx: Context, frame: Frame, facts: Facts, node: Node, args: list[Node]) -> None:
    for number, parameter in enumerate(facts.parameters):
        given = args[number] if number < len(args) else None
        if given is None or (given.kind == Kinds.UNEXPOSED and not given.kids and not given.span.path):
            given = _default_argument(ctx, facts, number, given)
        if given is None:
            frame.bindings[parameter.key] = memory.as_place(
                ctx, ctx.unknown_value(parameter.type, f"argument {parameter.name}", node), parameter
            )
            continue
        frame.bindings[parameter.key] = _bound(ctx, facts, parameter, given)
    if len(args) > len(facts.parameters):
        for extra in args[len(facts.parameters) :]:
            ctx_effect(ctx, extra)


def _default_argument(ctx: Context, facts: Facts, number: int, given: Node | None) -> Node | None:
    """The default of a parameter: in the definition, an earlier declaration, or the template."""
    parameter = facts.parameters[number]
    own = [k for k in parameter.kids if 100 <= k.kind < 200]
    if own:
        return own[-1]
    from_template = (
        facts.node.cursor.specialized_template if hasattr(facts.node.cursor, "specialized_template") else None
    )
    for other in (facts.node.cursor.canonical, from_template):
        if other is None:
            continue
        declaration = ctx.table.declaration(other)
        named = [k for k in declaration.kids if k.kind == Kinds.PARM]
        if number < len(named):
            own = [k for k in named[number].kids if 100 <= k.kind < 200]
            if own:
                return own[-1]
    return given


def _bound(ctx: Context, facts: Facts, parameter: Node, given: Node) -> Place:
    """The parameter's place, with the argument's value in it."""
    ctype = parameter.type
    if ctype.shape == "reference":
        return objects.bound_reference(ctx, ctype, given, parameter)
    raw = ctx.value(given)
    if isinstance(raw, (Closure, FunctionPlace)):
        return raw
    if ctype.shape == "record":
        return _bound_record(ctx, parameter, given, raw)
    value = raw if isinstance(raw, Expr) else memory.scalar_of(ctx, raw, given) if raw is not None else None
    if value is None:
        return memory.as_place(ctx, ctx.unknown_value(ctype, "argument", given), parameter)
    value = memory.convert_scalar(ctx, value, ctype.ir or value.ty)
    if parameter.key not in facts.written and not ctx.needs_storage(parameter.key):
        return ValuePlace(ctx.held(value, parameter.name), ctype, parameter.key)
    target = memory.storage(ctx, ctype, parameter.name or "argument", parameter.key, parameter)
    memory.write(ctx, target, value, given)
    return target


def _bound_record(ctx: Context, parameter: Node, given: Node, raw: Value) -> Place:
    ctype = parameter.type
    forced = ctx.needs_storage(parameter.key)
    if isinstance(raw, ParamPlace) and not forced:
        return ParamPlace(raw.name, raw.type, parameter.key)
    if isinstance(raw, SplitPlace) and raw.key is None and not raw.offset and not forced:
        return SplitPlace(raw.names, ctype, parameter.key)
    target = memory.storage(ctx, ctype, parameter.name or "argument", parameter.key, parameter)
    if isinstance(raw, Expr):
        raw = memory.as_place(ctx, raw, given)
    if raw is not None:
        memory.copy(ctx, target, raw, given)
    return target


def _body(ctx: Context, facts: Facts, node: Node, frame: Frame, this: Place | None) -> Value:
    """Lower a function body inside `frame`; its parameters are bound already."""
    saved = (ctx.frame, ctx.calls, ctx.override, ctx.statement)
    if facts.bundled:
        # Code of the bundled headers is shown as the call that leads there.
        ctx.override = ctx.override or node
    else:
        ctx.calls = (*ctx.calls, (ctx.override or node).span)
        ctx.override = None
        ctx.functions[facts.qualified] = facts.span
        ctx.statement = None
    ctx.frame = frame
    ctx.active.append(facts.key)
    ctx.reached.add(facts.key)
    try:
        if facts.node.kind == Kinds.CONSTRUCTOR and this is not None:
            _member_initialisers(ctx, facts, this, node)
        return _lowered_body(ctx, facts, frame)
    finally:
        ctx.active.pop()
        ctx.frame, ctx.calls, ctx.override, ctx.statement = saved


def _lowered_body(ctx: Context, facts: Facts, frame: Frame) -> Value:
    assert facts.body is not None
    frame.facts, frame.written, frame.label = facts, facts.written, facts.name
    with ctx.captured() as body:
        ctx.lower_all(facts.body.kids)
    if frame.jumped:
        ctx.emit(Block(frame.label, tuple(body)))
    else:
        ctx.out.extend(body)
    result = frame.result
    if result is None or not frame.jumped:
        return frame.direct
    if isinstance(result, VarPlace):
        if facts.result.shape == "reference":
            return MemPlace(var(result.name, PTR), facts.result.element)
        return var(result.name, result.type.ir or U64)
    return result


def result_storage(ctx: Context, frame: Frame) -> Place | None:
    """Where a function with several returns leaves its value."""
    if frame.result is None and frame.facts is not None:
        facts = frame.facts
        ctype = facts.result
        if ctype.shape == "reference" or ctype.scalar:
            frame.result = VarPlace(ctx.name(f"%{facts.name}"), ctype, None)
        elif ctype.shape == "record":
            frame.result = memory.storage(ctx, ctype, f"%{facts.name}", None, facts.node)
    return frame.result


def returned(ctx: Context, value: Node, result: CType) -> Value:
    """The value of a return expression, seen from the caller."""
    if result.shape == "reference":
        if result.element.const and result.element.scalar and stripped(value).kind == Kinds.CONDITIONAL:
            return ValuePlace(memory.convert_scalar(ctx, ctx.scalar(value), result.element.ir or U64), result.element)
        return held_place(ctx, ctx.place(value))
    if result.scalar:
        raw = ctx.value(value)
        if isinstance(raw, (FunctionPlace, Closure)):
            return raw
        e = raw if isinstance(raw, Expr) else memory.scalar_of(ctx, raw, value) if raw is not None else None
        return memory.convert_scalar(ctx, e, result.ir or e.ty) if e is not None else None
    if result.shape == "void":
        ctx_effect(ctx, value)
        return None
    raw = ctx.value(value)
    if isinstance(raw, SplitPlace) and raw.key is not None:
        return SplitPlace(raw.names, raw.type, None, raw.offset)
    return raw


# --- construction -------------------------------------------------------------------------------------------


def is_construction(node: Node) -> bool:
    """Whether a call expression builds an object with a constructor."""
    if node.kind != Kinds.CALL:
        return False
    target = node.reference
    return target is not None and target.kind == Kinds.CONSTRUCTOR


def _arguments(node: Node) -> list[Node]:
    return [k for k in node.kids if k.kind not in REFERENCES]


def copies_temporary(node: Node) -> bool:
    """A copy or move by a constructor that the compiler made."""
    args = _arguments(node)
    if len(args) != 1 or node.type.shape != "record":
        return False
    facts = describe(node.table, node.reference) if node.reference is not None else None
    if facts is None or facts.body is not None or facts.initializers:
        return False
    given = args[0].type
    return given.shape == "record" and given.record.declaration == node.type.record.declaration


def trivial_construction(node: Node) -> bool:
    """A default construction that leaves the object as it is."""
    if _arguments(node) or node.type.shape not in ("record", "array"):
        return False
    facts = describe(node.table, node.reference) if node.reference is not None else None
    ctype = node.type.flat()[0]
    return facts is not None and facts.body is None and ctype.shape == "record" and not _has_defaults(ctype)


def _has_defaults(ctype: CType) -> bool:
    record = ctype.record
    if record.defaults is None:
        record.defaults = _finds_defaults(ctype)
    return record.defaults


def _finds_defaults(ctype: CType) -> bool:
    record = ctype.record
    for field in record.fields:
        if any(100 <= k._kind_id < 200 for k in field.cursor.get_children()) and field.bits is None:
            return True
        inner = field.type.flat()[0]
        if inner.shape == "record" and (_has_defaults(inner) or _default_constructor(inner) is not None):
            return True
    return any(_has_defaults(base) or _default_constructor(base) is not None for base, _ in record.bases)


def _default_constructor(ctype: CType) -> object | None:
    """The cursor of a written default constructor with a body."""
    for child in ctype.record.constructors():
        if not any(True for _ in child.get_arguments()) and not child.is_default_method():
            definition = child.get_definition()
            if definition is not None and any(k._kind_id == Kinds.COMPOUND for k in definition.get_children()):
                return definition
    return None


def constructed(ctx: Context, node: Node) -> Value:
    """The value a constructor call makes."""
    args = _arguments(node)
    ctype = node.type
    if ctype.scalar:
        return _number_constructed(ctx, node, args)
    if ctype.shape == "array":
        target = memory.storage(ctx, ctype, "%value", None, node)
        objects.initialise(ctx, target, node, node)
        return target
    if copies_temporary(node):
        value = ctx.value(args[0])
        if isinstance(value, SplitPlace) and (value.key is not None or value.offset):
            # A copy of a named object: its variables may change while the copy lives.
            leaves = memory.leaf_values(ctx, value, node)
            return RecordValue(leaves or {}, ctype)
        return value
    target = memory.storage(ctx, ctype, "%value", ("temporary", node.key), node)
    construct(ctx, target, node)
    if isinstance(target, SplitPlace):
        return SplitPlace(target.names, target.type, None)
    return target


def _number_constructed(ctx: Context, node: Node, args: list[Node]) -> Value:
    """A half, bfloat16 or fp8 number from other numbers."""
    ty = node.type.ir or U64
    given = [a for a in args if a.type.scalar]
    if len(given) == 1 and len(args) == 1:
        return memory.convert_scalar(ctx, ctx.scalar(given[0]), ty)
    if not args:
        return ctx.havoc(ty, "uninitialised number", node)
    return pure(f"make {node.type.spelling}", ty, *[ctx.scalar(a) for a in given])


def construct(ctx: Context, target: Place, node: Node) -> None:
    """Run a constructor on `target`."""
    args = _arguments(node)
    constructor = node.reference
    assert constructor is not None
    facts = describe(ctx.table, constructor)
    if facts.body is not None:
        frame = Frame(facts.name, this=target)
        if facts.key in ctx.active:
            ctx.unsupported("recursion", f"{facts.qualified} calls itself", node)
            return
        _bind(ctx, frame, facts, node, args)
        _body(ctx, facts, node, frame, target)
        return
    if not args:
        default_initialise(ctx, target, node)
        return
    if len(args) == 1 and args[0].type.shape == "record":
        value = ctx.value(args[0])
        if isinstance(value, Expr):
            value = memory.as_place(ctx, value, args[0])
        if value is not None:
            source = memory.base_part(ctx, value, target.type, node)
            memory.copy(ctx, target, source, node, args[0])
        return
    if facts.bundled or all(a.type.scalar for a in args):
        _opaque_construction(ctx, target, facts, args, node)
        return
    ctx.unsupported("call-to-unknown-function", f"constructor {facts.qualified} has no body here", node)


def _opaque_construction(ctx: Context, target: Place, facts: Facts, args: list[Node], node: Node) -> None:
    given = [ctx.scalar(a) for a in args if a.type.scalar]
    leaves = target.type.leaves()
    if leaves is None:
        return
    made = {at: pure(f"{facts.qualified}+{at}", leaf.ir or U64, *given) for at, leaf in leaves}
    memory.store_leaves(ctx, target, made, node)


def default_initialise(ctx: Context, target: Place, node: Node) -> None:
    """What an implicit default constructor does: default member initialisers and members' constructors."""
    ctype = target.type
    if ctype.shape != "record" or isinstance(target, Closure) or not _has_defaults(ctype):
        return
    for base, offset in ctype.record.bases:
        _default_part(ctx, memory.part_at(ctx, target, offset, base), node)
    _default_members(ctx, target, set(), node)


def _default_part(ctx: Context, part: Place, node: Node) -> None:
    written = _default_constructor(part.type)
    if written is None:
        default_initialise(ctx, part, node)
        return
    facts = describe(ctx.table, ctx.table.declaration(written))
    frame = Frame(facts.name, this=part)
    _bind(ctx, frame, facts, node, [])
    _body(ctx, facts, node, frame, part)


def _default_members(ctx: Context, target: Place, done: set[int], node: Node) -> None:
    saved = ctx.frame
    for field in target.type.record.fields:
        if field.key in done:
            continue
        given = [Node(k, ctx.table) for k in field.cursor.get_children() if 100 <= k._kind_id < 200]
        part = memory.member(ctx, target, field, node) if field.type.shape != "reference" else None
        if part is None:
            continue
        if given and field.bits is None and not _is_extent(field.type, given):
            ctx.frame = Frame("initialiser", this=target)
            try:
                objects.initialise(ctx, part, given[-1], node)
            finally:
                ctx.frame = saved
        elif field.type.shape == "record":
            _default_part(ctx, part, node)
        elif field.type.shape == "array" and field.type.flat()[0].shape == "record":
            inner, extents = field.type.flat()
            total = 1
            for extent in extents:
                total *= extent
            if _has_defaults(inner) or _default_constructor(inner) is not None:
                for number in range(min(total, 64)):
                    _default_part(ctx, memory.part_at(ctx, part, number * inner.size, inner), node)


def _is_extent(ctype: CType, given: list[Node]) -> bool:
    """Whether the expressions below an array member are its extents only."""
    return ctype.shape == "array" and given[-1].kind != Kinds.INIT_LIST


def _member_initialisers(ctx: Context, facts: Facts, this: Place, node: Node) -> None:
    if this.type.shape != "record":
        return
    done: set[int] = set()
    delegated = False
    for member, given in facts.initializers:
        if member is None or member.reference is None:
            if is_construction(stripped(given)) and given.type.shape == "record":
                delegated = delegated or given.type.record.declaration == this.type.record.declaration
                construct(ctx, memory.base_part(ctx, this, given.type, node), stripped(given))
            continue
        field = this.type.record.find(member.reference.key, member.name)
        if field is None:
            ctx.unsupported("constructor", f"member {member.name}", member)
            continue
        done.add(field.key)
        if field.type.shape == "reference":
            _bind_member(ctx, this, field.offset, field.type, given)
            continue
        objects.initialise(ctx, memory.member(ctx, this, field, node), given, member)
    if not delegated and _has_defaults(this.type):
        _default_members(ctx, this, done, node)


def _bind_member(ctx: Context, this: Place, offset: int, ctype: CType, given: Node) -> None:
    pointer = memory.address(ctx, held_place(ctx, ctx.place(given)), given)
    memory.write(ctx, memory.part_at(ctx, this, offset, ctype), pointer, given)


# --- lambdas ------------------------------------------------------------------------------------------------


def closure(ctx: Context, node: Node) -> Value:
    """A lambda expression: by-value captures are copied now, the others seen through the frame."""
    captures: dict[int, Place] = {}
    by_reference, default = _capture_modes(node)
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
    made = Closure(node, node.type, ctx.frame, captures, ctx.frame.enclosing_this())
    if node.type.shape == "record":
        ctx.closures.setdefault(node.type.record.declaration.data[0], []).append(made)
    return made


def _named(node: Node, kid: Node) -> bool:
    return any(k.kind == Kinds.VARIABLE_REF and k.reference is kid.reference for k in node.kids)


def _capture_modes(node: Node) -> tuple[set[str], str]:
    """The names captured by reference, and the default mode, as written between the brackets."""
    text = node.text
    inner = text[1 : _closing_bracket(text)] if text.startswith("[") else "="
    by_reference: set[str] = set()
    default = ""
    for part in inner.split(","):
        part = part.strip()
        if part in ("&", "="):
            default = part
        elif part.startswith("&"):
            by_reference.add(part[1:].split("=")[0].strip())
    return by_reference, default


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
        objects.declare_local(ctx, variable)
        captures.update(ctx.frame.bindings)
    finally:
        ctx.frame = outer


def _captured(ctx: Context, place: Place, variable: Node, node: Node) -> Place:
    """A copy of a captured variable as it is now."""
    if isinstance(place, (Closure, FunctionPlace)):
        return place
    if isinstance(place, (ValuePlace, ParamPlace, RecordValue)):
        return place
    if place.type.scalar:
        kept = memory.storage(ctx, place.type, variable.name, ("capture", variable.key), node)
        memory.write(ctx, kept, memory.read(ctx, place, node), node)
        return kept
    if isinstance(place, MemPlace) and place.type.shape == "array":
        return place
    kept = memory.storage(ctx, place.type, variable.name, ("capture", variable.key), node)
    memory.copy(ctx, kept, place, node)
    return kept


# --- functions without a body -------------------------------------------------------------------------------


def _number_method(ctx: Context, call: Call, this: Place) -> Value:
    """A method, conversion or operator of a number class: its result is data."""
    given: list[Expr] = []
    for argument in call.args:
        value = ctx.value(argument)
        if value is not None:
            given.append(value if isinstance(value, Expr) else memory.scalar_of(ctx, value, argument))
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
    if call.name == "operator=" and this is not None and len(call.args) == 1:
        return _implicit_assignment(ctx, call, this)
    if facts.bundled and facts.name.startswith("surf") and facts.name.endswith("write"):
        # Surfaces are memory of their own, which nothing here tracks: two threads may write one cell.
        return ctx.unsupported_value("surface-write", f"{facts.name} writes memory that is not followed", call.node)
    writes = _written_arguments(ctx, call, facts)
    if writes is None or (this is not None and not facts.bundled):
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
            given.extend((memory.leaf_values(ctx, value, argument) or {}).values())
    if this is not None and not isinstance(this, Closure):
        given.extend((memory.leaf_values(ctx, this, call.node) or {}).values())
    for number in writes:
        _write_output(ctx, call, number, facts, given)
    if not facts.bundled and result.shape == "void":
        return ctx.unsupported_value("call-to-unknown-function", f"{facts.qualified} has no definition here", call.node)
    if result.shape == "reference":
        return _unknown_reference(ctx, call, facts, result)
    if not is_pure(facts):
        return ctx.unknown_value(result, f"result of {facts.qualified}", call.node)
    return pure_result(ctx, result, facts.name, given, call)


_PURE_FILES = ("math", "device_math", "vectors", "c_library", "cpp_core", "cuda_fp16", "cuda_bf16", "cuda_fp8",
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
        source = memory.base_part(ctx, source, target.type, call.node)
        memory.copy(ctx, target, source, shown, call.args[0])
    elif source.type.scalar and target.type.scalar:
        memory.write(ctx, target, memory.read(ctx, source, call.args[0]), shown)
    else:
        leaves = target.type.leaves() or ()
        made = {at: ctx.havoc(leaf.ir or U64, "assigned value", call.node) for at, leaf in leaves}
        memory.store_leaves(ctx, target, made, shown)
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
    old = memory.leaf_values(ctx, target, argument) if argument.type.shape != "pointer" else None
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
        memory.store_leaves(ctx, target, made, argument)
