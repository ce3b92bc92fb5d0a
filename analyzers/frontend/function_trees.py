"""Reads the statement trees of `analyzers.frontend.gaps` off the syntax tree.

Takes a translation unit and the places (path, byte offset) somebody is interested in, gives the tree of every function
definition and lambda body that contains one of them, with the text of its file. What is said of a statement, of its
parts and of its names comes from the tree; the text tells where its last byte stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol

from analyzers.frontend.argument_values import values_by_arguments
from analyzers.frontend.blanking import WORD, blanked, for_parts, group_end, macro_use_end, next_visible
from analyzers.frontend.cindex import (
    TypeKind,
    binary_operator,
    children,
    expansion_offset,
    file_key,
    initializer,
    is_of_library,
    referenced,
)
from analyzers.frontend.conditional_statements import choice_of
from analyzers.frontend.copies import class_assignment, is_copied_by_bytes
from analyzers.frontend.declared_variables import (
    InstanceKinds,
    declared_in,
    holds_number,
    is_by_macro,
    is_vector,
    type_by_macro,
)
from analyzers.frontend.gaps import (
    Argument,
    Assignment,
    Body,
    FunctionTree,
    InnerCall,
    Part,
    Role,
    Slot,
    SourceTrees,
    Statement,
    StatementKind,
)
from analyzers.frontend.inner_calls import inner_calls
from analyzers.frontend.inner_values import inner_values
from analyzers.frontend.lowering.nodes import Kinds, NodeTable
from analyzers.frontend.open_types import without_wrapper
from analyzers.frontend.plain import UNKNOWN_TEST, constant_step, is_idle, is_plain_step, test_of
from analyzers.frontend.settled import field_of, is_constant, is_number, is_open, template_name
from analyzers.frontend.signatures import FUNCTIONS, SCOPES, signatures
from analyzers.frontend.sizes import divisors, size_of
from analyzers.frontend.update_sequences import SequenceReader
from analyzers.frontend.uses import Mentions, mentions_of
from analyzers.frontend.written_types import AUTO, macro_types, spelled_type, written_type
from analyzers.ir.kernel import Instances


def function_trees(unit: Any, places: Iterable[tuple[str, int]], instances: Instances | None = None) -> SourceTrees:
    """The functions of a translation unit (`ParsedUnit.device`) that contain one of the places (path, byte offset).
    `instances`: all that matter of those that are templates; None: there may be any."""
    wanted: dict[str, list[int]] = {}
    for path, offset in places:
        wanted.setdefault(path, []).append(offset)
    table = NodeTable(unit)
    texts = {path: table.bytes_of(path) for path in wanted}
    builders = {path: _Builder(path, text, instances, wanted[path]) for path, text in texts.items() if text}
    _descend(unit.cursor, wanted, builders, {})
    _sign(unit, builders.values())
    foreign = frozenset(path for path in builders if is_of_library(unit, path))
    trees = (replace(t, of_library=t.path in foreign) for b in builders.values() for t in b.trees)
    return SourceTrees(tuple(trees), texts, foreign, unit.spelling)


def function_mentions(unit: Any, places: Iterable[tuple[str, int]]) -> Mapping[tuple[str, int], Mentions]:
    """What the functions of a translation unit (`ParsedUnit.device`) mention that contain the places (path, byte
    offset), by place; places in no function are left out."""
    wanted: dict[str, list[int]] = {}
    for path, offset in places:
        wanted.setdefault(path, []).append(offset)
    readers = {path: _MentionsReader(path, offsets) for path, offsets in wanted.items()}
    _descend(unit.cursor, wanted, readers, {})
    return {place: mentions for reader in readers.values() for place, mentions in reader.found.items()}


class _Reader(Protocol):
    """What is given the functions of one file around the wanted places."""

    def function(self, cursor: Any, start: int, end: int) -> None: ...


class _MentionsReader:
    def __init__(self, path: str, wanted: Sequence[int]) -> None:
        self.found: dict[tuple[str, int], Mentions] = {}
        self._path = path
        self._wanted = wanted

    def function(self, cursor: Any, start: int, end: int) -> None:
        mentions = mentions_of(cursor)
        self.found.update({(self._path, at): mentions for at in self._wanted if start <= at < end})


def _sign(unit: Any, builders: Iterable[_Builder]) -> None:
    """Give the functions that are called their signatures."""
    called = [(b, i, cursor) for b in builders for i, cursor in b.called.items()]
    for (builder, index, _), signature in zip(called, signatures(unit, [c for _, _, c in called]), strict=True):
        builder.trees[index] = replace(builder.trees[index], signature=signature)


def _descend(
    parent: Any, wanted: Mapping[str, list[int]], builders: Mapping[str, _Reader], known: dict[int, str]
) -> None:
    """`known`: the paths of files by their `file_key`; most declarations are in headers, and are not asked for more."""
    for cursor in children(parent):
        kind: int = cursor._kind_id
        if kind not in SCOPES and kind not in FUNCTIONS:
            continue
        key = file_key(cursor)
        path = known.get(key)
        if path is None:
            file = cursor.location.file
            path = known[key] = file.name if file is not None else ""
        builder = builders.get(path)
        if builder is None:
            continue
        extent = cursor.extent
        start, end = extent.start.offset, extent.end.offset
        if not any(start <= offset < end for offset in wanted[path]):
            continue
        if kind in SCOPES:
            _descend(cursor, wanted, builders, known)
        else:
            builder.function(cursor, start, end)


_ASSIGNMENTS: Final = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})
_ASSIGNED: Final = re.compile(rb"(?:<<|>>|[^=!<>])=(?!=)")
_KEYWORDS: Final = frozenset({b"if", b"for", b"while", b"do", b"switch"})


# --- cursors to statements ------------------------------------------------------------------------------------

_LOOPS: Final = frozenset({Kinds.FOR, Kinds.RANGE_FOR, Kinds.WHILE, Kinds.DO})
_CONTROL: Final = _LOOPS | {Kinds.IF, Kinds.SWITCH}
_JUMPS: Final = frozenset({Kinds.GOTO, Kinds.INDIRECT_GOTO, Kinds.CONTINUE, Kinds.BREAK, Kinds.RETURN})
_NAMES: Final[dict[int, StatementKind]] = {
    Kinds.IF: "if",
    Kinds.FOR: "for",
    Kinds.RANGE_FOR: "for",
    Kinds.WHILE: "while",
    Kinds.DO: "do",
    Kinds.SWITCH: "switch",
    Kinds.DECL_STMT: "declaration",
    Kinds.NULL_STMT: "empty",
    **dict.fromkeys(_JUMPS, "jump"),
}
_LABELS: Final = frozenset({Kinds.LABEL, Kinds.CASE, Kinds.DEFAULT})


def _is_on_host(function: Any) -> bool:
    """Whether a function is for the host as well as for the device."""
    kinds = {c._kind_id for c in children(function)}
    return Kinds.HOST_ATTR in kinds and Kinds.DEVICE_ATTR in kinds


class _Builder:
    """Builds the trees of one file."""

    def __init__(self, path: str, text: bytes, instances: Instances | None, wanted: Sequence[int]) -> None:
        self.path = path
        self._instances = instances
        self._kinds = InstanceKinds()
        """Of the function at hand."""
        self.code = blanked(text)
        self._macros = macro_types(text)
        self.trees: list[FunctionTree] = []
        self.called: dict[int, Any] = {}
        """The cursors of functions that are no kernels, by the index of their tree."""
        self._updates = SequenceReader(text, self.code, self._range, wanted)
        """Of the function at hand."""

    def function(self, cursor: Any, start: int, end: int) -> None:
        parts = children(cursor)
        compound = next((c for c in parts if c._kind_id == Kinds.COMPOUND), None)
        first = len(self.trees)
        if self._instances is not None:
            name, values = template_name(cursor.spelling), dict[str, set[int]]()
            for _, parameter, value in (v for v in self._instances.values if v[0] == name):
                values.setdefault(parameter, set()).add(value)
            numbers, simple = name not in self._instances.for_classes, name not in self._instances.with_code
            self._kinds = InstanceKinds(numbers, simple, values)
        self._updates.found, self._updates.stores, self._updates.bounded = [], [], []
        known = compound is not None and self._tree(compound, cursor.spelling, start, end)
        if known and not any(c._kind_id == Kinds.GLOBAL_ATTR for c in parts):
            self.called[len(self.trees) - 1] = cursor
        mentions = mentions_of(cursor) if len(self.trees) > first else Mentions((), {})
        updates, stores, host = tuple(self._updates.found), tuple(self._updates.stores), _is_on_host(cursor)
        bounded = tuple(self._updates.bounded)
        self.trees[first:] = [
            replace(
                t,
                uses=mentions.uses,
                meanings=mentions.meanings,
                updates=updates,
                stores=stores,
                bounded=bounded,
                on_host=host or t.on_host,
            )
            for t in self.trees[first:]
        ]

    def _tree(self, compound: Any, name: str, start: int, end: int, *, of_lambda: Any = None) -> bool:
        """Whether there is one: the last of `trees`."""
        body = self._compound(compound, "function" if of_lambda is None else "lambda")
        if body is not None:
            host = of_lambda is not None and any(map(_is_on_host, children(of_lambda.type.get_declaration())))
            self.trees.append(FunctionTree(self.path, name, start, end, body, of_lambda is not None, host))
        return body is not None

    def _range(self, cursor: Any) -> tuple[int, int]:
        """From the first to the last byte, whole uses of macros where it begins or ends in one."""
        first, last = cursor.extent.start, cursor.extent.end
        start, end = expansion_offset(first), expansion_offset(last)
        if start != first.offset or end != last.offset or end <= start:
            end = max(last.offset, macro_use_end(self.code, max(start, end)))
        return start, end

    def _is_braced(self, start: int, end: int) -> bool:
        return self.code[start : start + 1] == b"{" and self.code[end - 1 : end] == b"}"

    def _compound(self, cursor: Any, role: Role, loops: int = 0) -> Body | None:
        start, end = self._range(cursor)
        if not self._is_braced(start, end):
            return None
        self._updates.sequence(children(cursor))
        return Body(role, start + 1, end - 1, True, self._sequence(children(cursor), end - 1), loops)

    def _sequence(self, cursors: Iterable[Any], limit: int) -> tuple[Statement, ...]:
        found: list[Statement] = []
        for cursor in cursors:
            for statement in self._statements(cursor):
                if found and statement.start < found[-1].end:
                    previous = found.pop()
                    start, end = min(previous.start, statement.start), max(previous.end, statement.end)
                    statement = Statement("other", start, end, macro=True)
                if statement.end <= limit:
                    found.append(statement)
        return tuple(found)

    def _statements(self, cursor: Any) -> Iterator[Statement]:
        """One statement; labels in front of it are statements of their own."""
        while cursor._kind_id in _LABELS:
            start, _ = self._range(cursor)
            inner = children(cursor)[-1:]
            labelled = inner[0] if inner else None
            at = self._range(labelled)[0] if labelled is not None else start
            colon = self.code.rfind(b":", start, at)
            if labelled is None or colon < 0:
                yield Statement("other", start, self._past_semicolon(self._range(cursor)[1]), macro=True)
                return
            yield Statement("label", start, colon + 1)
            cursor = labelled
        statement = self._statement(cursor)
        if statement.macro and not statement.bodies:
            statement = replace(statement, arguments=self._arguments_of(cursor))
        yield statement

    def _past_semicolon(self, end: int, *, of_value: bool = False) -> int:
        """`of_value`: what ends may be a list in braces, which ends no statement."""
        if self.code[end - 1 : end] == b";" or (self.code[end - 1 : end] == b"}" and not of_value):
            return end
        at = next_visible(self.code, end)
        return at + 1 if self.code[at : at + 1] == b";" else end

    def _statement(self, cursor: Any) -> Statement:
        start, end = self._range(cursor)
        inner = without_wrapper(cursor)
        kind: int = inner._kind_id
        if kind == Kinds.COMPOUND:
            body = self._compound(inner, "block")
            if body is None:
                return Statement("other", start, self._past_semicolon(end), macro=True)
            return Statement("compound", start, end, (body,))
        if kind in _CONTROL:
            return self._control(inner, start)
        if b"{" in self.code[start:end]:
            self._lambdas(inner)
        name = _NAMES.get(kind, "expression" if 100 <= kind < 200 else "other")
        sides = _sides(inner) if name == "expression" else ()
        assignment = self._assignment(inner, sides)
        # A macro that writes the target alone has not written the statement.
        macro = is_by_macro(inner) and assignment is None and not type_by_macro(inner, self.code, self._range)
        sides = () if macro else sides
        call = inner.spelling or "" if kind == Kinds.CALL and assignment is None else ""
        if kind in _JUMPS:
            word = WORD.match(self.code, self._range(inner)[0])
            call = word.group().decode() if word else ""
        for part in (inner,) if name == "expression" else _values(inner):
            self._updates.expression(part, used=name != "expression")
        shared = self.code.startswith(b"__shared__", start)  # a macro of the toolkit
        declared = kind == Kinds.DECL_STMT and (shared or not macro)
        declares = declared_in(inner, self.code, self._range, self._kinds, self._macros) if declared else None
        stop = self._past_semicolon(end, of_value=name in ("expression", "jump") and not macro)
        value = sides[-1] if sides and assignment is not None else None
        if value is None and declares is not None and len(declares) == 1:
            value = initializer(children(inner)[0])
        evaluated = () if macro else children(inner) if kind == Kinds.RETURN else (inner,)
        by_itself = assignment is not None or kind == Kinds.DECL_STMT
        called = without_wrapper(value) if value is not None else inner if kind == Kinds.CALL else None
        plain = _arguments(called, self._is_plain) if called is not None and not macro else frozenset[Part]()
        idle = _arguments(called, is_idle) if called is not None else frozenset[Part]()
        if kind == Kinds.RETURN and not macro and any(map(self._is_plain, children(inner))):
            plain |= frozenset[Part](("value",))
        if assignment is not None:
            names: tuple[Part, ...] = ("target", "value")
            idle |= frozenset(part for part, c in zip(names, sides, strict=False) if is_idle(c))
        commas = self._commas(inner) if name == "expression" and not macro and self._range(inner)[0] == start else ()
        choice = choice_of(inner, self.code, self._range) if name == "expression" and not macro else None
        return Statement(
            name,
            start,
            stop,
            macro=macro,
            call=call,
            commas=commas,
            choice=choice,
            calls=tuple(self._calls(inner)) if not macro and self._calls_known(start, stop) else (),
            assignment=assignment,
            inner=self._inner(evaluated, start, end, by_itself=by_itself),
            declares=declares,
            plain=plain,
            idle=idle,
        )

    def _inner(self, parts: Sequence[Any], start: int, end: int, *, by_itself: bool = False) -> tuple[Assignment, ...]:
        """Of a statement or a head at a range that evaluates one expression or declares variables. `by_itself`: it is
        an assignment or a declaration."""
        if len(parts) != 1 or len(_ASSIGNED.findall(self.code, start, end)) < (2 if by_itself else 1):
            return ()
        found: list[Assignment] = []
        for whole, sides in inner_values(parts[0], self._is_plain):
            declared = whole._kind_id == Kinds.VAR
            each = self._first_value(whole, sides[0]) if declared else self._assignment(whole, sides)
            if each is not None and "(" not in each.type:
                found.append(each)
        return tuple(found)

    def _first_value(self, variable: Any, value: Any) -> Assignment | None:
        """Of a variable that a declaration statement makes, if what is copied to it is copied by no code."""
        at, name = expansion_offset(variable.location), variable.spelling
        ty, settled = variable.type.get_canonical(), not is_open(variable) or is_number(variable, self._kinds.numbers)
        plain = is_copied_by_bytes(ty) or (holds_number(ty) and settled and not ty.is_volatile_qualified())
        place, target = self._range(value), (at, at + len(name))
        written = self.code[slice(*target)] == name.encode() and self.code[target[1] : place[0]].strip() == b"="
        if not plain or not written:
            return None
        return Assignment(target, place, "=", written_type(variable, self.code, self._macros))

    def _calls_known(self, start: int, end: int) -> bool:
        """Whether a range may call one of the functions in front of it that are asked for."""
        names = {tree.name for tree in self.trees if not tree.is_lambda}
        return any(template_name(name).encode() in self.code[start:end] for name in names)

    def _calls(self, statement: Any) -> Iterator[InnerCall]:
        for call in inner_calls(statement, self._kinds.numbers):
            arguments = [a for a in call.get_arguments() if a is not None and a.extent.start.file is not None]
            found = tuple(Argument(self._range(a), self._passed(a), self._is_plain(a), is_idle(a)) for a in arguments)
            yield InnerCall(self._range(call), self._copied(call), found)

    def _passed(self, argument: Any) -> str:
        """The type of an argument as it is written; of an array as it is passed."""
        return self._copied(without_wrapper(argument)) or self._copied(argument)

    def _copied(self, expression: Any) -> str:
        """The type of an expression as the source would write it for a variable; empty where copying it may be code."""
        canonical = expression.type.get_canonical()
        if canonical.kind == TypeKind.VOID:
            return "void"
        plain = holds_number(canonical) or is_vector(canonical)
        written = spelled_type(expression)
        return written if plain and written != AUTO and "(" not in written else ""

    def _commas(self, expression: Any) -> tuple[int, ...]:
        """The outermost ones; none where one is not to be seen."""
        found: list[int] = []
        while expression._kind_id == Kinds.BINARY and binary_operator(expression) == ",":
            expression, right = children(expression)
            low, high = self._range(expression)[1], self._range(right)[0]
            if self.code[low:high].strip() != b",":
                return ()
            found.append(self.code.index(b",", low, high))
        return tuple(reversed(found))

    def _is_plain(self, expression: Any) -> bool:
        return self._kinds.is_plain(expression)

    def _is_plain_part(self, part: Part, expression: Any) -> bool:
        if part == "test":
            return self._is_plain(expression)
        if part == "step" or expression._kind_id != Kinds.DECL_STMT:
            return is_plain_step(expression, self._kinds.numbers)
        return all(c._kind_id == Kinds.VAR and self._kinds.is_given(c) for c in children(expression))

    def _arguments_of(self, cursor: Any) -> tuple[Assignment, ...]:
        use = self._range(cursor)
        found = values_by_arguments(cursor, self.code, use)
        return tuple(Assignment((use[0], use[0]), value, "=", spelled_type(typed)) for value, typed in found)

    def _assignment(self, cursor: Any, sides: Sequence[Any]) -> Assignment | None:
        if len(sides) == 1:
            return self._step(cursor, sides[0])
        if len(sides) != 2:
            return None
        target, value = self._range(sides[0]), self._range(sides[1])
        operator = self.code[target[1] : value[0]].strip().decode()
        if operator not in _ASSIGNMENTS or target[0] != self._range(cursor)[0]:
            return None
        typed = sides[0] if operator == "=" else without_wrapper(sides[1])
        if operator in ("/=", "%=") and _may_be_bit_field(typed):
            if typed is sides[1]:
                return None  # in a template: whether it divides as what it is promoted to is not said
            typed = sides[1]
        listed = self.code.startswith(b"{", value[0])  # of which `auto` would make another thing
        written = spelled_type(typed) if listed else written_type(typed, self.code, self._macros)
        return Assignment(target, value, operator, written)

    def _step(self, cursor: Any, operand: Any) -> Assignment | None:
        """`x++`, `++x`, `x--`, `--x`."""
        start, end = self._range(cursor)
        first, last = self._range(operand)
        operator = (self.code[start:first] + self.code[last:end]).strip().decode()
        if operator not in ("++", "--"):
            return None
        return Assignment((first, last), (last, end), operator, "")

    def _lambdas(self, cursor: Any) -> None:
        for child in children(cursor):
            if child._kind_id == Kinds.LAMBDA:
                start, end = self._range(child)
                for part in children(child):
                    if part._kind_id == Kinds.COMPOUND:
                        self._tree(part, "lambda", start, end, of_lambda=child)
            else:
                self._lambdas(child)

    def _control(self, cursor: Any, outer: int) -> Statement:
        start, end = self._range(cursor)
        kind: int = cursor._kind_id
        word = WORD.match(self.code, start)
        macro = word is None or word.group() not in _KEYWORDS
        head_end, parts = self._head(start, kind)
        parts_of = children(cursor)
        inside = [c for c in parts_of if self._range(c)[0] >= head_end]
        if kind == Kinds.DO:
            inside = inside[:1]
        elif kind == Kinds.IF:
            inside = inside[-2:]
        else:
            inside = inside[-1:]
        nested = without_wrapper(parts_of[-1]) if parts_of else None
        if not inside and nested is not None and nested._kind_id in _CONTROL and self._range(nested)[0] == start:
            return self._opened_together(self._control(nested, outer), kind)
        if not inside or end <= head_end:
            return Statement("other", outer, self._past_semicolon(end), macro=True)
        if b"{" in self.code[start:head_end]:
            for child in parts_of:
                if child not in inside:
                    self._lambdas(child)
        name = _NAMES[kind]
        if kind == Kinds.SWITCH:
            bodies, stop = self._cases(inside[0])
        else:
            roles: tuple[Role, ...] = ("then", "else") if kind == Kinds.IF else ("loop",)
            built = [self._branch(c, role) for c, role in zip(inside, roles, strict=False)]
            bodies, stop = tuple(b for b, _ in built), built[-1][1]
        if kind == Kinds.DO:
            opened = self.code.find(b"(", stop)
            stop = self._past_semicolon(group_end(self.code, opened)) if opened >= 0 else self._past_semicolon(end)
        head = [c for c in parts_of if self._range(c)[0] < head_end or (kind == Kinds.DO and c not in inside)]
        slots = self._slots(kind, parts, head)
        plain = frozenset[Part](
            slot for slot, found in slots.items() if all(self._is_plain_part(slot, c) for c in found)
        )
        idle = frozenset[Part](slot for slot, found in slots.items() if all(map(_IDLE_PARTS[slot], found)))
        test = slots.get("test", ())
        for part in head:
            initial = (part,) if part._kind_id != Kinds.DECL_STMT else _values(part)
            for value in initial:
                self._updates.expression(value, used=part in test or value is not part or kind != Kinds.FOR)
        if kind == Kinds.IF and len(test) == 1 and not macro:
            controlled = children(inside[0]) if inside[0]._kind_id == Kinds.COMPOUND else inside[:1]
            self._updates.conditional(test[0], controlled, (start, stop), alone=len(inside) == 1)
            self._updates.limited(test[0], controlled, (start, stop))
        once = kind in (Kinds.IF, Kinds.SWITCH) and not macro
        shape = test_of(test[0]) if len(test) == 1 else UNKNOWN_TEST
        steps = slots.get("step", ())
        sizes = self._sizes(slots)
        every = [divisors(c, self._kinds.values) for found in slots.values() for c in found]
        divided = frozenset[int]().union(*(d for d in every if d is not None)) if None not in every else None
        by, by_signed = constant_step(steps[0], self._kinds.values) if len(steps) == 1 else (None, False)
        return Statement(
            name,
            outer,
            stop,
            bodies,
            head_end,
            parts,
            start,
            macro,
            plain=plain,
            idle=idle,
            inner=self._inner(head, start, head_end) if once else (),
            test=shape,
            known=kind == Kinds.IF and (self._is_constexpr(start) or (len(test) == 1 and is_constant(test[0]))),
            by=by,
            by_signed=by_signed,
            sizes=sizes,
            divisors=divided if kind == Kinds.FOR else None,
        )

    def _slots(self, kind: int, parts: tuple[int, int] | None, head: Sequence[Any]) -> dict[Part, Sequence[Any]]:
        """The expressions in the head of a conditional or loop; none where they are not told apart."""
        if kind in (Kinds.IF, Kinds.WHILE, Kinds.DO):
            return {"test": head} if len(head) == 1 else {}
        if kind != Kinds.FOR or parts is None:
            return {}
        bounds = (0, *parts, len(self.code))
        return {
            name: [c for c in head if low <= self._range(c)[0] < high]
            for name, low, high in zip(_SLOTS, bounds, bounds[1:], strict=False)
        }

    def _sizes(self, slots: Mapping[Part, Sequence[Any]]) -> dict[Slot, frozenset[int]]:
        """Of the head of a `for`."""
        found: dict[Slot, Any] = {}
        start, test, step = (list(slots.get(part, ())) for part in _SLOTS)
        variables = children(start[0]) if len(start) == 1 and start[0]._kind_id == Kinds.DECL_STMT else []
        if len(variables) == 1:
            found["start"] = initializer(variables[0])
        if len(test) == 1 and test[0]._kind_id == Kinds.BINARY:
            found["left"], found["right"] = children(test[0])
        if len(step) == 1 and step[0]._kind_id == Kinds.COMPOUND_ASSIGN:
            found["by"] = children(step[0])[1]
        sizes: dict[Slot, frozenset[int]] = {}
        for slot, expression in found.items():
            variables = size_of(expression, self._kinds.values) if expression is not None else None
            if variables is not None:
                sizes[slot] = variables
        return sizes

    def _opened_together(self, inner: Statement, kind: int) -> Statement:
        """A control statement whose header one macro wrote together with that of the statement inside it."""
        more = kind in _LOOPS
        bodies = tuple(
            Body(b.role, b.start, b.end, b.braced, b.statements, b.loops + more) if b.role == "loop" else b
            for b in inner.bodies
        )
        return Statement(inner.kind, inner.start, inner.end, bodies, inner.head_end, None, inner.keyword, True)

    def _head(self, start: int, kind: int) -> tuple[int, tuple[int, int] | None]:
        word = WORD.match(self.code, start)
        at = word.end() if word else start
        if kind == Kinds.DO and word and word.group() == b"do":
            return at, None
        following = next_visible(self.code, at)
        if self.code.startswith(b"constexpr", following):
            following = next_visible(self.code, following + len(b"constexpr"))
        if self.code[following : following + 1] != b"(":
            return at, None
        end = group_end(self.code, following)
        return end, for_parts(self.code, following, end) if kind == Kinds.FOR else None

    def _is_constexpr(self, start: int) -> bool:
        """Whether the word behind the one that a statement begins with is `constexpr`."""
        word = WORD.match(self.code, start)
        return word is not None and self.code.startswith(b"constexpr", next_visible(self.code, word.end()))

    def _branch(self, cursor: Any, role: Role) -> tuple[Body, int]:
        """A body and the end of its statement."""
        loops = 1 if role == "loop" else 0
        inner = without_wrapper(cursor)
        if inner._kind_id == Kinds.COMPOUND:
            body = self._compound(inner, role, loops)
            if body is not None:
                return body, body.end + 1
        statements = tuple(self._statements(cursor))
        start, end = statements[0].start, statements[-1].end
        return Body(role, start, end, False, statements, loops), end

    def _cases(self, cursor: Any) -> tuple[tuple[Body, ...], int]:
        """The labelled sections of a switch, and the end of its body."""
        whole = self._compound(cursor, "block") if cursor._kind_id == Kinds.COMPOUND else None
        if whole is None:
            return (), self._past_semicolon(self._range(cursor)[1])
        sections: list[Body] = []
        current: list[Statement] = []
        begin: int | None = None

        def close(end: int) -> None:
            if begin is not None and current:
                sections.append(Body("case", begin, end, True, tuple(current)))

        for statement in whole.statements:
            if statement.kind == "label":
                close(statement.start)
                current, begin = [], statement.end
            else:
                current.append(statement)
        close(whole.end)
        return tuple(sections), whole.end + 1


def _may_be_bit_field(expression: Any) -> bool:
    """Whether an expression may be a bit-field, which is promoted where a variable of its type is not."""
    own = without_wrapper(expression)
    kind: int = own._kind_id
    if kind == Kinds.MEMBER:
        field = referenced(own) or field_of(own)
        return field is None or (field._kind_id == Kinds.FIELD and field.is_bitfield())
    same = kind in (Kinds.PAREN, Kinds.CONDITIONAL, Kinds.COMPOUND_ASSIGN)
    same = same or (kind == Kinds.BINARY and binary_operator(own) in ("=", ","))
    return same and any(map(_may_be_bit_field, children(own)))


def _sides(cursor: Any) -> Sequence[Any]:
    """Of an expression that may be an assignment: the two operands, or the one of a step."""
    kind: int = cursor._kind_id
    if kind == Kinds.CALL:
        return class_assignment(cursor) or ()
    return children(cursor) if kind in (Kinds.UNARY, Kinds.BINARY, Kinds.COMPOUND_ASSIGN) else ()


def _values(statement: Any) -> list[Any]:
    """The expressions in a statement that is none, whose values are used: of declarations the first values."""
    if statement._kind_id != Kinds.DECL_STMT:
        return [c for c in children(statement) if 100 <= c._kind_id < 200]
    values = (initializer(c) for c in children(statement) if c._kind_id == Kinds.VAR)
    return [value for value in values if value is not None]


def _arguments(call: Any, rule: Callable[[Any], bool]) -> frozenset[Part]:
    """Of the arguments that are written; defaults have no place."""
    own = call._kind_id == Kinds.CALL and all(
        a is not None and (a.extent.start.file is None or rule(a)) for a in call.get_arguments()
    )
    return frozenset[Part](("arguments",)) if own else frozenset()


def _starts_idly(cursor: Any) -> bool:
    """The start of a `for`: a declaration or an assignment of idle values."""
    if cursor._kind_id != Kinds.DECL_STMT:
        return is_plain_step(cursor, numbers=True)
    return all(c._kind_id == Kinds.VAR and _has_value(c, is_idle) for c in children(cursor))


def _has_value(variable: Any, rule: Callable[[Any], bool]) -> bool:
    value = initializer(variable)
    return value is None or rule(value)


_SLOTS: Final[tuple[Part, ...]] = ("start", "test", "step")
_IDLE_PARTS: Final[Mapping[Part, Callable[[Any], bool]]] = {
    "start": _starts_idly,
    "test": is_idle,
    "step": partial(is_plain_step, numbers=True),
}
