"""Which kernels a unit defines, and with which template arguments each is instantiated.

Definitions come from a walk over the declarations of the device pass. Instantiations are what the code refers to: host
functions that name a template kernel, directly or through other templates, are walked in both passes. Explicit
instantiations and templates nobody uses are asked for through probe lines.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzers.frontend.cindex import (
    CursorKind,
    TemplateArgumentKind,
    children,
    file_key,
    kernel_identity,
    referenced,
    specialized_template,
    within,
)
from analyzers.frontend.expansions import instantiating_uses
from analyzers.frontend.lowering.nodes import Kinds, Node, NodeTable
from analyzers.frontend.parse import (
    ParsedUnit,
    Severity,
    instantiation_probe,
    is_bundled,
    scan_explicit_instantiations,
)

_K: Any = CursorKind
_SCOPES = frozenset({Kinds.NAMESPACE, Kinds.LINKAGE, Kinds.UNEXPOSED_DECL, Kinds.STRUCT, Kinds.CLASS,
                     Kinds.CLASS_TEMPLATE,
                     _K.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION.value, _K.FRIEND_DECL.value})  # fmt: skip
_TEMPLATES = frozenset({Kinds.CLASS_TEMPLATE, _K.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION.value})
_FUNCTION_LIKE = frozenset(
    {Kinds.FUNCTION, Kinds.FUNCTION_TEMPLATE, Kinds.METHOD, Kinds.CONSTRUCTOR, Kinds.DESTRUCTOR, Kinds.CONVERSION}
)
_REFERENCES = frozenset({Kinds.DECL_REF, Kinds.CALL, Kinds.MEMBER})
_TYPE_PARAMETER: int = _K.TEMPLATE_TYPE_PARAMETER.value
_VALUE_PARAMETER: int = _K.TEMPLATE_NON_TYPE_PARAMETER.value
_TEMPLATE_PARAMETER: int = _K.TEMPLATE_TEMPLATE_PARAMETER.value

#: What to instantiate a template with that nobody instantiates: (types, integers). The first is tried, and where it is
#: refused the others at once, of which the first that clang accepts is taken: kernels often assert something of their
#: arguments.
_GUESSES = (
    ("float", "32"), ("float", "4"), ("float", "1"), ("float", "8"), ("float", "16"), ("float", "128"),
    ("float", "256"),
    ("float", "2"), ("int", "32"), ("double", "64"),
)  # fmt: skip

#: Tells a guess from the same instance asked for by name.
_GUESSED = "  // a guess"


@dataclass(frozen=True, slots=True)
class Found:
    """A kernel to lower: its definition, or the reason why there is none."""

    name: str
    base_name: str
    mangled: str
    node: Node | None
    template: Node | None = None
    guessed: bool = False
    failure: str = ""


@dataclass(slots=True)
class _Template:
    node: Node
    name: str
    scope: tuple[str, ...]
    instances: dict[str, Any] = field(default_factory=dict[str, Any])
    """By mangled name: what the code instantiates, or else one guess."""
    guess: str = ""
    """The probe that the only instance comes from, when the code has none."""
    is_refused: bool = False
    """Whether clang accepts none of the guesses that were tried."""
    guesses: tuple[str, ...] = field(init=False)
    """The probes to try where the code has no instance, in order."""

    def __post_init__(self) -> None:
        self.guesses = tuple(dict.fromkeys(_guesses(self)))


@dataclass(slots=True)
class Discovery:
    """The kernels of a unit."""

    unit: ParsedUnit
    table: NodeTable
    kernels: list[Found] = field(default_factory=list[Found])
    templates: list[_Template] = field(default_factory=list[_Template])
    host_only: list[str] = field(default_factory=list[str])
    """Probes for instantiations that only the host pass shows."""
    leading: set[str] = field(default_factory=set[str])
    """Names of templates that mention kernel templates, directly or through others."""
    functions: list[tuple[Any, Any]] = field(default_factory=list[tuple[Any, Any]])
    """Cursors of the functions defined outside of classes, with those of their bodies."""

    @property
    def guesses(self) -> frozenset[str]:
        """All probes that are tried where the code has no instance."""
        return frozenset(p for t in self.templates for p in t.guesses)

    def probes_wanted(self, tried: Sequence[str], guessed: Container[str] | None = None) -> list[str]:
        """Probe lines that would bring more instantiations, those already present left out. `guessed`: the templates to
        guess arguments of, None for all."""
        present = {*tried, *self.unit.probes}
        wanted = [p for p in self.host_only if p not in present]
        explicit = scan_explicit_instantiations(self.unit.text, instantiating_uses(self.unit)) if self.templates else ()
        names = {t.name for t in self.templates} | self.leading
        for asked in explicit:
            if _base_name(asked.name) in names:
                probe = instantiation_probe(asked.name, asked.parameters, asked.scope)
                if probe not in present and probe not in wanted:
                    wanted.append(probe)
        if wanted:
            return wanted
        for template in self.templates:
            if guessed is not None and template.name not in guessed:
                continue
            first, *others = template.guesses
            if not template.instances and present.isdisjoint(template.guesses):
                wanted.append(first)
            elif template.is_refused and first in tried and present.isdisjoint(others):
                wanted += others
        return wanted

    def useful_probes(self) -> tuple[str, ...]:
        """The probes worth appending to the next parse. One guess that failed stays, so that it is not tried again."""
        guesses = self.guesses
        kept = [p for p in self.unit.probes if p not in guesses]
        for template in self.templates:
            if template.guess:
                kept.append(template.guess)
            elif not template.instances:
                kept.extend(p for p in template.guesses[:1] if p in self.unit.probes)
        return tuple(dict.fromkeys(kept))


def discover(unit: ParsedUnit, only: Iterable[str] = (), *, probing: bool = True) -> Discovery:
    """Find the kernels of a unit and their instantiations. `only`: those with these names, and perhaps others; their
    template arguments do not count. Without `probing`, what only the host pass instantiates is not looked for."""
    table = NodeTable(unit.device, unit.dependencies)
    found = Discovery(unit, table)
    wanted = frozenset(name.split("<")[0] for name in only)
    walked = _Declarations(unit.device, wanted)
    found.functions = walked.bodies
    plain: list[tuple[tuple[str, int], Found]] = []
    for cursor, scope in walked.kernels:
        node = table.declaration(cursor)
        if node.kind == Kinds.FUNCTION_TEMPLATE:
            found.templates.append(_Template(node, node.name, scope))
        else:
            plain.append((_position(cursor), Found(_shown(cursor), node.name, kernel_identity(cursor), node)))
    if found.templates:
        _instances(found, walked, probing)
    for template in found.templates:
        plain.extend(_found_template(found, template))
    plain.sort(key=lambda item: item[0])
    seen: set[str] = set()
    for _, item in plain:
        if item.mangled not in seen:
            seen.add(item.mangled)
            found.kernels.append(item)
    return found


def _base_name(instance: str) -> str:
    """Of ``ns::name<arguments>``; empty for a member of a class template."""
    return "" if ">::" in instance else instance.split("<")[0].split("::")[-1]


def _found_template(found: Discovery, template: _Template) -> Iterator[tuple[tuple[str, int], Found]]:
    at = _position(template.node.cursor)
    for mangled, cursor in template.instances.items():
        guessed = bool(template.guess)
        node = found.table.declaration(cursor)
        yield at, Found(_shown(cursor), template.name, mangled, node, template.node, guessed)
    if not template.instances:
        text = f"the kernel template {template.name} is not instantiated, and no arguments to try were found"
        yield at, Found(f"{template.name}<…>", template.name, f"{template.name}<>", None, template.node, failure=text)


def _position(cursor: Any) -> tuple[str, int]:
    location = cursor.location
    return (location.file.name if location.file is not None else "", location.offset)


# --- declarations -------------------------------------------------------------------------------------------


class _Declarations:
    """The functions of the user's files in one pass: kernels, and everything that could mention one."""

    def __init__(self, unit: Any, wanted: frozenset[str] = frozenset()) -> None:
        self.kernels: list[tuple[Any, tuple[str, ...]]] = []
        self.functions: list[tuple[Any, bool]] = []
        """Every function and variable with a body or initialiser, and whether it is inside a template."""
        self.bodies: list[tuple[Any, Any]] = []
        self.probes: list[Any] = []
        self._bundled: dict[int, bool] = {}
        self._unit = unit
        self._wanted = wanted
        self._walk(children(unit.cursor), (), False)

    def _in_headers(self, cursor: Any) -> bool:
        """Whether a declaration stands in a bundled header, or in no file."""
        key = file_key(cursor)
        known = self._bundled.get(key)
        if known is None:
            file = cursor.location.file
            known = self._bundled[key] = file is None or is_bundled(file.name)
        return known

    def _walk(self, cursors: Iterable[Any], scope: tuple[str, ...], template: bool) -> None:
        for cursor in cursors:
            kind = cursor._kind_id
            if kind in _FUNCTION_LIKE:
                if scope or not self._in_headers(cursor):
                    self._function(cursor, kind, scope, template)
            elif kind in _SCOPES:
                if scope or not self._in_headers(cursor):
                    inner = (*scope, cursor.spelling) if kind == Kinds.NAMESPACE else scope
                    is_template = kind in _TEMPLATES
                    # A scope of its own keeps the members from being asked for their file again.
                    self._walk(children(cursor), inner or ("",), template or is_template)
            elif kind == Kinds.VAR and (scope or not self._in_headers(cursor)):
                if cursor.spelling.startswith("cuda_lsp_probe_"):
                    self.probes.append(cursor)
                else:
                    self.functions.append((cursor, template))

    def _function(self, cursor: Any, kind: int, scope: tuple[str, ...], template: bool) -> None:
        inside = template or kind == Kinds.FUNCTION_TEMPLATE
        if self._wanted and cursor.spelling not in self._wanted:
            # To ask for the attributes of all functions takes longer than all the rest.
            self.functions.append((cursor, inside))
            return
        is_global = False
        body: Any = None
        for child in children(cursor):
            inner = child._kind_id
            if inner == Kinds.GLOBAL_ATTR:
                is_global = True
            elif inner == Kinds.COMPOUND:
                body = child
        if body is None:
            return
        if not template and kind in (Kinds.FUNCTION, Kinds.FUNCTION_TEMPLATE):
            self.bodies.append((cursor, body))
        if is_global:
            self.kernels.append((cursor, tuple(part for part in scope if part)))
        self.functions.append((cursor, inside))


# --- instantiations -----------------------------------------------------------------------------------------


def _instances(found: Discovery, device: _Declarations, probing: bool) -> None:
    """Fill in the instances of every template kernel."""
    by_place = {_position(t.node.cursor): t for t in found.templates}
    names = {t.name for t in found.templates}
    starts, interesting = _mentioning(device, names, found.table)
    found.leading |= interesting - names
    for cursor, template in _references(starts, by_place, interesting):
        template.instances.setdefault(kernel_identity(cursor), cursor)
    guesses = {p: t for t in found.templates for p in t.guesses}
    guessed: dict[int, list[tuple[int, Any]]] = {}
    for probe in device.probes:
        number = int(probe.spelling.rpartition("_")[2])
        line = found.unit.probes[number] if number < len(found.unit.probes) else ""
        for cursor, template in _references([probe], by_place, interesting):
            if guesses.get(line) is template:
                guessed.setdefault(template.node.key, []).append((number, cursor))
            else:
                template.instances.setdefault(kernel_identity(cursor), cursor)
    refused = _refused_probes(found.unit) if guessed else set[int]()
    for template in found.templates:
        tried = guessed.get(template.node.key, [])
        if tried and not template.instances:
            accepted = [t for t in tried if t[0] not in refused]
            number, cursor = (accepted or tried)[0]
            template.is_refused = not accepted
            template.guess = found.unit.probes[number]
            template.instances[kernel_identity(cursor)] = cursor
    if probing:
        _host_instances(found, by_place, interesting)


def _refused_probes(unit: ParsedUnit) -> set[int]:
    """Probes that clang reports an error about, itself or in the instantiation it asks for."""
    first = unit.text.count("\n") + 2
    refused: set[int] = set()
    current: set[int] = set()
    for error in unit.diagnostics:
        if error.severity < Severity.ERROR or error.side != "device":
            continue
        if error.in_probe or any("instantiation" in n.message for n in error.notes):
            # Further errors of one instantiation come without the notes that lead there.
            current = {n.line - first for n in (error, *error.notes) if n.in_probe}
        refused |= current
    return refused


def _host_instances(found: Discovery, by_place: dict[tuple[str, int], _Template], interesting: set[str]) -> None:
    """Instantiations in code that only the host pass sees become probes."""
    host = _Declarations(found.unit.host)
    names = {t.name for t in found.templates}
    starts, more = _mentioning(host, names, NodeTable(found.unit.host, found.unit.dependencies))
    found.leading |= more - names
    for cursor, template in _references(starts, by_place, interesting | more):
        if kernel_identity(cursor) in template.instances:
            continue
        arguments = _template_arguments(cursor, template.node)
        if arguments:
            parameters = ", ".join(a.spelling for a in cursor.type.argument_types())
            name = f"{template.name}<{', '.join(arguments)}>"
            probe = instantiation_probe(name, parameters, template.scope)
            if probe not in found.host_only:
                found.host_only.append(probe)


def _mentioning(walked: _Declarations, names: set[str], table: NodeTable) -> tuple[list[Any], set[str]]:
    """Functions outside of templates that mention a kernel template by name, directly or through macros and other
    templates; and the names of the templates and macros on the way."""
    interesting = set(names)
    by_file: dict[str, list[tuple[int, int, Any, bool]]] = {}
    for cursor, template in walked.functions:
        extent = cursor.extent
        entry = (extent.start.offset, extent.end.offset, cursor, template)
        by_file.setdefault(_position(cursor)[0], []).append(entry)
    for entries in by_file.values():
        entries.sort(key=lambda e: e[0])
    starts: dict[int, Any] = {}
    pending = set(names)
    while pending:
        pattern = re.compile(rb"\b(?:" + b"|".join(re.escape(n.encode()) for n in sorted(pending)) + rb")\b")
        fresh: set[str] = set()
        for file, entries in by_file.items():
            keys = [e[0] for e in entries]
            text = table.bytes_of(file)
            fresh |= _macros_with(pattern, text) - interesting
            for match in pattern.finditer(text):
                for start, end, cursor, template in _covering(entries, keys, match.start()):
                    if template:
                        name = cursor.spelling.split("<")[0]
                        if name not in interesting and match.start() > _position(cursor)[1] + len(name):
                            fresh.add(name)
                        parent = cursor.semantic_parent
                        if parent is not None and parent._kind_id in _SCOPES and parent._kind_id != Kinds.NAMESPACE:
                            owner = parent.spelling
                            if owner and owner not in interesting:
                                fresh.add(owner)
                    starts.setdefault(cursor.data[0], cursor)
                    del start, end
        interesting |= fresh
        pending = fresh
    return list(starts.values()), interesting


_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:[^\n\\]|\\(?:\r?\n|.))*", re.MULTILINE)


def _macros_with(pattern: re.Pattern[bytes], text: bytes) -> set[str]:
    """Macros in whose definition the pattern occurs; where they are used, so is what it stands for."""
    if b"define" not in text:
        return set()
    return {m.group(1).decode() for m in _DEFINE.finditer(text) if pattern.search(text, m.end(1), m.end())}


def _covering(
    entries: list[tuple[int, int, Any, bool]], keys: list[int], offset: int
) -> Iterator[tuple[int, int, Any, bool]]:
    at = bisect.bisect_right(keys, offset) - 1
    while at >= 0:
        entry = entries[at]
        if entry[0] <= offset < entry[1]:
            yield entry
            return
        if offset - entry[0] > 400_000:
            return
        at -= 1


def _references(
    starts: Iterable[Any], by_place: dict[tuple[str, int], _Template], interesting: set[str]
) -> Iterator[tuple[Any, _Template]]:
    """(instantiation, template) for every reference to a kernel template below, through instantiated templates too."""
    seen: set[int] = set()
    queue = list(starts)
    while queue:
        cursor = queue.pop()
        if cursor.data[0] in seen and cursor._kind_id < 100:
            continue
        seen.add(cursor.data[0])
        for inner in within(cursor, _REFERENCES):
            target = referenced(inner)
            if target is None or target._kind_id not in _FUNCTION_LIKE:
                continue
            place = _position(target)
            template = by_place.get(place)
            if template is not None:
                if target._kind_id == Kinds.FUNCTION:
                    yield _defined(target), template
                continue
            if target.data[0] not in seen and not is_bundled(place[0]):
                name = target.spelling
                known = name in interesting or _owner_name(target) in interesting
                if known or name == "operator()" or _takes_lambda(target):
                    queue.append(_defined(target))


def _owner_name(cursor: Any) -> str:
    parent = cursor.semantic_parent
    return parent.spelling if parent is not None and parent._kind_id != Kinds.NAMESPACE else ""


def _takes_lambda(cursor: Any) -> bool:
    """Whether a function is an instance for a lambda, which it may call with anything."""
    for number in range(max(cursor.get_num_template_arguments(), 0)):
        try:
            if cursor.get_template_argument_kind(number) != TemplateArgumentKind.TYPE:
                continue
        except ValueError:
            return True  # a pack: the Python binding does not show what is in it
        if "(lambda at" in cursor.get_template_argument_type(number).spelling:
            return True
    return False


def _defined(cursor: Any) -> Any:
    return cursor.get_definition() or cursor


# --- template arguments -------------------------------------------------------------------------------------


def _parameters(template: Node) -> list[Node]:
    return [k for k in template.kids if k.kind in (_TYPE_PARAMETER, _VALUE_PARAMETER, _TEMPLATE_PARAMETER)]


def _guesses(template: _Template) -> Iterator[str]:
    """Probes with made-up arguments for a template nobody instantiates."""
    parameters = _parameters(template.node)
    for type_guess, number in _GUESSES:
        arguments: list[str] = []
        for parameter in parameters:
            if parameter.kind == _TEMPLATE_PARAMETER or "..." in parameter.text:
                break
            if "=" in parameter.text:
                break  # this one and all that follow have defaults
            if parameter.kind == _TYPE_PARAMETER:
                arguments.append(type_guess)
                continue
            shape = parameter.cursor.type.get_canonical()
            spelling = shape.spelling
            if spelling == "bool":
                arguments.append("true")
            elif "int" in spelling or "long" in spelling or "short" in spelling or "char" in spelling:
                arguments.append(number)
            else:
                arguments.append(f"static_cast<{spelling}>(0)")
        inner = f"{template.name}<{', '.join(arguments)}>"
        yield instantiation_probe(inner, None, template.scope) + _GUESSED


#: Of ``(lambda at /home/me/file.cu:3:7)``: a kernel has the same name wherever its file lies.
_FOLDER = re.compile(r" at [^()]*/(?=[^/()]+:\d+:\d+\))")


def _template_arguments(cursor: Any, template: Node | None) -> list[str]:
    count = cursor.get_num_template_arguments()
    parameters = _parameters(template) if template is not None else []
    out: list[str] = []
    for number in range(max(count, 0)):
        try:
            kind = cursor.get_template_argument_kind(number)
        except ValueError:
            # The Python binding knows no parameter packs.
            out.append("...")
            continue
        if kind == TemplateArgumentKind.TYPE:
            out.append(_FOLDER.sub(" at ", cursor.get_template_argument_type(number).spelling))
        elif kind == TemplateArgumentKind.INTEGRAL:
            value = cursor.get_template_argument_value(number)
            shape = parameters[number].cursor.type.get_canonical().spelling if number < len(parameters) else ""
            if shape == "bool":
                out.append("true" if value else "false")
            else:
                unsigned = "unsigned" in shape
                out.append(str(cursor.get_template_argument_unsigned_value(number) if unsigned else value))
    return out


def _shown(cursor: Any) -> str:
    """The kernel's name with its template arguments."""
    if cursor.get_num_template_arguments() <= 0:
        return cursor.spelling
    specialised = _specialised(cursor)
    return f"{cursor.spelling}<{', '.join(_template_arguments(cursor, specialised))}>"


def _specialised(cursor: Any) -> Node | None:
    template = specialized_template(cursor)
    return Node(template, NodeTable(None)) if template is not None else None
