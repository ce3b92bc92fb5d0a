"""Calls: which function is meant, and whether it is an intrinsic, a definition to inline or a declaration only."""

from __future__ import annotations

import re
from dataclasses import replace

from analyzers.frontend.cindex import CursorKind
from analyzers.frontend.lowering import initialisation, memory
from analyzers.frontend.lowering.construction import constructed
from analyzers.frontend.lowering.context import Context, is_stable, places, values
from analyzers.frontend.lowering.designators import decayed_array, held_place, pointee
from analyzers.frontend.lowering.effects import ctx_effect
from analyzers.frontend.lowering.external import external, number_method
from analyzers.frontend.lowering.function_choices import chosen_function
from analyzers.frontend.lowering.function_variables import function_named
from analyzers.frontend.lowering.groups import GROUP_METHODS
from analyzers.frontend.lowering.inlining import inline
from analyzers.frontend.lowering.intrinsics import INTRINSICS, QUALIFIED, Rule
from analyzers.frontend.lowering.invocation import Call, Facts, arguments_of, describe
from analyzers.frontend.lowering.nodes import REFERENCES, Kinds, Node, stripped
from analyzers.frontend.lowering.places import Closure, FunctionPlace, Place, Value, ValuePlace
from analyzers.ir.expr import Expr
from analyzers.ir.kernel import Assign, If

_FINAL = CursorKind.CXX_FINAL_ATTR.value
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
    result = call(ctx, node, as_object=True)
    return memory.as_place(ctx, result, node)


def call(ctx: Context, node: Node, as_object: bool = False) -> Value:
    """The result of a call: a place when it returns a reference or a class value. ``as_object``: the object counts that
    a reference refers to, and not only what it holds now."""
    target = node.reference
    inner = initialisation.elided(node)
    if inner is not node:
        return ctx.value(inner)
    if target is None or target.kind not in _CONTAINERS:
        return _indirect(ctx, node, target)
    if target.kind == Kinds.CONSTRUCTOR:
        return constructed(ctx, node)
    if target.kind == Kinds.DESTRUCTOR:
        return _destroyed(ctx, node, target)
    return invoke(ctx, arguments_of(node, target), as_object)


#: Templates whose bodies clang does not instantiate: they name the object they are given.
_SAME_OBJECT = frozenset({"std::move", "std::forward", "std::as_const", "std::move_if_noexcept"})


#: Functions of the runtime API that start kernels and copies; device code may call them, too.
_LAUNCHING = re.compile(
    r"cudaGraphLaunch|cudaLaunch\w*Kernel\w*|cudaLaunchDevice\w*|cudaMem(?:cpy|set|Prefetch)\w*|__cudaPushCallConfiguration"
)


def invoke(ctx: Context, call: Call, as_object: bool = False) -> Value:
    """A call of a known function: an intrinsic, a definition to inline, or a declaration only."""
    facts = describe(ctx.table, call.target)
    if facts.bundled and _LAUNCHING.fullmatch(call.name):
        return ctx.unsupported_value(
            "dynamic-parallelism", f"{call.name} in device code starts work beside it", call.node
        )
    rule = INTRINSICS.get(call.name) or GROUP_METHODS.get(facts.qualified)
    if rule is None and call.node.type.scalar and len(call.args) == 2:
        rule = QUALIFIED.get(facts.qualified)
        if rule is not None and as_object and facts.result.shape == "reference":
            return _one_of_two(ctx, call, facts, rule)
    if rule is not None and facts.has_meaning:
        return rule(ctx, call)
    if facts.qualified in _SAME_OBJECT and facts.body is None and len(call.args) == 1:
        return held_place(ctx, ctx.place(call.args[0]))
    if facts.node.kind == Kinds.FUNCTION and any(k.kind == Kinds.GLOBAL_ATTR for k in facts.node.kids):
        return ctx.unsupported_value("dynamic-parallelism", f"{call.name} is launched from device code", call.node)
    method = call.target.kind in (Kinds.METHOD, Kinds.CONVERSION) and not call.target.cursor.is_static_method()
    this: Place | None = None
    if method:
        this = _object(ctx, call)
        if isinstance(this, FunctionPlace) and not this.instead:
            return inline(ctx, describe(ctx.table, this.function), call.node, call.args, None)
        if this is not None and this.type.scalar:
            return number_method(ctx, call, this)
        if call.target.cursor.is_virtual_method() and not _dispatch_is_known(call):
            return ctx.unsupported_value("virtual-call", call.node.text[:60], call.node)
    if facts.body is not None:
        return inline(ctx, facts, call.node, call.args, this)
    return external(ctx, call, facts, this)


def _one_of_two(ctx: Context, call: Call, facts: Facts, rule: Rule) -> Value:
    """``std::min`` and ``std::max`` give one of the objects that they are given: its value where neither of them can
    change any more."""
    with ctx.captured() as emitted:
        given = [ctx.place(a) for a in call.args]
    if not emitted and all(isinstance(p, ValuePlace) and is_stable(p.value) for p in given):
        return rule(ctx, call)
    if facts.body is None:
        return ctx.unsupported_value("call-to-unknown-function", f"{facts.qualified} has no definition here", call.node)
    return inline(ctx, facts, call.node, call.args, None)


def _dispatch_is_known(call: Call) -> bool:
    """Whether a virtual function is called on an object whose class is certain, or by its qualified name."""
    callee = call.node.kids[0] if call.node.kids else None
    if callee is not None and callee.kind == Kinds.MEMBER and any(k.kind in REFERENCES for k in callee.kids):
        return True
    owner = call.target.cursor.semantic_parent
    if any(k._kind_id == _FINAL for c in (call.target.cursor, owner) for k in c.get_children()):
        return True
    if call.object is None or call.arrow:
        return False
    given = stripped(call.object)
    target = given.reference
    if given.kind in (Kinds.DECL_REF, Kinds.MEMBER):
        # An object named directly, or a part of one, has the class that it is declared with.
        return target is not None and target.type.shape == "record"
    if given.kind == Kinds.SUBSCRIPT:
        return decayed_array(given.kids[0]) is not None
    if given.kind != Kinds.CALL or target is None:
        return False
    return target.kind == Kinds.CONSTRUCTOR or _gives_value(given, target)


def _gives_value(node: Node, function: Node) -> bool:
    """The call makes the object it gives."""
    return function.kind in _CONTAINERS and node.table.types.of(function.cursor.result_type).shape == "record"


def _destroyed(ctx: Context, node: Node, target: Node) -> Value:
    parent = target.cursor.semantic_parent
    owner = ctx.table.types.of(parent.type) if parent is not None else None
    if owner is None or owner.shape != "record" or owner.record.has_destructor():
        return ctx.unsupported_value("destructor", f"{node.text[:60]!r} calls a destructor with effects", node)
    return None


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


def _one_of(ctx: Context, node: Node, chosen: FunctionPlace, args: list[Node]) -> Value:
    """A call of one of several known functions: each in a branch of its own."""
    for condition, function in chosen.instead:
        rest = replace(chosen, instead=chosen.instead[1:])
        with ctx.branch() as then:
            one = _one_of(ctx, node, function, args)
        with ctx.branch() as orelse:
            other = _one_of(ctx, node, rest, args)
        result: Value = None
        if isinstance(one, Expr) and isinstance(other, Expr) and one.ty == other.ty:
            result = ctx.temporary(one.ty, "result")
            then.append(Assign(result.value, one))
            orelse.append(Assign(result.value, other))
        elif one is not None or other is not None:
            result = ctx.unsupported_value("indirect-call", f"objects that {node.text[:60]!r} gives", node)
        ctx.emit(If(condition, tuple(then), tuple(orelse), ctx.site(node)))
        return result
    facts = describe(ctx.table, chosen.function)
    called = Call(node, chosen.function, chosen.function.name, args)
    rule = INTRINSICS.get(called.name)
    if rule is not None and facts.has_meaning:
        return rule(ctx, called)
    if facts.body is not None:
        return inline(ctx, facts, node, args, None)
    return external(ctx, called, facts, None)


def _indirect(ctx: Context, node: Node, target: Node | None) -> Value:
    """A call through a variable: known when the function was passed down to here."""
    kids = [k for k in node.kids if k.kind not in REFERENCES]
    if kids:
        callee = stripped(kids[0])
        while callee.kind == Kinds.UNARY and callee.operator == "*":
            callee = stripped(callee.kids[0])
        found: Value = function_named(callee) or chosen_function(ctx, callee)
        if found is None and callee.kind in (Kinds.DECL_REF, Kinds.MEMBER, Kinds.CALL):
            with ctx.captured() as emitted:
                found = ctx.place(callee)
            if isinstance(found, (FunctionPlace, Closure)):
                ctx.out.extend(emitted)
        if isinstance(found, FunctionPlace):
            return _one_of(ctx, node, found, kids[1:])
    for kid in kids[1:]:
        if kid.type.scalar:
            ctx_effect(ctx, kid)
    if target is None and node.type.shape in ("other", "record") and not node.type.scalar:
        return ctx.unsupported_value("parse-error", f"clang did not resolve {node.text[:60]!r}", node)
    return ctx.unsupported_value("indirect-call", f"the target of {node.text[:60]!r} is not known", node)
