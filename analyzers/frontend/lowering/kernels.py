"""One kernel, from its cursor to a `Kernel`: parameters, launch bounds, the body, and what went wrong in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from analyzers.frontend import cindex
from analyzers.frontend.invalid import CompilerError, InvalidNames, hides_names
from analyzers.frontend.lowering import (
    asynchronous,
    class_values,
    kernel_parameters,
    meetings,
    memory,
    phases,
    recasts,
    rules,
)
from analyzers.frontend.lowering.context import Context, TooLarge
from analyzers.frontend.lowering.discovery import Found
from analyzers.frontend.lowering.invocation import Facts, describe
from analyzers.frontend.lowering.nodes import FUNCTIONS, Kinds, Node, NodeTable
from analyzers.frontend.lowering.places import ParamPlace, Place, ValuePlace
from analyzers.frontend.lowering.prune import pruned
from analyzers.frontend.parse import Diagnostic, ParsedUnit, Severity
from analyzers.frontend.settled import instances_of
from analyzers.ir.expr import PTR, addr, sym
from analyzers.ir.kernel import KERNEL_BLOCK, Block, Instances, Kernel, LaunchBounds, Parameter, Site, Stmt, Unsupported
from analyzers.model import SourceSpan

#: How often a kernel is lowered again because a local turned out to need an address.
_ROUNDS = 8

#: Scalars of a written parameter that are followed one by one: as many as 4 KiB, the most in a launch, have integers.
_MOST_SCALARS = 1024

_RULES = rules
"""Imported for what its modules register."""


def lower_kernel(table: NodeTable, found: Found, unit: ParsedUnit, others: frozenset[str] = frozenset()) -> Kernel:
    """The IR of one kernel; never raises, what goes wrong is an `Unsupported` in its body. ``others``: the names of the
    other kernels."""
    if found.node is None:
        assert found.template is not None
        return _without_body(found, found.template, "uninstantiated-template", found.failure)
    forced: set[object] = set()
    try:
        for _ in range(_ROUNDS):
            ctx = Context(table, forced)
            ctx.cluster = _launch_bounds(found.node, found).cluster
            body = _lower_body(ctx, found.node)
            if not ctx.new_forced:
                lowered = _kernel(found, found.node, body, objects=tuple(ctx.objects.values()))
                kernel_parameters.force_written(ctx, lowered)
            if not ctx.new_forced:
                return _finished(ctx, found, body, unit, others)
            forced |= ctx.new_forced
    except TooLarge:
        return _without_body(found, found.node, "too-large", "the kernel is too large with its calls inlined")
    except RecursionError:
        return _without_body(found, found.node, "too-large", "expressions nested too deeply")
    except Exception as error:  # noqa: BLE001  a fault here must cost one kernel, and be seen
        return _without_body(found, found.node, "internal-error", f"{type(error).__name__}: {error}")
    return _without_body(found, found.node, "too-large", "addresses of locals did not settle")


def places(found: Found) -> tuple[SourceSpan, SourceSpan]:
    """The name and the whole definition of a kernel, as in `Kernel`."""
    node = found.node or found.template
    assert node is not None
    return _name_span(node), (found.template or node).span


def _lower_body(ctx: Context, kernel: Node) -> tuple[Stmt, ...]:
    facts = describe(ctx.table, kernel)
    ctx.reached.add(facts.key)
    if facts.body is None:
        return (Unsupported("parse-error", "the kernel has no body", ctx.site(kernel)),)
    ctx.active.append(facts.key)
    ctx.frame.body, ctx.frame.written = facts.body, facts.written
    with ctx.captured() as out:
        for number, parameter in enumerate(facts.parameters):
            ctx.frame.bindings[parameter.key] = _parameter(ctx, parameter, number)
        ctx.lower_all(facts.body.kids)
    return tuple(out)


def _parameter(ctx: Context, parameter: Node, number: int) -> Place:
    name = parameter.name or f"arg{number}"
    ctype = parameter.type
    initial = _initial(ctx, name, parameter)
    written = parameter.key in ctx.frame.written and ctype.scalar
    if not written and not ctx.needs_storage(parameter.key):
        return initial
    kept = class_values.storage(ctx, ctype, name, parameter.key, parameter)
    if ctype.scalar:
        memory.write(ctx, kept, memory.read(ctx, initial, parameter), parameter)
    else:
        class_values.copy(ctx, kept, initial, parameter, limit=_MOST_SCALARS)
    return kept


def _initial(ctx: Context, name: str, parameter: Node) -> Place:
    ctype = parameter.type
    if ctype.ir == PTR and ctype.shape in ("pointer", "reference"):
        return ValuePlace(addr(kernel_parameters.declare_pointee(ctx, name, ctype)), ctype, parameter.key)
    if ctype.ir is not None:
        ctx.parameters.append(Parameter(name, ctype.ir, ctype.spelling))
        return ValuePlace(sym(f"param:{name}", ctype.ir), ctype, parameter.key)
    return ParamPlace(name, ctype, parameter.key)


def _finished(ctx: Context, found: Found, body: tuple[Stmt, ...], unit: ParsedUnit, others: frozenset[str]) -> Kernel:
    assert found.node is not None
    problems = _errors(ctx, unit, found, others)
    body = meetings.met(ctx, phases.ordered(ctx, body))
    whole = _kernel(found, found.node, body, objects=tuple(ctx.objects.values()))
    live, objects = pruned(_inside(asynchronous.completed(ctx, whole)), ctx.objects.values(), ctx.pipelines.values())
    objects = recasts.added(ctx, objects)
    assumptions = list(ctx.assumptions)
    if found.guessed:
        assumptions.append(f"the template is not instantiated in sight; checked as {found.name}")
    return _kernel(
        found,
        found.node,
        (*problems, *live),
        parameters=tuple(ctx.parameters),
        objects=objects,
        functions=tuple((name, span) for span, name in ctx.functions.items()),
        instances=_instances(ctx),
        assumptions=tuple(assumptions),
        pipelines=tuple(ctx.pipelines.values()),
        declared=tuple((p.name, p.span) for p in describe(ctx.table, found.node).parameters if p.name),
        layouts=tuple(
            kernel_parameters.layout_of(p.name or f"arg{number}", p.type)
            for number, p in enumerate(describe(ctx.table, found.node).parameters)
        ),
    )


def _instances(ctx: Context) -> Instances:
    return instances_of(ctx.table.functions[key].node.cursor for key in ctx.reached if key in ctx.table.functions)


def _inside(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    return tuple(s for outer in body for s in (outer.body if isinstance(outer, Block) else (outer,)))


def _without_body(found: Found, node: Node, kind: str, text: str) -> Kernel:
    return _kernel(found, node, (Unsupported(kind, text, Site(_name_span(node), node.name)),))


def _kernel(found: Found, node: Node, body: tuple[Stmt, ...], **parts: Any) -> Kernel:
    written = found.template or node
    facts_body = next((k for k in node.kids if k.kind == Kinds.COMPOUND), None)
    return Kernel(
        name=found.name,
        base_name=found.base_name,
        mangled=found.mangled,
        span=_name_span(node),
        extent=written.span,
        body_span=facts_body.span if facts_body is not None else written.span,
        parameters=parts.get("parameters", ()),
        objects=parts.get("objects", ()),
        body=(Block(KERNEL_BLOCK, body),),
        bounds=_launch_bounds(node, found),
        functions=parts.get("functions", ()),
        instances=parts.get("instances", Instances()),
        assumptions=parts.get("assumptions", ()),
        pipelines=parts.get("pipelines", ()),
        declared=parts.get("declared", ()),
        layouts=parts.get("layouts", ()),
    )


def _name_span(node: Node) -> SourceSpan:
    location = node.cursor.location
    path = location.file.name if location.file is not None else ""
    size = len(node.name.split("<")[0].encode())
    line, column, offset = location.line, location.column, location.offset
    return SourceSpan(path, line, column, line, column + size, offset, offset + size)


# --- errors of the compiler ---------------------------------------------------------------------------------

_VARIABLES = frozenset({Kinds.VAR, Kinds.PARM})
_NAMING = _VARIABLES | {Kinds.DECL_REF}
_HIDDEN = "what uses declarations with an error, and may do so in a name or file that is not read here"


def _errors(ctx: Context, unit: ParsedUnit, found: Found, others: frozenset[str]) -> list[Stmt]:
    """An error inside a function the kernel reaches makes the kernel unknown: clang leaves code out there. Not so one
    in the body of one of the ``others``, which is an instance of the same template."""
    errors = [d for d in unit.diagnostics if d.severity >= Severity.ERROR and d.side == "device" and not d.in_probe]
    errors = [d for d in errors if not d.message.endswith("file not found")]
    if not errors:
        return []
    assert found.node is not None
    own = describe(ctx.table, found.node).span
    reached = [describe(ctx.table, ctx.table.functions[key].node) for key in ctx.reached if key in ctx.table.functions]
    extents = [function.span for function in reached]
    out: list[Stmt] = []
    for error in errors:
        touched = [extent for extent in extents if _touches(error, extent)]
        if touched and not (touched == [own] and _instance(error) in others):
            out.append(_problem(error))
    invalid = ctx.table.invalid(CompilerError(e.message, e.path, e.offset) for e in errors)
    if invalid:
        for function in reached:
            out += _left_out(ctx, invalid, function)
        out += _of_wrong_types(invalid, found)
    return out


def _left_out(ctx: Context, invalid: InvalidNames, function: Facts) -> Iterator[Unsupported]:
    """The first use of what is declared with an error: clang has left that code out."""
    path, start, end = function.span.path, function.span.start_offset, function.span.end_offset
    uses = list(invalid.in_code(ctx.table.code_of(path), start, end))
    if uses:
        own = _names_of_its_own(function.node)
        uses = [use for use in uses if use not in own]
    hidden = hides_names(ctx.table.bytes_of(path), start, end)
    if uses or hidden is not None:
        at, name = uses[0] if uses else (hidden or 0, "")
        text = ctx.table.bytes_of(path)
        line, column = text.count(b"\n", 0, at) + 1, at - text.rfind(b"\n", 0, at)
        size = max(1, len(name.encode()))
        span = SourceSpan(path, line, column, line, column + size, at, at + size)
        what = f"what uses `{name}`, whose declaration has an error" if name else _HIDDEN
        yield Unsupported("parse-error", f"clang leaves out {what}", Site(span, name))


def _names_of_its_own(function: Node) -> set[tuple[int, str]]:
    """Where a function names its own variables and parameters."""
    found = set[tuple[int, str]]()
    for cursor in cindex.within(function.cursor, _NAMING):
        declared = cursor.referenced if cursor._kind_id == Kinds.DECL_REF else cursor
        if declared is not None and declared._kind_id in _VARIABLES and declared.semantic_parent._kind_id in FUNCTIONS:
            found.add((cursor.location.offset, cursor.spelling))
    return found


def _of_wrong_types(invalid: InvalidNames, found: Found) -> Iterator[Unsupported]:
    """An instance of a template for a type that is declared with an error: the text does not name it."""
    assert found.node is not None
    written = f"{found.name} {found.node.cursor.type.spelling}".encode()
    for _, name in islice(invalid.in_code(written, 0, len(written)), 1):
        text = f"clang does not know what `{name}` is, whose declaration has an error"
        yield Unsupported("parse-error", text, Site(_name_span(found.node), name))


def _instance(error: Diagnostic) -> str:
    """The instance of a function template that an error is in."""
    first = next((n.message for n in error.notes if n.message.startswith("in instantiation")), "")
    match = _INSTANCE.match(first)
    return match.group(1) if match else ""


def _problem(error: Diagnostic) -> Unsupported:
    if error.is_device_launch:
        text = "a kernel is launched from device code: what it does to memory is not followed"
        return Unsupported("dynamic-parallelism", text, Site(error.span, ""))
    return Unsupported("parse-error", error.message, Site(error.span, ""))


def _touches(error: Diagnostic, extent: SourceSpan) -> bool:
    spans = [(error.path, error.offset, error.offset), *((r.path, r.start_offset, r.end_offset) for r in error.ranges)]
    # A brace that is never closed is missed at the end of the file; the note names the one that is open.
    telling = ("in instantiation", "to match this")
    spans += [(n.path, n.offset, n.offset) for n in error.notes if n.message.startswith(telling)]
    return any(p == extent.path and a < extent.end_offset and b >= extent.start_offset for p, a, b in spans)


# --- launch bounds ------------------------------------------------------------------------------------------

_INSTANCE = re.compile(r"in instantiation of function template specialization '(.*)' requested here$")
_BOUNDS = re.compile(r"__launch_bounds__\s*\((.*)\)\s*$", re.DOTALL)
_CLUSTER = re.compile(r"cluster_dims\((.*)\)$", re.DOTALL)


def _launch_bounds(node: Node, found: Found) -> LaunchBounds:
    most: int | None = None
    cluster: tuple[int, int, int] | None = None
    for kid in (k for k in node.kids if k.kind >= 400):
        match = _BOUNDS.match(kid.text.strip())
        if match:
            first = _first_argument(match.group(1))
            value = _evaluated(first, node, found)
            if value is not None and value > 0:
                most = value
        match = _CLUSTER.search(kid.cursor.spelling or "")
        if match:
            cluster = _cluster(match.group(1), node, found)
    return LaunchBounds(most, cluster)


def _cluster(text: str, node: Node, found: Found) -> tuple[int, int, int] | None:
    """Blocks per cluster; None where they are left to the launch, or not known."""
    sides = [_evaluated(side, node, found) for side in text.split(",") if side.strip()]
    known = [n for n in sides if n is not None and n > 0]
    if not known or len(known) < len(sides) or len(known) > 3:
        return None
    x, y, z = (*known, 1, 1, 1)[:3]
    return x, y, z


def _first_argument(text: str) -> str:
    depth = 0
    for at, letter in enumerate(text):
        if letter in "(<[":
            depth += 1
        elif letter in ")>]":
            depth -= 1
        elif letter == "," and depth == 0:
            return text[:at]
    return text


def _evaluated(text: str, node: Node, found: Found) -> int | None:
    """A small constant expression over literals, template arguments and constants of the unit."""
    known: dict[str, int] = {}
    if found.template is not None:
        parameters = [k for k in found.template.kids if k.kind in (27, 28, 29)]
        for number, parameter in enumerate(parameters):
            if parameter.kind == 28:
                known[parameter.name] = node.cursor.get_template_argument_value(number)
    names = set(re.findall(r"[A-Za-z_]\w*", text)) - set(known)
    if names:
        known.update(_constants(node.table, names))
    expression = re.sub(r"\b(0[xX][\da-fA-F]+|\d+)[uUlL]*\b", r"\1", text).replace("/", "//")
    for name in re.findall(r"[A-Za-z_]\w*", expression):
        if name not in known and not re.fullmatch(r"[xX][\da-fA-F]+", name):
            return None
    expression = re.sub(r"\b[A-Za-z_]\w*\b", lambda m: str(known.get(m.group(), m.group())), expression)
    if not re.fullmatch(r"[\da-fA-FxX\s+*/()%<>-]+", expression):
        return None
    return _arithmetic(expression)


def _constants(table: NodeTable, names: set[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for cursor in table.unit.cursor.get_children():
        if cursor._kind_id == Kinds.VAR and cursor.spelling in names:
            value = Node(cursor, table).evaluated()
            if isinstance(value, int):
                found[cursor.spelling] = value
    return found


def _arithmetic(text: str) -> int | None:
    def apply(op: ast.operator, a: int, b: int) -> int:
        if isinstance(op, ast.Add):
            return a + b
        if isinstance(op, ast.Sub):
            return a - b
        if isinstance(op, ast.Mult):
            return a * b
        if isinstance(op, ast.FloorDiv):
            return a // b
        raise ValueError

    def value(node: ast.AST) -> int:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.BinOp):
            return apply(node.op, value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        raise ValueError

    try:
        return value(ast.parse(text.strip(), mode="eval").body)
    except (ValueError, SyntaxError, ZeroDivisionError):
        return None
