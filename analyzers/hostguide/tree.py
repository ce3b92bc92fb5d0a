"""Host functions as small trees of our own, made from libclang cursors once per function.

Takes cursors of the host pass, gives :class:`Node` trees in which implicit conversions are explicit ``cast`` nodes and
everything unknown is an ``unknown`` node that still has its children. Interpreting a tree several times (once per call
chain) then costs no libclang calls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from analyzers.frontend import cindex
from analyzers.frontend.cindex import Cursor, CursorKind
from analyzers.hostguide.hosttypes import (
    FUNCTION,
    OTHER,
    ArrayOf,
    HostType,
    HostTypes,
    PointerTo,
    ReferenceTo,
)
from analyzers.hostguide.source import SourceTexts, extent, has_code, punctuation, words_of
from analyzers.ir.expr import I32, FloatType, IntType


@dataclass(frozen=True, slots=True, eq=False)
class Declaration:
    """A variable, parameter or field; identity is equality."""

    name: str
    ty: HostType
    storage: str
    """``local``, ``parameter``, ``static`` or ``global``."""
    cursor: Cursor
    const: bool
    volatile: bool = False


class Node:
    """One expression or statement.

    expressions: ``const`` (value int) ``real`` (value float) ``string`` ``null`` ``ref`` (value Declaration) ``fn``
    (value Cursor) ``this`` ``member`` (value field name; arg: object or pointer) ``index`` ``deref`` ``addr`` ``unary``
    ``binary`` (value operator) ``assign`` ``compound`` (value operator) ``step`` (value ``++`` ``--`` ``post++``
    ``post--``) ``choose`` ``cast`` ``call`` (value Cursor or None; args callee, arguments…) ``method`` (value Cursor;
    args object, arguments…) ``construct`` (value Cursor) ``launch`` (args kernel, grid, block, shared, arguments…)
    ``list`` ``lambda`` ``new`` ``throw`` ``body`` (statement expression) ``unknown``
    statements: ``block`` ``declare`` (value Declaration; arg: initialiser) ``if`` ``for`` ``while`` ``do`` ``each``
    ``switch`` ``case`` ``default`` ``break`` ``continue`` ``return`` ``goto`` ``label`` ``try`` ``lost`` (value words)
    ``empty``; an expression is a statement too. Absent parts are None.
    """

    __slots__ = ("args", "cursor", "effects", "op", "ty", "value")

    def __init__(
        self, op: str, ty: HostType, args: tuple[Node | None, ...], value: Any, cursor: Cursor, effects: bool = False
    ) -> None:
        self.op = op
        self.ty = ty
        self.args = args
        self.value = value
        self.cursor = cursor
        self.effects = effects or any(a is not None and a.effects for a in args)

    def arg(self, n: int) -> Node:
        found = self.args[n]
        assert found is not None
        return found


@dataclass(frozen=True, slots=True, eq=False)
class HostFunction:
    """A function with a body. ``object_kind``: the class of ``this`` for a method."""

    name: str
    parameters: tuple[Declaration, ...]
    body: Node
    result: HostType
    cursor: Cursor
    initialisers: tuple[tuple[str, HostType, Node], ...] = ()
    """(field, its type, value) of a constructor, in order."""
    is_method: bool = False


ANY_PART = "?"
"""The path of a member of a union, or of an element at an unknown index: a write changes the whole."""

_TYPE_PARTS = frozenset(
    {
        CursorKind.TYPE_REF,
        CursorKind.TEMPLATE_REF,
        CursorKind.NAMESPACE_REF,
        CursorKind.OVERLOADED_DECL_REF,
        CursorKind.LABEL_REF,
    }
)
_CASTS = frozenset(
    {
        CursorKind.CSTYLE_CAST_EXPR,
        CursorKind.CXX_STATIC_CAST_EXPR,
        CursorKind.CXX_FUNCTIONAL_CAST_EXPR,
        CursorKind.CXX_REINTERPRET_CAST_EXPR,
        CursorKind.CXX_CONST_CAST_EXPR,
        CursorKind.CXX_DYNAMIC_CAST_EXPR,
    }
)
_FUNCTIONS = frozenset(
    {CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.CONVERSION_FUNCTION}
)
_CONFIGURE = ("__cudaPushCallConfiguration", "cudaConfigureCall")
_JUMPS = {
    CursorKind.BREAK_STMT: "break",
    CursorKind.CONTINUE_STMT: "continue",
    CursorKind.GOTO_STMT: "goto",
    CursorKind.INDIRECT_GOTO_STMT: "goto",
}


class TreeBuilder:
    """Builds and remembers trees of one translation unit."""

    def __init__(self, types: HostTypes, sources: SourceTexts) -> None:
        self.types = types
        self.sources = sources
        self._declarations: dict[int, list[Declaration]] = {}
        self._functions: dict[int, list[tuple[Cursor, HostFunction | None]]] = {}
        self.overloads: dict[str, Cursor] = {}
        """Template instances by their text, ``run<float>``: clang leaves them open where they stand in a list."""
        self.open_overloads: set[str] = set()
        self._statements: dict[Any, Callable[[Cursor], Node]] = {
            CursorKind.COMPOUND_STMT: self._block,
            CursorKind.DECL_STMT: self._declare,
            CursorKind.IF_STMT: self._if,
            CursorKind.FOR_STMT: self._for,
            CursorKind.WHILE_STMT: self._while,
            CursorKind.DO_STMT: self._do,
            CursorKind.CXX_FOR_RANGE_STMT: self._each,
            CursorKind.SWITCH_STMT: self._switch,
            CursorKind.CASE_STMT: self._case,
            CursorKind.DEFAULT_STMT: self._default,
            CursorKind.RETURN_STMT: self._return,
            CursorKind.LABEL_STMT: self._label,
            CursorKind.CXX_TRY_STMT: self._try,
            CursorKind.NULL_STMT: self._empty,
        }
        self._expressions: dict[Any, Callable[[Cursor], Node]] = {
            CursorKind.UNEXPOSED_EXPR: self._unexposed,
            CursorKind.PAREN_EXPR: self._paren,
            CursorKind.INTEGER_LITERAL: self._integer,
            CursorKind.CHARACTER_LITERAL: self._integer,
            CursorKind.CXX_BOOL_LITERAL_EXPR: self._integer,
            CursorKind.CXX_UNARY_EXPR: self._integer,
            CursorKind.FLOATING_LITERAL: self._real,
            CursorKind.STRING_LITERAL: self._string,
            CursorKind.CXX_NULL_PTR_LITERAL_EXPR: self._null,
            CursorKind.GNU_NULL_EXPR: self._null,
            CursorKind.CXX_THIS_EXPR: self._this,
            CursorKind.DECL_REF_EXPR: self._ref,
            CursorKind.MEMBER_REF_EXPR: self._member,
            CursorKind.ARRAY_SUBSCRIPT_EXPR: self._index,
            CursorKind.UNARY_OPERATOR: self._unary,
            CursorKind.BINARY_OPERATOR: self._binary,
            CursorKind.COMPOUND_ASSIGNMENT_OPERATOR: self._compound,
            CursorKind.CONDITIONAL_OPERATOR: self._choose,
            CursorKind.INIT_LIST_EXPR: self._list,
            CursorKind.LAMBDA_EXPR: self._lambda,
            CursorKind.CXX_NEW_EXPR: self._new,
            CursorKind.CXX_THROW_EXPR: self._throw,
            CursorKind.StmtExpr: self._statement_expression,
            CursorKind.CALL_EXPR: self._call,
        }

    # --- declarations and functions

    def declaration(self, cursor: Cursor) -> Declaration:
        known = self._declarations.setdefault(cursor.hash, [])
        for found in known:
            if found.cursor == cursor:
                return found
        ty = cursor.type
        host = OTHER if self.sources.is_broken(cursor) else self.types.of(ty)
        made = Declaration(
            cursor.spelling,
            host,
            _storage(cursor),
            cursor,
            ty.get_canonical().is_const_qualified(),
            ty.is_volatile_qualified(),
        )
        known.append(made)
        return made

    def function(self, cursor: Cursor) -> HostFunction | None:
        """The function that a reference means, None where the unit has no body for it."""
        defined = cursor.get_definition() or cursor
        known = self._functions.setdefault(defined.hash, [])
        for seen, found in known:
            if seen == defined:
                return found
        made = self._function(defined)
        known.append((defined, made))
        return made

    def _function(self, cursor: Cursor) -> HostFunction | None:
        if is_written_by_compiler(cursor):
            return None
        body = None
        parameters: list[Declaration] = []
        initialisers: list[tuple[str, HostType, Node]] = []
        field: tuple[str, HostType] | None = None
        for child in cursor.get_children():
            kind = child.kind
            if kind == CursorKind.COMPOUND_STMT:
                body = child
            elif kind == CursorKind.PARM_DECL:
                parameters.append(self.declaration(child))
            elif kind == CursorKind.MEMBER_REF:
                field = (child.spelling, self.types.of(child.type))
            elif field is not None and kind.is_expression():
                initialisers.append((*field, self.expression(child)))
                field = None
        if body is None:
            return None
        method = cursor.kind in _FUNCTIONS and cursor.kind != CursorKind.FUNCTION_DECL and not cursor.is_static_method()
        return HostFunction(
            cursor.spelling,
            tuple(parameters),
            self.statement(body),
            self.types.of(cursor.result_type),
            cursor,
            tuple(initialisers),
            method,
        )

    # --- statements

    def statement(self, cursor: Cursor) -> Node:
        kind = cursor.kind
        handler = self._statements.get(kind)
        if handler is not None:
            return handler(cursor)
        jump = _JUMPS.get(kind)
        if jump is not None:
            return Node(jump, OTHER, (), None, cursor, True)
        if kind == CursorKind.UNEXPOSED_STMT:
            inner = [c for c in cursor.get_children() if not c.kind.is_attribute()]
            if len(inner) == 1:
                return self.statement(inner[0])
        if kind.is_expression() or kind.is_unexposed():
            made = self.expression(cursor)
            return self._with_losses(made)
        return self._unknown_statement(cursor)  # inline assembly, OpenMP directives and the like

    def _with_losses(self, made: Node) -> Node:
        """A statement with a compile error inside may have lost a part: whatever it mentions may have changed."""
        if not self.sources.has_errors:
            return made
        path, start, end = extent(made.cursor)
        if not self.sources.error_in(path, start, end):
            return made
        lost = Node("lost", OTHER, (), self.sources.words(path, start, end), made.cursor, True)
        return Node("block", OTHER, (made, lost), None, made.cursor)

    def _block(self, cursor: Cursor) -> Node:
        children = list(cursor.get_children())
        if not self.sources.is_broken(cursor):
            return Node("block", OTHER, tuple(self.statement(c) for c in children), None, cursor)
        path, at, end = extent(cursor)
        text = self.sources.text(path)
        at += 1 if text[at : at + 1] == b"{" else 0
        parts: list[Node] = []
        for child in children:
            _, start, stop = extent(child)
            if start > at and has_code(text[at:start]):
                parts.append(Node("lost", OTHER, (), words_of(text[at:start]), cursor, True))
            parts.append(self.statement(child))
            at = max(at, stop)
        tail = text[at : end - 1] if text[end - 1 : end] == b"}" else text[at:end]
        if has_code(tail):
            parts.append(Node("lost", OTHER, (), words_of(tail), cursor, True))
        return Node("block", OTHER, tuple(parts), None, cursor)

    def _declare(self, cursor: Cursor) -> Node:
        found = [c for c in cursor.get_children() if c.kind == CursorKind.VAR_DECL]
        parts = tuple(self._variable(c) for c in found)
        return parts[0] if len(parts) == 1 else Node("block", OTHER, parts, None, cursor)

    def _variable(self, cursor: Cursor) -> Node:
        declared = self.declaration(cursor)
        value = None
        if declared.ty is not OTHER or not self.sources.is_broken(cursor):
            init = cindex.initializer(cursor)
            value = self.expression(init) if init is not None else None
            if value is not None and not isinstance(declared.ty, ReferenceTo):
                value = self._converted(value, declared.ty)
        made = Node("declare", declared.ty, (value,), declared, cursor)
        return self._with_losses(made)

    def _if(self, cursor: Cursor) -> Node:
        children = list(cursor.get_children())
        first: list[Node] = []
        while children and children[0].kind in (CursorKind.DECL_STMT, CursorKind.VAR_DECL):
            first.append(self._any(children.pop(0)))
        if len(children) > 3:
            first.append(self.statement(children.pop(0)))
        if len(children) < 2:
            return self._unknown_statement(cursor)
        orelse = self.statement(children[2]) if len(children) > 2 else None
        made = Node("if", OTHER, (self.expression(children[0]), self.statement(children[1]), orelse), None, cursor)
        return Node("block", OTHER, (*first, made), None, cursor) if first else made

    def _any(self, cursor: Cursor) -> Node:
        return self._variable(cursor) if cursor.kind == CursorKind.VAR_DECL else self.statement(cursor)

    def _unknown_statement(self, cursor: Cursor) -> Node:
        path, start, end = extent(cursor)
        parts = tuple(self.statement(c) for c in cursor.get_children())
        lost = Node("lost", OTHER, (), self.sources.words(path, start, end), cursor, True)
        return Node("unknown", OTHER, (*parts, lost), None, cursor, True)

    def _for(self, cursor: Cursor) -> Node:
        children = list(cursor.get_children())
        slots = self._for_slots(cursor, children)
        if slots is None:
            return self._unknown_statement(cursor)
        init, condition, step, body = slots
        return Node(
            "for",
            OTHER,
            (
                self._any(init) if init is not None else None,
                self.expression(condition) if condition is not None else None,
                self._with_losses(self.expression(step)) if step is not None else None,
                self.statement(body),
            ),
            self.sources.is_broken(cursor),
            cursor,
        )

    def _for_slots(
        self, cursor: Cursor, children: list[Cursor]
    ) -> tuple[Cursor | None, Cursor | None, Cursor | None, Cursor] | None:
        """libclang drops empty slots: the semicolons of the header tell which ones are there."""
        if not children:
            return None
        *header, body = children
        if len(header) == 3:
            return header[0], header[1], header[2], body
        path, start, _ = extent(cursor)
        text = self.sources.text(path)
        if text[start : start + 3] != b"for":
            return None
        marks = _semicolons(text, start)
        if marks is None:
            return None
        slots: list[Cursor | None] = [None, None, None]
        for child in header:
            _, at, _ = extent(child)
            slot = 0 if at < marks[0] else 1 if at <= marks[1] else 2
            if slots[slot] is not None:
                return None
            slots[slot] = child
        return slots[0], slots[1], slots[2], body

    def _while(self, cursor: Cursor) -> Node:
        children = list(cursor.get_children())
        if len(children) != 2 or children[0].kind == CursorKind.VAR_DECL:
            return self._unknown_statement(cursor)
        parts = (self.expression(children[0]), self.statement(children[1]))
        return Node("while", OTHER, parts, self.sources.is_broken(cursor), cursor)

    def _do(self, cursor: Cursor) -> Node:
        children = list(cursor.get_children())
        if len(children) != 2:
            return self._unknown_statement(cursor)
        parts = (self.statement(children[0]), self.expression(children[1]))
        return Node("do", OTHER, parts, self.sources.is_broken(cursor), cursor)

    def _each(self, cursor: Cursor) -> Node:
        children = list(cursor.get_children())
        variable = next((c for c in children if c.kind == CursorKind.VAR_DECL), None)
        values = [c for c in children[:-1] if c.kind.is_expression()]
        if variable is None or not values:
            return self._unknown_statement(cursor)
        parts = (self.expression(values[0]), self.statement(children[-1]))
        return Node("each", OTHER, parts, self.declaration(variable), cursor)

    def _switch(self, cursor: Cursor) -> Node:
        children = list(cursor.get_children())
        if len(children) != 2 or children[1].kind != CursorKind.COMPOUND_STMT or self.sources.is_broken(cursor):
            return self._unknown_statement(cursor)
        parts = (self.expression(children[0]), self.statement(children[1]))
        return Node("switch", OTHER, parts, None, cursor)

    def _case(self, cursor: Cursor) -> Node:
        children = list(cursor.get_children())
        if len(children) != 2:
            return self._unknown_statement(cursor)
        return Node("case", OTHER, (self.expression(children[0]), self.statement(children[1])), None, cursor, True)

    def _default(self, cursor: Cursor) -> Node:
        children = list(cursor.get_children())
        inner = self.statement(children[0]) if children else None
        return Node("default", OTHER, (inner,), None, cursor, True)

    def _return(self, cursor: Cursor) -> Node:
        children = [c for c in cursor.get_children() if c.kind not in _TYPE_PARTS]
        value = self.expression(children[0]) if children else None
        made = Node("return", OTHER, (value,), None, cursor, True)
        broken = value is None and self.sources.is_broken(cursor)
        return Node("return", OTHER, (self._opaque(cursor),), None, cursor, True) if broken else made

    def _label(self, cursor: Cursor) -> Node:
        return Node("label", OTHER, tuple(self.statement(c) for c in cursor.get_children()), None, cursor, True)

    def _try(self, cursor: Cursor) -> Node:
        parts: list[Node] = []
        for child in cursor.get_children():
            if child.kind == CursorKind.CXX_CATCH_STMT:
                inner = [c for c in child.get_children() if c.kind == CursorKind.COMPOUND_STMT]
                parts.append(self.statement(inner[-1]) if inner else self._unknown_statement(child))
            else:
                parts.append(self.statement(child))
        return Node("try", OTHER, tuple(parts), None, cursor, True)

    def _empty(self, cursor: Cursor) -> Node:
        return Node("empty", OTHER, (), None, cursor)

    # --- expressions

    def expression(self, cursor: Cursor) -> Node:
        handler = self._expressions.get(cursor.kind)
        if handler is not None:
            return handler(cursor)
        if cursor.kind in _CASTS:
            return self._cast(cursor)
        return self._other(cursor)

    def _parts(self, cursor: Cursor) -> list[Cursor]:
        return [c for c in cursor.get_children() if c.kind not in _TYPE_PARTS]

    def _opaque(self, cursor: Cursor) -> Node:
        return Node("unknown", self.types.of(cursor.type), (), None, cursor, True)

    def _other(self, cursor: Cursor) -> Node:
        """A construct with no meaning here: a constant if clang can tell, else its parts for their effects."""
        ty = self.types.of(cursor.type)
        if isinstance(ty, IntType):
            value = cindex.evaluate(cursor)
            if isinstance(value, int):
                return Node("const", ty, (), value, cursor)
        return Node("unknown", ty, tuple(self._any_part(c) for c in self._parts(cursor)), None, cursor, True)

    def _any_part(self, cursor: Cursor) -> Node:
        return self.expression(cursor) if cursor.kind.is_expression() else self.statement(cursor)

    def _unexposed(self, cursor: Cursor) -> Node:
        children = self._parts(cursor)
        if len(children) != 1 or not (children[0].kind.is_expression() or children[0].kind.is_unexposed()):
            return self._other(cursor)
        return self._converted(self.expression(children[0]), self.types.of(cursor.type), cursor)

    def _converted(self, inner: Node, ty: HostType, cursor: Cursor | None = None) -> Node:
        have = inner.ty
        if have == ty or isinstance(ty, ReferenceTo) or have is FUNCTION or ty is OTHER:
            return inner
        scalar = (IntType, FloatType)
        if isinstance(ty, scalar) and isinstance(have, (IntType, FloatType, PointerTo, ArrayOf)):
            return Node("cast", ty, (inner,), None, cursor or inner.cursor)
        if isinstance(ty, PointerTo) and isinstance(have, (PointerTo, ArrayOf, IntType)):
            return Node("cast", ty, (inner,), None, cursor or inner.cursor)
        return inner

    def _paren(self, cursor: Cursor) -> Node:
        children = self._parts(cursor)
        return self.expression(children[0]) if len(children) == 1 else self._other(cursor)

    def _cast(self, cursor: Cursor) -> Node:
        children = [c for c in self._parts(cursor) if c.kind.is_expression()]
        if len(children) != 1:
            return self._other(cursor)
        ty = self.types.of(cursor.type)
        inner = self.expression(children[0])
        made = self._converted(inner, ty, cursor)
        if made is inner and ty is OTHER and inner.ty is not OTHER:
            return Node("unknown", OTHER, (inner,), None, cursor, inner.effects)
        return made

    def _integer(self, cursor: Cursor) -> Node:
        if self.sources.has_errors and cursor.kind == CursorKind.CXX_UNARY_EXPR and self._of_suspect_type(cursor):
            return self._opaque(cursor)
        return self._other(cursor)

    def _of_suspect_type(self, cursor: Cursor) -> bool:
        """Whether a ``sizeof`` measures a type whose declaration clang could not read whole."""
        for child in cursor.walk_preorder():
            target = child.referenced if child.kind == CursorKind.TYPE_REF else None
            if target is not None and self.sources.is_broken(target):
                return True
        return False

    def _real(self, cursor: Cursor) -> Node:
        value = cindex.evaluate(cursor)
        if isinstance(value, float):
            return Node("real", self.types.of(cursor.type), (), value, cursor)
        return self._other(cursor)

    def _string(self, cursor: Cursor) -> Node:
        return Node("string", self.types.of(cursor.type), (), None, cursor)

    def _null(self, cursor: Cursor) -> Node:
        return Node("null", self.types.of(cursor.type), (), None, cursor)

    def _this(self, cursor: Cursor) -> Node:
        return Node("this", self.types.of(cursor.type), (), None, cursor)

    def _ref(self, cursor: Cursor) -> Node:
        target = cursor.referenced
        if target is None:
            return self._other(cursor)
        kind = target.kind
        if kind in (CursorKind.VAR_DECL, CursorKind.PARM_DECL):
            declared = self.declaration(target)
            ty = declared.ty.target if isinstance(declared.ty, ReferenceTo) else declared.ty
            return Node("ref", ty, (), declared, cursor)
        if kind in _FUNCTIONS:
            return Node("fn", FUNCTION, (), target, cursor)
        if kind == CursorKind.OVERLOADED_DECL_REF:
            return self._overload(cursor)
        if kind == CursorKind.ENUM_CONSTANT_DECL:
            ty = self.types.of(cursor.type)
            return Node("const", ty if isinstance(ty, IntType) else I32, (), target.enum_value, cursor)
        return self._other(cursor)

    def _overload(self, cursor: Cursor) -> Node:
        path, start, end = extent(cursor)
        text = instance_text(self.sources.text(path)[start:end])
        found = self.overloads.get(text)
        if found is None:
            self.open_overloads.add(text)
            return self._opaque(cursor)
        return Node("fn", FUNCTION, (), found, cursor)

    def _member(self, cursor: Cursor) -> Node:
        target = cursor.referenced
        if target is None:
            return self._other(cursor)
        if target.kind == CursorKind.VAR_DECL:
            declared = self.declaration(target)
            return Node("ref", declared.ty, (), declared, cursor)
        if target.kind in _FUNCTIONS:
            return Node("fn", FUNCTION, (), target, cursor)
        if target.kind != CursorKind.FIELD_DECL:
            return self._other(cursor)
        ty = self.types.of(target.type)
        if self.sources.has_errors and self.sources.is_broken(target):
            ty = OTHER
        parts = self._parts(cursor)
        base = self.expression(parts[0]) if parts else Node("this", OTHER, (), None, cursor)
        parent = target.semantic_parent
        overlays = parent is not None and parent.kind == CursorKind.UNION_DECL
        name = ANY_PART if overlays else target.spelling
        if isinstance(ty, ReferenceTo):
            holder = Node("member", PointerTo(ty.target, None, ty.const), (base,), name, cursor)
            return Node("deref", ty.target, (holder,), None, cursor)
        return Node("member", ty, (base,), name, cursor)

    def _index(self, cursor: Cursor) -> Node:
        parts = self._parts(cursor)
        if len(parts) != 2:
            return self._other(cursor)
        base, index = self.expression(parts[0]), self.expression(parts[1])
        if base.op == "cast" and isinstance(base.arg(0).ty, ArrayOf):
            base = base.arg(0)
        return Node("index", self.types.of(cursor.type), (base, index), None, cursor)

    def _unary(self, cursor: Cursor) -> Node:
        parts = self._parts(cursor)
        if len(parts) != 1:
            return self._other(cursor)
        operator = cindex.unary_operator(cursor)
        ty = self.types.of(cursor.type)
        inner = self.expression(parts[0])
        if operator in ("++", "--", "post++", "post--"):
            return Node("step", ty, (inner,), operator, cursor, True)
        if operator == "&":
            return inner if inner.op == "fn" else Node("addr", ty, (inner,), None, cursor)
        if operator == "*":
            return inner if ty is FUNCTION else Node("deref", ty, (inner,), None, cursor)
        return Node("unary", ty, (inner,), operator, cursor)

    def _binary(self, cursor: Cursor) -> Node:
        parts = self._parts(cursor)
        if len(parts) != 2:
            return self._other(cursor)
        operator = cindex.binary_operator(cursor)
        ty = self.types.of(cursor.type)
        left, right = self.expression(parts[0]), self.expression(parts[1])
        if operator == "=":
            return Node("assign", ty, (left, right), None, cursor, True)
        return Node("binary", ty, (left, right), operator, cursor)

    def _compound(self, cursor: Cursor) -> Node:
        parts = self._parts(cursor)
        if len(parts) != 2:
            return self._other(cursor)
        operator = cindex.binary_operator(cursor).removesuffix("=")
        children = (self.expression(parts[0]), self.expression(parts[1]))
        return Node("compound", self.types.of(cursor.type), children, operator, cursor, True)

    def _choose(self, cursor: Cursor) -> Node:
        parts = self._parts(cursor)
        if len(parts) != 3:
            return self._other(cursor)
        a, b, c = (self.expression(p) for p in parts)
        return Node("choose", self.types.of(cursor.type), (a, b, c), None, cursor)

    def _list(self, cursor: Cursor) -> Node:
        parts = list(cursor.get_children())
        if any(p.kind == CursorKind.MEMBER_REF for p in parts):
            return self._designated(cursor, parts)
        parts = [p for p in parts if p.kind not in _TYPE_PARTS]
        return Node("list", self.types.of(cursor.type), tuple(self.expression(p) for p in parts), None, cursor)

    def _designated(self, cursor: Cursor, parts: list[Cursor]) -> Node:
        names: list[str] = []
        values: list[Node] = []
        for part in parts:
            if part.kind == CursorKind.MEMBER_REF:
                names.append(part.spelling)
            elif part.kind not in _TYPE_PARTS:
                values.append(self.expression(part))
        if len(names) != len(values):
            return Node("unknown", self.types.of(cursor.type), tuple(values), None, cursor, True)
        return Node("list", self.types.of(cursor.type), tuple(values), tuple(names), cursor)

    def _lambda(self, cursor: Cursor) -> Node:
        return Node("lambda", self.types.of(cursor.type), (), None, cursor, True)

    def lambda_body(self, cursor: Cursor) -> HostFunction | None:
        """The function of a LAMBDA_EXPR or of its ``operator()``."""
        return self.function(cursor)

    def _new(self, cursor: Cursor) -> Node:
        parts = self._parts(cursor)
        ty = self.types.of(cursor.type)
        nodes = tuple(self.expression(p) for p in parts if p.kind.is_expression())
        return Node("new", ty, nodes, None, cursor, True)

    def _throw(self, cursor: Cursor) -> Node:
        nodes = tuple(self.expression(p) for p in self._parts(cursor))
        return Node("throw", OTHER, nodes, None, cursor, True)

    def _statement_expression(self, cursor: Cursor) -> Node:
        parts = tuple(self.statement(c) for c in cursor.get_children())
        return Node("body", self.types.of(cursor.type), parts, None, cursor, True)

    # --- calls

    def _call(self, cursor: Cursor) -> Node:
        parts = self._parts(cursor)
        target = cursor.referenced
        if len(parts) > 1 and parts[1].kind == CursorKind.CALL_EXPR and parts[1].spelling in _CONFIGURE:
            return self._launch(cursor, parts)
        ty = self.types.of(cursor.type)
        if target is not None and target.kind == CursorKind.CONSTRUCTOR:
            values = tuple(self.expression(a) for a in parts)
            return Node("construct", ty, values, target, cursor, True)
        arguments = [self.expression(a) for a in cursor.get_arguments() if a is not None]
        if not parts:
            return Node("call", ty, (None, *arguments), target, cursor, True)
        if target is not None and target.kind in (CursorKind.CXX_METHOD, CursorKind.CONVERSION_FUNCTION):
            return self._method(cursor, target, ty, parts, arguments)
        callee = None
        if target is None or target.kind not in _FUNCTIONS:
            callee = self.expression(parts[0])
            if callee.op == "fn":
                target = callee.value
        return Node("call", ty, (callee, *arguments), target, cursor, True)

    def _method(self, cursor: Cursor, target: Cursor, ty: HostType, parts: list[Cursor], arguments: list[Node]) -> Node:
        if target.is_static_method():
            return Node("call", ty, (None, *arguments), target, cursor, True)
        callee = parts[0]
        while callee.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
            inner = self._parts(callee)
            if len(inner) != 1:
                break
            callee = inner[0]
        if callee.kind == CursorKind.MEMBER_REF_EXPR and callee.referenced == target:
            inner = self._parts(callee)
            base = self.expression(inner[0]) if inner else Node("this", OTHER, (), None, cursor)
            return Node("method", ty, (base, *arguments), target, cursor, True)
        if arguments and target.spelling.startswith("operator"):
            return Node("method", ty, tuple(arguments), target, cursor, True)
        return Node("unknown", ty, tuple(self.expression(p) for p in parts), None, cursor, True)

    def _launch(self, cursor: Cursor, parts: list[Cursor]) -> Node:
        configuration = [self.expression(a) for a in parts[1].get_arguments() if a is not None]
        while len(configuration) < 3:
            configuration.append(Node("const", I32, (), 0, cursor))
        kernel = self.expression(parts[0])
        arguments = [self.expression(a) for a in cursor.get_arguments() if a is not None]
        if len(arguments) == len(parts) - 1 and arguments:  # libclang versions differ on where the configuration counts
            arguments = [self.expression(a) for a in parts[2:]]
        args = (kernel, *configuration[:3], *arguments)
        return Node("launch", OTHER, args, parts[1], cursor, True)


def instance_text(text: bytes) -> str:
    """``run<float,4>`` of ``ns::run< float, 4 >``."""
    name, bracket, rest = text.decode("utf-8", "replace").partition("<")
    return "".join((name.split("::")[-1] + bracket + rest).split())


def is_written_by_compiler(cursor: Cursor) -> bool:
    """Whether a special member function is implicit or defaulted."""
    if cursor.kind != CursorKind.CONSTRUCTOR and cursor.spelling != "operator=":
        return False
    parent = cursor.semantic_parent
    if parent is not None:
        here, there = cursor.location, parent.location
        if here.offset == there.offset and here.line == there.line:
            return True
    raw: Any = cursor
    return bool(raw.is_default_method())


def _storage(cursor: Cursor) -> str:
    if cursor.kind == CursorKind.PARM_DECL:
        return "parameter"
    if cursor.kind == CursorKind.FIELD_DECL:
        return "field"
    parent = cursor.semantic_parent
    inside = parent is not None and (parent.kind in _FUNCTIONS or parent.kind == CursorKind.FUNCTION_TEMPLATE)
    if not inside:
        return "global"
    return "static" if cursor.storage_class == cindex.StorageClass.STATIC else "local"


def _semicolons(text: bytes, start: int) -> tuple[int, int] | None:
    """Offsets of the two semicolons in the header of the ``for`` at ``start``."""
    depth = 0
    found: list[int] = []
    for sign, at in punctuation(text, start):
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth == 0:
                break
        elif sign == ";" and depth == 1:
            found.append(at)
    return (found[0], found[1]) if len(found) == 2 else None
