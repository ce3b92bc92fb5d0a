"""A call as the lowering sees it, and what is known about a function definition."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.nodes import FUNCTIONS, REFERENCES, Kinds, Node, NodeTable, constructor_arguments
from analyzers.frontend.parse import is_bundled
from analyzers.model import SourceSpan


@dataclass(frozen=True, slots=True)
class Call:
    """One call expression: the function it names, its arguments in order, and the object of a method call."""

    node: Node
    target: Node
    name: str
    args: list[Node]
    object: Node | None = None
    """The object expression; None for plain functions and for an implicit ``this``."""
    arrow: bool = False
    """The object expression is a pointer."""


@dataclass(frozen=True, slots=True)
class Facts:
    """A function definition, asked of libclang once."""

    node: Node
    name: str
    qualified: str
    parameters: list[Node]
    body: Node | None
    initializers: list[tuple[Node | None, Node]]
    """Constructor: (member, initialiser); the member is None for a base class or a delegation."""
    written: frozenset[int]
    """Variables and parameters that a statement of the body assigns to or takes the address of."""
    result: CType
    bundled: bool
    file: str
    span: SourceSpan

    @property
    def key(self) -> int:
        return self.node.key

    @property
    def has_meaning(self) -> bool:
        """Whether the name says what it does: CUDA's, the standard library's or the compiler's function, also where a
        program declares it by itself, not one of the program that happens to be called like that."""
        if self.bundled:
            return True
        named = self.name.startswith("__") or self.node.cursor.mangled_name == self.name
        return self.body is None and self.qualified == self.name and named


_SPECIAL = frozenset({Kinds.METHOD, Kinds.CONSTRUCTOR})


def describe(table: NodeTable, function: Node) -> Facts:
    """The facts about the definition of a function, or about its declaration where there is no definition."""
    known = table.functions.get(function.key)
    if known is None:
        definition: Any = function.cursor.get_definition()
        node = table.declaration(definition) if definition is not None else function
        known = table.functions.get(node.key)
        if known is None:
            known = table.functions[node.key] = _describe(table, node)
        table.functions[function.key] = known
    return known


_WEAK = re.compile(r"weak", re.IGNORECASE)


def _describe(table: NodeTable, node: Node) -> Facts:
    parameters: list[Node] = []
    body: Node | None = None
    loose: list[Node] = []
    for kid in node.kids:
        if kid.kind == Kinds.PARM:
            # Bodies refer to parameters through the unit's one node for each.
            parameters.append(kid)
        elif kid.kind == Kinds.COMPOUND:
            body = kid
        elif node.kind == Kinds.CONSTRUCTOR:
            loose.append(kid)
    if node.kind in _SPECIAL and node.cursor.is_default_method():
        body = None  # clang makes up bodies for these; copies are lowered as such
    if any(k.kind == Kinds.UNEXPOSED_ATTR and _WEAK.search(k.text) for k in node.kids):
        body = None  # another definition may be linked in its place
    location = node.cursor.location
    path = location.file.name if location.file is not None else ""
    # A program may declare once more what a bundled header declares.
    first = node.cursor.canonical.location.file if body is None else None
    return Facts(
        node=node,
        name=node.name,
        qualified=qualified_name(node.cursor),
        parameters=parameters,
        body=body,
        initializers=_initializers(loose),
        written=written_variables(body) if body is not None else frozenset(),
        result=table.types.of(node.cursor.result_type),
        bundled=is_bundled(path) or (first is not None and is_bundled(first.name)),
        file=path,
        span=node.span,
    )


_ASSIGNMENTS = frozenset({Kinds.BINARY, Kinds.COMPOUND_ASSIGN, Kinds.UNARY})
_WRITING = frozenset({"++", "--", "post++", "post--", "&"})


def written_variables(body: Node) -> frozenset[int]:
    """The declarations that assignments, increments and address-of operators below name directly.

    A variable changed through a reference is not among them: `Context.force` finds those.
    """
    found: set[int] = set()
    stack = [body]
    while stack:
        node = stack.pop()
        kids = node.kids
        stack.extend(kids)
        if node.kind not in _ASSIGNMENTS or not kids:
            continue
        operator = node.operator
        if node.kind == Kinds.COMPOUND_ASSIGN or operator == "=" or operator in _WRITING:
            target = kids[0]
            while target.kind == Kinds.PAREN and target.kids:
                target = target.kids[0]
            if target.kind == Kinds.DECL_REF and target.reference is not None:
                found.add(target.reference.key)
    return frozenset(found)


def _initializers(loose: list[Node]) -> list[tuple[Node | None, Node]]:
    found: list[tuple[Node | None, Node]] = []
    member: Node | None = None
    for kid in loose:
        if kid.kind == Kinds.MEMBER_REF:
            member = kid
        elif 100 <= kid.kind < 200:
            found.append((member, kid))
            member = None
    return found


def is_implicit(method: Any) -> bool:
    """Whether the compiler makes a special member function itself."""
    owner = method.semantic_parent
    if method.is_default_method() or owner is None:
        return True
    here, there = method.location, owner.location
    return here.offset == there.offset and here.line == there.line


#: clang's ``(lambda at file.cu:3:7)`` and ``(unnamed struct at file.cu:3:7)``.
_PLACE = re.compile(r" at [^()]*:\d+:\d+(?=\))")


def qualified_name(cursor: Any) -> str:
    """``ns::Class::function``, without template arguments, and without the places of what has no name."""
    parts = [cursor.spelling]
    parent = cursor.semantic_parent
    while parent is not None and not parent.kind.is_translation_unit():
        if parent.spelling and parent._kind_id not in FUNCTIONS:
            parts.append(parent.spelling)
        parent = parent.semantic_parent
    return _PLACE.sub("", "::".join(reversed(parts)))


def arguments_of(node: Node, target: Node) -> Call:
    """Take a call expression apart."""
    kids = [k for k in node.kids if k.kind not in REFERENCES]
    name = target.name
    if target.kind == Kinds.CONSTRUCTOR:
        return Call(node, target, name, constructor_arguments(node))
    if kids and kids[0].kind == Kinds.MEMBER:
        callee = kids[0]
        method = callee.reference is target or target.kind in (Kinds.METHOD, Kinds.CONVERSION, Kinds.DESTRUCTOR)
        if method and not (callee.reference is not None and callee.reference.kind == Kinds.FIELD):
            inner = [k for k in callee.kids if k.kind not in REFERENCES]
            owner = inner[0] if inner else None
            arrow = owner is not None and owner.type.shape == "pointer"
            return Call(node, target, name, kids[1:], owner, arrow)
    operands: list[Node] = []
    found = False
    for kid in kids:
        if not found and _names(kid, target):
            found = True
        else:
            operands.append(kid)
    if not found and operands:
        operands = operands[1:]
    if target.kind in (Kinds.METHOD, Kinds.CONVERSION) and operands and not target.cursor.is_static_method():
        return Call(node, target, name, operands[1:], operands[0])
    return Call(node, target, name, operands)


def _names(node: Node, target: Node) -> bool:
    """Whether an operand of a call is the callee itself."""
    while node.kind in (Kinds.UNEXPOSED, Kinds.PAREN) and len(node.kids) == 1:
        node = node.kids[0]
    return node.kind == Kinds.DECL_REF and node.reference is target
