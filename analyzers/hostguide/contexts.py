"""Recorded launches to launch contexts; contexts from the user's word, and the one for kernels without a launch.

A recorded launch carries every fact of its path. What goes into a context is cut to the facts that speak, directly or
through others, of values the kernel sees; symbols are numbered anew, so that equal launches give equal contexts and an
edit elsewhere in the file changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from analyzers.frontend.cindex import Cursor, CursorKind
from analyzers.hostguide.execute import Executor, RawLaunch
from analyzers.hostguide.exprtree import written
from analyzers.hostguide.hosttypes import OTHER, HostType, PointerTo, RecordType
from analyzers.hostguide.memory import alternatives
from analyzers.hostguide.notes import note_of, span, text_of
from analyzers.hostguide.tree import Node
from analyzers.hostguide.values import Address, Null, Pointer, Record, Unknown, Value, facts_since
from analyzers.ir import expr as ex
from analyzers.ir.context import Constraint, LaunchContext, PointerArgument
from analyzers.ir.expr import BDIM, FALSE, GDIM, I64, TRUE, U32, Expr, FloatType, IntType
from analyzers.ir.kernel import Barrier, Kernel, statements
from analyzers.model import FactNote, LaunchSummary, SourceSpan, UserLaunch

SHARED_BYTES = ex.sym("smem.dynamic", I64)
_MOST_COMBINATIONS = 8
_MOST_FACTS = 60
_BLANKS = re.compile(r"\s+")


@dataclass(slots=True)
class _Draft:
    """A context in the making; symbols are still the machine's."""

    bindings: dict[Expr, Expr]
    notes: list[tuple[Expr, FactNote]]
    pointers: dict[str, list[tuple[Expr, Value]]]
    texts: dict[str, str]
    facts: list[Constraint]


def contexts_of(machine: Executor, raw: RawLaunch, assumptions: tuple[str, ...] = ()) -> list[LaunchContext]:
    """The contexts that one recorded launch stands for: one, or several where pointers or block sizes are chosen."""
    draft = _draft(machine, raw)
    found: list[LaunchContext] = []
    for guard, chosen, extra in _pointer_combinations(draft.pointers):
        facts = draft.facts
        if guard is not TRUE:
            facts = [*facts, *(Constraint(c, _launch_note(machine, raw)) for c in ex.conjuncts(guard))]
        for bindings, split_facts in _split_dimensions(draft.bindings, facts, _launch_note(machine, raw)):
            context = _finished(machine, raw, draft, bindings, split_facts, chosen, (*assumptions, *extra))
            if context is not None:
                found.append(context)
    return found


def _launch_note(machine: Executor, raw: RawLaunch) -> FactNote:
    return FactNote(text_of(machine.builder.sources, raw.node.cursor), span(raw.node.cursor), "relation")


def _draft(machine: Executor, raw: RawLaunch) -> _Draft:
    draft = _Draft({}, [], {}, {}, [])
    sources = machine.builder.sources
    launched = _launch_note(machine, raw)
    for symbols, value, position in ((GDIM, raw.grid, 1), (BDIM, raw.block, 2)):
        note = _dimension_note(machine, raw.node, position, launched)
        for axis, symbol in zip("xyz", symbols, strict=True):
            draft.bindings[symbol] = machine.to_int(machine.part(value, axis, U32, str(symbol.value)), U32, "dim")
            draft.notes.append((symbol, note))
    draft.bindings[SHARED_BYTES] = raw.shared
    draft.notes.append((SHARED_BYTES, replace(launched, kind="dimension")))
    parameters = [c for c in raw.kernel.get_arguments() if c is not None]
    for index, parameter in enumerate(parameters):
        value = raw.arguments[index] if index < len(raw.arguments) else None
        node = raw.texts[index] if index < len(raw.texts) else None
        if value is None or not parameter.spelling:
            continue
        text = text_of(sources, node.cursor) if node is not None else ""
        note = FactNote(f"{parameter.spelling} = {text}", span(node.cursor), "relation") if node and text else launched
        ty = machine.builder.types.of(parameter.type)
        _bind(machine, draft, parameter.spelling, ty, value, note, text, parameter, 0)
    _collect_facts(machine, raw, draft, launched)
    return draft


def _dimension_note(machine: Executor, node: Node, position: int, fallback: FactNote) -> FactNote:
    """A dimension is cited as it was declared, ``dim3 grid((n + 255) / 256)``, else as it stands in the launch."""
    part = node.args[position] if node.op == "launch" else None
    while part is not None and part.op in ("construct", "cast") and len(part.args) == 1:
        part = part.args[0]
    if part is None:
        return replace(fallback, kind="dimension")
    if part.op == "ref":
        declared = part.value.cursor
        text = text_of(machine.builder.sources, declared)
        if "(" in text or "=" in text or "{" in text:
            return FactNote(text, span(declared), "dimension")
    written_part = node.args[position]
    assert written_part is not None
    text = text_of(machine.builder.sources, written_part.cursor)
    return FactNote(text, span(written_part.cursor), "dimension") if text else replace(fallback, kind="dimension")


def _bind(
    machine: Executor,
    draft: _Draft,
    name: str,
    ty: HostType,
    value: Value,
    note: FactNote,
    text: str,
    cursor: Cursor,
    depth: int,
) -> None:
    if isinstance(ty, IntType):
        symbol = ex.sym(f"param:{name}", ty)
        draft.bindings[symbol] = machine.to_int(value, ty, name)
        draft.notes.append((symbol, note))
    elif isinstance(ty, FloatType):
        if isinstance(value, Expr) and value.op == "const" and ty.width >= 32:
            draft.bindings[ex.sym(f"param:{name}", ty)] = ex.cast(value, ty)
    elif isinstance(ty, PointerTo):
        draft.pointers[name] = alternatives(value)
        draft.texts[name] = text
    elif isinstance(ty, RecordType) and depth < 3 and isinstance(value, (Record, Unknown)):
        declaration = cursor.type.get_canonical().get_declaration()
        for field in declaration.get_children():
            if field.kind != CursorKind.FIELD_DECL:
                continue
            inner = machine.builder.types.of(field.type)
            part = _known_part(machine, value, field.spelling, inner)
            if part is not None:
                _bind(machine, draft, f"{name}.{field.spelling}", inner, part, note, text, field, depth + 1)


def _known_part(machine: Executor, value: Record | Unknown, field: str, ty: HostType) -> Value | None:
    if isinstance(value, Record):
        found = value.parts.get(field)
        if found is not None:
            return found
        value = value.base
    return machine.derived(value.id, ("part", field), ty)


def _collect_facts(machine: Executor, raw: RawLaunch, draft: _Draft, launched: FactNote) -> None:
    seen: set[int] = set()
    for condition in ex.conjuncts(raw.guard):
        draft.facts.append(Constraint(condition, launched))
        seen.add(condition.key)
    for link in facts_since(raw.facts, None):
        note: FactNote | None = None
        for condition in ex.conjuncts(link.condition):
            if condition.key in seen:
                continue
            seen.add(condition.key)
            if note is None:
                note = machine.notes.get(link.note)
                if note is None:
                    note = machine.notes[link.note] = note_of(machine.builder.sources, link.note)
            draft.facts.append(Constraint(condition, note))


# --- alternatives


def _pointer_combinations(
    pointers: dict[str, list[tuple[Expr, Value]]],
) -> list[tuple[Expr, dict[str, Value], tuple[str, ...]]]:
    """Choices of pointers matter only where two parameters may get the same allocation."""
    owners: dict[object, set[str]] = {}
    for name, leaves in pointers.items():
        for _, leaf in leaves:
            owners.setdefault(_identity(leaf), set()).add(name)
    tangled = {name for names in owners.values() if len(names) > 1 for name in names}
    found: list[tuple[Expr, dict[str, Value], tuple[str, ...]]] = [(TRUE, {}, ())]
    for name, leaves in pointers.items():
        if len(leaves) == 1:
            found = [(g, {**chosen, name: leaves[0][1]}, extra) for g, chosen, extra in found]
        elif name in tangled and len(found) * len(leaves) <= _MOST_COMBINATIONS:
            found = [
                (ex.land(g, condition), {**chosen, name: leaf}, extra)
                for g, chosen, extra in found
                for condition, leaf in leaves
            ]
        else:
            note = (f"the pointer passed for `{name}`, chosen at run time, aliases no other argument",)
            added = note if name in tangled else ()
            found = [(g, {**chosen, name: Unknown(0, name, OTHER)}, (*extra, *added)) for g, chosen, extra in found]
    return [entry for entry in found if entry[0] is not FALSE]


def _identity(value: Value) -> object:
    if isinstance(value, Pointer):
        return value.id
    if isinstance(value, Address):
        return value.variable
    return object()


def _split_dimensions(
    bindings: dict[Expr, Expr], facts: list[Constraint], note: FactNote
) -> list[tuple[dict[Expr, Expr], list[Constraint]]]:
    """Block sizes chosen among constants become contexts of their own: concrete sizes are much easier to decide."""
    conditions: list[Expr] = []
    for symbol in BDIM:
        for node in ex.walk((bindings[symbol],)):
            if node.op == "select" and node.args[0] not in conditions and all(_constant_leaf(a) for a in node.args[1:]):
                conditions.append(node.args[0])
    found = [(bindings, facts)]
    for condition in conditions[:2]:
        split: list[tuple[dict[Expr, Expr], list[Constraint]]] = []
        for held, known in found:
            for truth in (TRUE, FALSE):
                case = condition if truth is TRUE else ex.lnot(condition)
                memo: dict[int, Expr] = {}
                values = {s: _decided(v, condition, truth, memo) for s, v in held.items()}
                rest = [Constraint(_decided(c.condition, condition, truth, memo), c.note) for c in known]
                if all(c.condition is not FALSE for c in rest):
                    split.append((values, [Constraint(case, note), *rest]))
        found = split
    return found


def _constant_leaf(e: Expr) -> bool:
    if e.op == "cast":
        return _constant_leaf(e.args[0])
    if e.op == "select":
        return all(_constant_leaf(a) for a in e.args[1:])
    return e.op == "const"


def _decided(e: Expr, condition: Expr, truth: Expr, memo: dict[int, Expr]) -> Expr:
    return ex.rewrite(e, lambda node: truth if node is condition else None, memo)


# --- finishing


def _finished(
    machine: Executor,
    raw: RawLaunch,
    draft: _Draft,
    bindings: dict[Expr, Expr],
    facts: list[Constraint],
    pointers: dict[str, Value],
    assumptions: tuple[str, ...],
) -> LaunchContext | None:
    arguments = _pointer_arguments(pointers, draft.texts)
    visible = [*bindings.values()]
    for _, argument in arguments:
        visible += [e for e in (argument.offset, argument.size) if e is not None]
    kept = _relevant(facts, visible)
    renaming = _renaming((*visible, *(c.condition for c in kept)))

    def renamed(e: Expr) -> Expr:
        return ex.rewrite(e, lambda node: renaming.get(node.key))

    seen: set[int] = set()

    constraints: list[Constraint] = []
    for constraint in kept:
        condition = _without_widening(renamed(constraint.condition))
        if condition is FALSE:
            return None
        if condition is not TRUE and condition.key not in seen:
            seen.add(condition.key)
            constraints.append(Constraint(condition, constraint.note))
    final = {symbol: renamed(value) for symbol, value in bindings.items()}
    grid, block = ((written(final[s]) for s in symbols) for symbols in (GDIM, BDIM))
    summary = LaunchSummary("launch", span(raw.node.cursor), _three(grid), _three(block))
    return LaunchContext(
        summary=summary,
        bindings=tuple(final.items()),
        constraints=tuple(constraints),
        binding_notes=tuple(draft.notes),
        pointers=tuple(
            (
                name,
                replace(
                    a,
                    offset=renamed(a.offset) if a.offset is not None else None,
                    size=renamed(a.size) if a.size is not None else None,
                ),
            )
            for name, a in arguments
        ),
        assumptions=tuple(dict.fromkeys((*raw.assumptions, *assumptions))),
        cooperative=raw.cooperative,
    )


def _without_widening(e: Expr) -> Expr:
    """Comparisons of a widened number with a constant, made where it was narrow: ``i64(n) < 5`` is ``n < 5``."""
    if e.op in ("land", "lor", "lnot"):
        return ex.rebuild(e, tuple(_without_widening(a) for a in e.args))
    if e.op not in ("eq", "ne", "lt", "le"):
        return e
    a, b = e.args
    for wide, constant, swapped in ((a, b, False), (b, a, True)):
        if wide.op != "cast" or constant.op != "const" or not isinstance(wide.ty, IntType):
            continue
        inner = wide.args[0]
        if not isinstance(inner.ty, IntType) or inner.ty.width < 8 or not _holds_all(wide.ty, inner.ty):
            continue
        if inner.ty.low <= constant.value <= inner.ty.high:
            narrow = ex.const(constant.value, inner.ty)
            return _without_widening(ex.compare(e.op, *((narrow, inner) if swapped else (inner, narrow))))
    return e


def _holds_all(outer: IntType, inner: IntType) -> bool:
    return outer.low <= inner.low and inner.high <= outer.high


def _three(texts: Iterable[str]) -> tuple[str, str, str]:
    x, y, z = texts
    return x, y, z


def _pointer_arguments(pointers: dict[str, Value], texts: dict[str, str]) -> list[tuple[str, PointerArgument]]:
    names: dict[object, str] = {}
    used: set[str] = set()
    out: list[tuple[str, PointerArgument]] = []
    for name, value in pointers.items():
        text = texts.get(name, "")
        if isinstance(value, Null):
            out.append((name, PointerArgument(None, None, ex.const(0, I64), text or "nullptr")))
            continue
        if isinstance(value, Address):
            base, offset, size = value.variable.name, None, None
            if value.path:
                out.append((name, PointerArgument(None, None, None, text)))
                continue
        elif isinstance(value, Pointer):
            base, size = value.name, value.size
            offset = value.offset if value.offset.op != "const" or value.offset.value != 0 else None
        else:
            out.append((name, PointerArgument(None, None, None, text)))
            continue
        identity = _identity(value)
        if identity not in names:
            label = base
            count = 1
            while label in used:
                count += 1
                label = f"{base}#{count}"
            used.add(label)
            names[identity] = label
        out.append((name, PointerArgument(names[identity], offset, size, text)))
    return out


def _relevant(facts: list[Constraint], visible: Sequence[Expr]) -> list[Constraint]:
    """Facts connected by shared symbols to what the kernel sees, those closest to it first in doubt."""
    reached = set(ex.symbols(*visible))
    waiting = [(c, ex.symbols(c.condition)) for c in facts]
    kept: list[int] = []
    changed = True
    while changed and len(kept) < _MOST_FACTS:
        changed = False
        frontier = frozenset(reached)
        for index, (_, symbols) in enumerate(waiting):
            if index not in kept and symbols & frontier and len(kept) < _MOST_FACTS:
                kept.append(index)
                reached |= symbols
                changed = True
    return [waiting[index][0] for index in sorted(kept)]


def _renaming(roots: Sequence[Expr]) -> dict[int, Expr]:
    """Host symbols numbered in order of appearance."""
    found: dict[int, Expr] = {}
    for node in ex.walk(roots):
        if node.op == "sym" and str(node.value).startswith("host:") and node.key not in found:
            name = _BLANKS.sub(" ", str(node.value).split(":", 2)[2])[:48]
            found[node.key] = ex.sym(f"host:{len(found) + 1}:{name}", node.ty)
    return found


def merged(contexts: Iterable[LaunchContext]) -> tuple[LaunchContext, ...]:
    """Contexts with identical facts, once."""
    found: dict[object, LaunchContext] = {}
    for context in contexts:
        key = (
            context.bindings,
            frozenset(c.condition for c in context.constraints),
            tuple((n, a.allocation, a.offset, a.size) for n, a in context.pointers),
            context.cooperative,
            context.assumptions,
        )
        found.setdefault(key, context)
    return tuple(found.values())


# --- without a launch in the source


def default_context(kernel: Kernel) -> LaunchContext:
    """No launch in sight: the hardware's limits, and axes that the kernel never mentions have dimension 1."""
    mentioned = _mentioned(kernel)
    bindings: list[tuple[Expr, Expr]] = []
    assumptions: list[str] = []
    shown: dict[str, str] = {}
    for symbols, index, title in ((GDIM, "bid", "gridDim"), (BDIM, "tid", "blockDim")):
        for axis, symbol in zip("xyz", symbols, strict=True):
            name = f"{title}.{axis}"
            shown[name] = name
            if f"{index}.{axis}" not in mentioned and str(symbol.value) not in mentioned:
                bindings.append((symbol, ex.const(1, U32)))
                assumptions.append(f"{name} is 1: the kernel does not use this axis")
                shown[name] = "1"
    cooperative = any(isinstance(s, Barrier) and s.scope == "grid" for s in statements(kernel.body))
    if cooperative:
        assumptions.append("the kernel is launched cooperatively: it waits for the whole grid")
    grid, block = (_three(shown[f"{t}.{a}"] for a in "xyz") for t in ("gridDim", "blockDim"))
    return LaunchContext(
        LaunchSummary("default", None, grid, block),
        tuple(bindings),
        assumptions=tuple(assumptions),
        cooperative=cooperative,
    )


def _mentioned(kernel: Kernel) -> frozenset[str]:
    return frozenset(str(n.value) for n in ex.walk(_roots(kernel)) if n.op == "sym")


def _roots(kernel: Kernel) -> list[Expr]:
    found: list[Expr] = []
    for statement in statements(kernel.body):
        for slot in getattr(type(statement), "__slots__", ()):
            _gather(getattr(statement, slot), found)
    return found


def _gather(value: object, out: list[Expr]) -> None:
    if isinstance(value, Expr):
        out.append(value)
    elif isinstance(value, tuple):
        for part in value:  # pyright: ignore[reportUnknownVariableType]
            if isinstance(part, (Expr, tuple)):
                _gather(part, out)  # pyright: ignore[reportUnknownArgumentType]


def context_of_user_launch(launch: UserLaunch, kernel: Kernel, span: SourceSpan | None = None) -> LaunchContext:
    """The context that a user asked for. Raises ValueError for a name that is no scalar parameter of the kernel."""
    bindings: list[tuple[Expr, Expr]] = []
    for symbols, given in ((GDIM, launch.grid), (BDIM, launch.block)):
        if given is not None:
            bindings += [(s, ex.const(n, U32)) for s, n in zip(symbols, given, strict=True)]
    if launch.dynamic_shared is not None:
        bindings.append((SHARED_BYTES, ex.const(launch.dynamic_shared, I64)))
    scalars = {p.name: p.ty for p in kernel.parameters if isinstance(p.ty, IntType)}
    for name, value in launch.values:
        ty = scalars.get(name)
        if ty is None:
            known = ", ".join(scalars) or "none"
            raise ValueError(f"kernel {kernel.base_name} has no integer parameter '{name}' (it has: {known})")
        if not ty.low <= value <= ty.high:
            raise ValueError(f"{value} does not fit the type of parameter '{name}' of kernel {kernel.base_name}")
        bindings.append((ex.sym(f"param:{name}", ty), ex.const(value, ty)))
    shown = tuple(
        _three(str(n) for n in given) if given is not None else _three(f"{title}.{a}" for a in "xyz")
        for given, title in ((launch.grid, "gridDim"), (launch.block, "blockDim"))
    )
    note = FactNote(describe(launch), span, "user")
    return LaunchContext(
        LaunchSummary("user", span, shown[0], shown[1]),
        tuple(bindings),
        binding_notes=tuple((symbol, note) for symbol, _ in bindings),
        cooperative=any(isinstance(s, Barrier) and s.scope == "grid" for s in statements(kernel.body)),
    )


def describe(launch: UserLaunch) -> str:
    """The launch in the notation of ``--launch``."""
    parts = [f"{n}=({','.join(map(str, d))})" for n, d in (("grid", launch.grid), ("block", launch.block)) if d]
    if launch.dynamic_shared is not None:
        parts.append(f"shared={launch.dynamic_shared}")
    return ",".join([*parts, *(f"{n}={v}" for n, v in launch.values)])
