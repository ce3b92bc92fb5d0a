"""Recorded launches to launch contexts.

A recorded launch carries every fact of its path. What goes into a context is cut to the facts that speak, directly or
through others, of values the kernel sees; symbols are numbered anew, so that equal launches give equal contexts and an
edit elsewhere in the file changes nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from analyzers.frontend.captures import captures, is_lambda
from analyzers.frontend.cindex import Cursor, Type
from analyzers.hostguide.aliasing import Aliases, Combination, Target
from analyzers.hostguide.carried import unchanged
from analyzers.hostguide.contexts import SHARED_BYTES, three
from analyzers.hostguide.execute import Executor
from analyzers.hostguide.exprtree import LONGEST_NAME, written
from analyzers.hostguide.facts import parts_of, relevant, without_widening
from analyzers.hostguide.hosttypes import HostType, PointerTo, RecordType
from analyzers.hostguide.launching import RawLaunch
from analyzers.hostguide.library import LARGEST_PITCH
from analyzers.hostguide.memory import alternatives
from analyzers.hostguide.notes import note_of, span, text_of
from analyzers.hostguide.pitch_members import place_of_field
from analyzers.hostguide.projection import freely_chosen, without_the_unseen
from analyzers.hostguide.tree import Node
from analyzers.hostguide.values import Address, Null, Pointer, Record, Unknown, Value, facts_since
from analyzers.ir import expr as ex
from analyzers.ir.context import DISTINCT, Constraint, LaunchContext, PointerArgument
from analyzers.ir.expr import BDIM, FALSE, GDIM, I64, TRUE, U32, Expr, FloatType, IntType
from analyzers.model import FactNote, LaunchSummary

_BLANKS = re.compile(r"\s+")


@dataclass(slots=True)
class _Draft:
    """A context in the making; symbols are still the machine's."""

    bindings: dict[Expr, Expr]
    notes: list[tuple[Expr, FactNote]]
    pointers: dict[str, Value]
    texts: dict[str, str]
    facts: list[Constraint]
    assumed: list[tuple[Constraint, str]] = field(default_factory=list[tuple[Constraint, str]])
    """Facts that nobody says, and the assumptions they are."""
    kept_through: Mapping[Expr, Mapping[str, None]] = field(default_factory=dict[Expr, "Mapping[str, None]"])
    """What is assumed of calls for a value to be what it was."""


Drafts = dict[tuple[object, ...], _Draft]
"""What kernels with the same parameters share that one launch chooses among."""


def contexts_of(
    machine: Executor, raw: RawLaunch, assumptions: tuple[str, ...] = (), drafts: Drafts | None = None
) -> list[LaunchContext]:
    """The contexts that one recorded launch stands for: one, or several where pointers or block sizes are chosen."""
    draft = _drafted(machine, raw, drafts if drafts is not None else {})
    aliases = Aliases(machine, draft.facts)
    found: list[LaunchContext] = []
    for combination in aliases.combinations(draft.pointers):
        facts = draft.facts
        if combination.guard is not TRUE:
            facts = [*facts, *(Constraint(c, _launch_note(machine, raw)) for c in ex.conjuncts(combination.guard))]
        for bindings, split_facts in _split_dimensions(draft.bindings, facts, _launch_note(machine, raw)):
            more = (*assumptions, DISTINCT) if combination.assumed else assumptions
            context = _finished(aliases, raw, draft, bindings, split_facts, combination, more)
            if context is not None:
                found.append(context)
    return found


def _drafted(machine: Executor, raw: RawLaunch, drafts: Drafts) -> _Draft:
    parameters = [(c.spelling, c.type.spelling) for c in raw.kernel.get_arguments() if c is not None]
    key = (raw.event, *parameters)
    common = drafts.get(key)
    if common is None:
        common = drafts[key] = _draft(machine, raw)
    launched = _launch_note(machine, raw)
    chosen = [Constraint(condition, launched) for condition in ex.conjuncts(raw.guard)]
    known = {c.condition.key for c in chosen}
    facts = [*chosen, *(c for c in common.facts if c.condition.key not in known)]
    used = [*common.bindings.values(), *(c.condition for c in facts)]
    constants = unchanged(machine, used) if machine.head_of else {}
    if constants:
        facts = [replace(c, condition=ex.substitute(c.condition, constants)) for c in facts]
        facts = [c for c in facts if c.condition is not TRUE]
    fixed = dict(pair for c in chosen for pair in _fixed(c.condition))
    if not fixed and not constants:
        return replace(common, facts=facts)
    memo: dict[int, Expr] = {}
    bindings = {s: ex.rewrite(ex.substitute(value, constants), fixed.get, memo) for s, value in common.bindings.items()}
    return replace(common, bindings=bindings, facts=facts)


def _fixed(condition: Expr) -> Iterator[tuple[Expr, Expr]]:
    """The expression to which a condition gives a constant value."""
    if condition.op == "eq" and isinstance(condition.args[0].ty, IntType):
        for value, constant in (condition.args, condition.args[::-1]):
            if constant.op == "const" and value.op != "const":
                yield value, constant


def _launch_note(machine: Executor, raw: RawLaunch) -> FactNote:
    return FactNote(text_of(machine.builder.sources, raw.node.cursor), span(raw.node.cursor), "relation")


def _draft(machine: Executor, raw: RawLaunch) -> _Draft:
    draft = _Draft({}, [], {}, {}, [], kept_through=machine.kept_through)
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
        ty = machine.builder.types.at(parameter)
        _bind(machine, draft, parameter.spelling, ty, value, note, text, parameter, 0)
    _collect_facts(machine, raw, draft)
    for fact, assumption in _pitch_facts(machine, draft.bindings.values()):
        draft.facts.append(fact)
        draft.assumed.append((fact, assumption))
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
        draft.pointers[name] = value
        draft.texts[name] = text
    elif isinstance(ty, RecordType) and depth < 3 and isinstance(value, (Record, Unknown)):
        for label, member in _members(cursor.type.get_canonical()):
            inner = machine.builder.types.of(member.type)
            part = _known_part(machine, value, label, inner)
            if part is None and isinstance(inner, IntType) and _is_pitched(machine, member):
                part = machine.part(value, label, inner, label)
                if isinstance(part, Expr):
                    machine.read_as.setdefault(part, member)
            if part is not None:
                _bind(machine, draft, f"{name}.{label}", inner, part, note, text, member, depth + 1)


def _members(ty: Type) -> Iterator[tuple[str, Cursor]]:
    """The data members of a class by the names that the kernel's parameters have for them."""
    if is_lambda(ty):
        yield from ((c.name, c.field) for c in captures(ty) or ())
        return
    for member in ty.get_fields():
        if not member.is_bitfield():
            yield member.spelling, member


def _known_part(machine: Executor, value: Record | Unknown, field: str, ty: HostType) -> Value | None:
    if isinstance(value, Record):
        found = value.parts.get(field)
        if found is not None:
            return found
        value = value.base
    return machine.derived(value.id, ("part", field), ty)


def _is_pitched(machine: Executor, field: Cursor) -> bool:
    """Whether a member is a row stride or the width that goes with one."""
    return any(place_of_field(field) in (p.stride_at, p.columns_at) for p in machine.row_pitches())


def _pitch_facts(machine: Executor, values: Iterable[Expr]) -> Iterator[tuple[Constraint, str]]:
    """The rows of a matrix that a launch gets members of do not overlap, and the assumption that this is."""
    for stride in sorted(ex.symbols(*values), key=lambda s: s.key):
        part, read = machine.part_of.get(stride), machine.read_as.get(stride)
        members = machine.known_parts(part[0]) if part is not None and read is not None else []
        if read is None or len(members) < 2 or not isinstance(stride.ty, IntType):
            continue
        for pitch in machine.row_pitches():
            if place_of_field(read) != pitch.stride_at:
                continue
            for key, _, columns in members:
                if key == pitch.columns and isinstance(columns, Expr) and isinstance(columns.ty, IntType):
                    ty = stride.ty if stride.ty == columns.ty and pitch.scale == 1 else I64
                    least = ex.mul(ex.cast(columns, ty), ex.const(pitch.scale, ty))
                    yield Constraint(ex.compare("le", least, ex.cast(stride, ty)), pitch.note), pitch.assumption
                    if stride.ty.width > 32:
                        most = ex.const(LARGEST_PITCH, stride.ty)
                        yield Constraint(ex.compare("le", stride, most), pitch.note), pitch.assumption


def _collect_facts(machine: Executor, raw: RawLaunch, draft: _Draft) -> None:
    seen: set[int] = set()
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
    if not ex.symbols(condition) <= ex.symbols(e):
        return e
    return ex.rewrite(e, lambda node: truth if node is condition else None, memo)


# --- finishing


def _finished(
    aliases: Aliases,
    raw: RawLaunch,
    draft: _Draft,
    bindings: dict[Expr, Expr],
    facts: list[Constraint],
    combination: Combination,
    assumptions: tuple[str, ...],
) -> LaunchContext | None:
    names: dict[object, str] = {}
    arguments = _pointer_arguments(combination.chosen, draft.texts, names)
    visible = [*bindings.values()]
    for _, argument in arguments:
        visible += [e for e in (argument.offset, argument.size) if e is not None]
    kept = relevant(facts, visible)
    choices = freely_chosen((*visible, *(c.condition for c in kept)))
    free = ex.substitution(choices)
    visible = [free(e) for e in visible]
    said = [replace(c, condition=part) for c in kept for part in parts_of(free(c.condition))]
    met = without_the_unseen(said, visible)
    kept = relevant(met, visible, len(met))
    seen_by_kernel = ex.symbols(*visible, *(c.condition for c in kept))
    chosen_among = [ex.symbols(choice) for choice, s in choices.items() if s in seen_by_kernel]
    seen_by_kernel = seen_by_kernel.union(*chosen_among)
    kept_through = [draft.kept_through.get(s, {}) for s in sorted(seen_by_kernel, key=lambda s: s.key)]
    assumptions = (*assumptions, *(text for texts in kept_through for text in texts))
    assumptions = (*assumptions, *(text for fact, text in draft.assumed if fact.note in {c.note for c in kept}))
    renaming = _renaming((*visible, *(c.condition for c in kept)))

    memo: dict[int, Expr] = {}

    def renamed(e: Expr) -> Expr:
        return ex.rewrite(free(e), lambda node: renaming.get(node.key), memo)

    seen: set[int] = set()

    constraints: list[Constraint] = []
    for constraint in kept:
        condition = without_widening(renamed(constraint.condition))
        if condition is FALSE:
            return None
        if condition is not TRUE and condition.key not in seen:
            seen.add(condition.key)
            constraints.append(Constraint(condition, constraint.note))
    final = {symbol: renamed(value) for symbol, value in bindings.items()}

    def text_of_dimension(s: Expr) -> str:
        chosen = free(bindings[s]) is not bindings[s]
        return _BLANKS.sub(" ", written(bindings[s] if chosen else final[s]))

    grid, block = (map(text_of_dimension, symbols) for symbols in (GDIM, BDIM))
    summary = LaunchSummary("launch", span(raw.node.cursor), three(grid), three(block))
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
        variables=tuple((n, names[v]) for n, v, _ in raw.variables if v in names),
        stored=_stored(aliases, raw, names),
        uncertain=combination.uncertain,
        assumptions=tuple(dict.fromkeys(assumptions)),
        cooperative=raw.cooperative,
    )


def _pointer_arguments(
    pointers: Mapping[str, Target | Null | None], texts: dict[str, str], names: dict[object, str]
) -> list[tuple[str, PointerArgument]]:
    out: list[tuple[str, PointerArgument]] = []
    for name, target in pointers.items():
        text = texts.get(name, "")
        if target is None or isinstance(target, Null):
            size = ex.const(0, I64) if target is not None else None
            out.append((name, PointerArgument(None, None, size, text or ("nullptr" if target is not None else ""))))
            continue
        offset = target.offset if target.offset.op != "const" or target.offset.value != 0 else None
        out.append((name, PointerArgument(_label(target, names), offset, target.size, text)))
    return out


def _stored(aliases: Aliases, raw: RawLaunch, names: dict[object, str]) -> tuple[tuple[str, str], ...]:
    """The pointers that lie in device variables, by the names of the objects they point into."""
    out: list[tuple[str, str]] = []
    for name, _, value in raw.variables:
        for leaf in _parts(value):
            target = aliases.target(leaf)
            if target is not None:
                out.append((name, _label(target, names)))
    parameters = [c.spelling for c in raw.kernel.get_arguments() if c is not None]
    for parameter, value in zip(parameters, raw.arguments, strict=False):
        for name, leaf in _in_arrays(parameter, value):
            target = aliases.target(leaf)
            if target is not None:
                out.append((name, _label(target, names)))
    return tuple(out)


def _in_arrays(name: str, value: Value) -> Iterator[tuple[str, Value]]:
    """The pointers in arrays of a parameter that is an object, by the names that the arrays have in the kernel."""
    if not isinstance(value, Record):
        return
    for key, part in value.parts.items():
        if isinstance(key, int):
            yield from ((name, leaf) for leaf in _parts(part))
        else:
            yield from _in_arrays(f"{name}.{key}", part)


def _parts(value: Value | None) -> list[Value]:
    if isinstance(value, Record):
        return [leaf for part in value.parts.values() for leaf in _parts(part)]
    return (
        [leaf for _, leaf in alternatives(value) if isinstance(leaf, (Pointer, Address))] if value is not None else []
    )


def _label(target: Target, names: dict[object, str]) -> str:
    """A name for an object, different from those of others."""
    found = names.get(target.identity)
    if found is None:
        found, count, used = target.name, 1, set(names.values())
        while found in used:
            count += 1
            found = f"{target.name}#{count}"
        names[target.identity] = found
    return found


def _renaming(roots: Sequence[Expr]) -> dict[int, Expr]:
    """Host symbols numbered in order of appearance; of those with one name, the later ones say which they are."""
    found: dict[int, Expr] = {}
    named = Counter[str]()
    for node in ex.walk(roots):
        if node.op == "sym" and str(node.value).startswith("host:") and node.key not in found:
            name = _BLANKS.sub(" ", str(node.value).split(":", 2)[2])[:LONGEST_NAME]
            named[name] += 1
            if named[name] > 1:
                name = f"{name}#{named[name]}"
            found[node.key] = ex.sym(f"host:{len(found) + 1}:{name}", node.ty)
    return found
