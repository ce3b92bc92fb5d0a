"""Host functions from libclang cursors to :class:`~analyzers.hostguide.tree.Node` trees, once per function.

Takes cursors of the host pass. Where a compile error lies in a statement, parts of it may be missing in what clang
shows: such statements get ``lost`` nodes with every name that stands in the text there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analyzers.frontend import cindex
from analyzers.frontend.cindex import CursorKind, TypeKind
from analyzers.hostguide.asserted import LostCode, asserted, statements_in
from analyzers.hostguide.build_expressions import DEEPEST, ExpressionBuilder, is_expression_kind
from analyzers.hostguide.hosttypes import OTHER, HostType, HostTypes, ReferenceTo
from analyzers.hostguide.source import SourceTexts, extent, has_code, punctuation
from analyzers.hostguide.tree import Declaration, HostFunction, Node, identity

_JUMPS = {
    CursorKind.BREAK_STMT.value: "break",
    CursorKind.CONTINUE_STMT.value: "continue",
    CursorKind.GOTO_STMT.value: "goto",
    CursorKind.INDIRECT_GOTO_STMT.value: "goto",
}


class TreeBuilder(ExpressionBuilder):
    """Builds and remembers trees of the functions of one program."""

    def __init__(
        self, types: HostTypes, sources: SourceTexts, elsewhere: Callable[[Any], Any | None] = lambda _: None
    ) -> None:
        """``elsewhere`` gives the definition, in another translation unit, of a function that has none in its own."""
        super().__init__(types, sources)
        self._elsewhere = elsewhere
        self._functions: dict[int, HostFunction | None] = {}
        self.lambdas_left_out: set[tuple[str, int, int]] = set()
        """The extents of lambdas that were asked for and are not followed."""
        self._statements: dict[int, Callable[[Any], Node]] = {
            CursorKind.COMPOUND_STMT.value: self._block,
            CursorKind.DECL_STMT.value: self._declare,
            CursorKind.IF_STMT.value: self._if,
            CursorKind.FOR_STMT.value: self._for,
            CursorKind.WHILE_STMT.value: self._while,
            CursorKind.DO_STMT.value: self._do,
            CursorKind.CXX_FOR_RANGE_STMT.value: self._each,
            CursorKind.SWITCH_STMT.value: self._switch,
            CursorKind.CASE_STMT.value: self._case,
            CursorKind.DEFAULT_STMT.value: self._default,
            CursorKind.RETURN_STMT.value: self._return,
            CursorKind.LABEL_STMT.value: self._label,
            CursorKind.CXX_TRY_STMT.value: self._try,
            CursorKind.NULL_STMT.value: self._empty,
        }

    # --- functions

    def function(self, cursor: Any) -> HostFunction | None:
        """The function that a reference means, None where the program has no body for it."""
        key = _key(cursor)
        if key not in self._functions:
            self._functions[key] = None  # ends a recursion through default arguments
            defined = self.definition(cursor)
            other = _key(defined)
            if other == key or other not in self._functions:
                self._functions[other] = self._function(defined)
            self._functions[key] = self._functions[other]
        return self._functions[key]

    def definition(self, cursor: Any) -> Any:
        """The definition of a function, or the cursor itself where the program has none."""
        return cursor.get_definition() or self._elsewhere(cursor) or cursor

    def lambda_body(self, cursor: Any) -> HostFunction | None:
        """The function of a LAMBDA_EXPR or of its ``operator()``; None for one that names what it refers to anew
        (``[&r = x]``), which is not followed."""
        if not self.refers_anew(cursor):
            return self.function(cursor)
        self.lambdas_left_out.add(extent(cursor))
        return None

    def refers_anew(self, cursor: Any) -> bool:
        """Whether a lambda captures by reference under a name of its own: declares a reference where it captures."""
        for child in cindex.children(cursor):
            variable = cindex.referenced(child) if child.kind == CursorKind.VARIABLE_REF else None
            if variable is None or variable.location != child.location:
                continue
            if cindex.type_of(variable).kind == TypeKind.LVALUEREFERENCE:
                return True
        return False

    def _function(self, cursor: Any) -> HostFunction | None:
        if is_written_by_compiler(cursor):
            return None
        body = None
        parameters: list[Declaration] = []
        initialisers: list[tuple[str, HostType, Node]] = []
        bases: list[Node] = []
        field: tuple[str, HostType] | None = None
        for child in cindex.children(cursor):
            kind = child.kind
            if kind == CursorKind.COMPOUND_STMT:
                body = child
            elif kind == CursorKind.PARM_DECL:
                parameters.append(self.declaration(child))
            elif kind == CursorKind.MEMBER_REF:
                named = child.referenced
                name = self.field_name(named) if named is not None else child.spelling
                field = (name, self.types.of(cindex.type_of(child)))
            elif field is not None and kind.is_expression():
                initialisers.append((*field, self.expression(child)))
                field = None
            elif kind.is_expression() and cursor.kind == CursorKind.CONSTRUCTOR:
                bases.append(self.expression(child))
        if body is None:
            return None
        result = self.types.of(cursor.result_type)
        outer, self.depth = self.depth, 0
        made = self.statement(body)
        self.depth = outer
        return HostFunction(cursor.spelling, tuple(parameters), made, result, cursor, tuple(initialisers), tuple(bases))

    # --- statements

    def statement(self, cursor: Any) -> Node:
        if self.depth >= DEEPEST:
            return self.too_deep(cursor)
        self.depth += 1
        made = self._statement(cursor)
        self.depth -= 1
        return made

    def _statement(self, cursor: Any) -> Node:
        rule = self._statements.get(cursor._kind_id)
        if rule is not None:
            return rule(cursor)
        jump = _JUMPS.get(cursor._kind_id)
        if jump is not None:
            return Node(jump, OTHER, (), None, cursor, True)
        kind = cursor.kind
        if kind == CursorKind.UNEXPOSED_STMT:
            inner = [c for c in cindex.children(cursor) if not c.kind.is_attribute()]
            if len(inner) == 1:
                return self.statement(inner[0])
        if kind.is_expression() or kind.is_unexposed():
            made = self.expression(cursor)
            return self._with_losses(made)
        return self._unknown_statement(cursor)  # inline assembly, OpenMP directives and the like

    def _with_losses(self, made: Node, whole: Any = None) -> Node:
        """A statement with a compile error inside may have lost a part: whatever it mentions may have changed."""
        if not self.sources.has_errors:
            return made
        path, start, end = extent(whole if whole is not None else made.cursor)
        if not self.sources.error_in(path, start, end):
            return made
        if asserted(self.sources.text(path)[start:end]) is not None:
            return self._lost(path, start, end, made.cursor)
        return Node("block", OTHER, (made, self._lost(path, start, end, made.cursor)), None, made.cursor)

    def _lost(self, path: str, start: int, end: int, cursor: Any) -> Node:
        return Node("lost", OTHER, (), LostCode(self.sources.words(path, start, end), path, start, end), cursor, True)

    def _block(self, cursor: Any) -> Node:
        children = cindex.children(cursor)
        if not self.sources.is_broken(cursor):
            return Node("block", OTHER, tuple(self.statement(c) for c in children), None, cursor)
        path, at, end = extent(cursor)
        text = self.sources.text(path)
        at += 1 if text[at : at + 1] == b"{" else 0
        parts: list[Node] = []
        for child in children:
            _, start, stop = extent(child)
            if start > at and has_code(text[at:start]):
                parts += [self._lost(path, a, b, cursor) for a, b in statements_in(text, at, start)]
            parts.append(self.statement(child))
            at = max(at, stop)
        end -= 1 if text[end - 1 : end] == b"}" else 0
        if has_code(text[at:end]):
            parts += [self._lost(path, a, b, cursor) for a, b in statements_in(text, at, end)]
        return Node("block", OTHER, tuple(parts), None, cursor)

    def _declare(self, cursor: Any) -> Node:
        parts = tuple(
            self._variable(c) if c.kind == CursorKind.VAR_DECL else self._bound(c)
            for c in cindex.children(cursor)
            if c.kind == CursorKind.VAR_DECL or (c.kind == CursorKind.UNEXPOSED_DECL and c.spelling.startswith("["))
        )
        made = parts[0] if len(parts) == 1 else Node("block", OTHER, parts, None, cursor)
        return self._with_losses(made, cursor)

    def _bound(self, cursor: Any) -> Node:
        """``auto [a, b] = value;``: an object without a name."""
        declared, init = self.bind_names(cursor)
        value = self.expression(init) if init is not None else None
        return self._with_losses(Node("declare", declared.ty, (value,), declared, cursor))

    def _variable(self, cursor: Any) -> Node:
        declared = self.declaration(cursor)
        value = None
        if not self.sources.is_broken(cursor):
            init = cindex.initializer(cursor)
            value = self.expression(init) if init is not None else None
            if value is not None and not isinstance(declared.ty, ReferenceTo):
                value = self.converted(value, declared.ty)
        made = Node("declare", declared.ty, (value,), declared, cursor)
        return self._with_losses(made)

    def _if(self, cursor: Any) -> Node:
        children = cindex.children(cursor)
        first: list[Node] = []
        while children and children[0].kind in (CursorKind.DECL_STMT, CursorKind.VAR_DECL):
            first.append(self._any(children.pop(0)))
        if len(children) > 3:
            first.append(self.statement(children.pop(0)))
        if len(children) < 2:
            return self._unknown_statement(cursor)
        orelse = self.statement(children[2]) if len(children) > 2 else None
        made = Node("if", OTHER, (self.expression(children[0]), self.statement(children[1]), orelse), None, cursor)
        first += self._lost_header(cursor, children[1])
        return Node("block", OTHER, (*first, made), None, cursor) if first else made

    def _lost_header(self, cursor: Any, body: Any) -> list[Node]:
        """What an error in front of a body (in the condition of an ``if``, the header of a loop) may have hidden."""
        if not self.sources.has_errors:
            return []
        path, start, _ = extent(cursor)
        _, end, _ = extent(body)
        if not self.sources.error_in(path, start, end):
            return []
        return [self._lost(path, start, end, cursor)]

    def _body(self, cursor: Any, body: Any) -> Node:
        """The body of a loop; each iteration starts with what its header may have done."""
        lost = self._lost_header(cursor, body)
        made = self.statement(body)
        return Node("block", OTHER, (*lost, made), None, cursor) if lost else made

    def _any(self, cursor: Any) -> Node:
        return self._variable(cursor) if cursor.kind == CursorKind.VAR_DECL else self.statement(cursor)

    def _unknown_statement(self, cursor: Any) -> Node:
        path, start, end = extent(cursor)
        parts = tuple(self.statement(c) for c in cindex.children(cursor))
        lost = self._lost(path, start, end, cursor)
        return Node("unknown", OTHER, (*parts, lost), None, cursor, True)

    def _for(self, cursor: Any) -> Node:
        children = cindex.children(cursor)
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
                self._body(cursor, body),
            ),
            self.sources.is_broken(cursor),
            cursor,
        )

    def _for_slots(self, cursor: Any, children: list[Any]) -> tuple[Any, Any, Any, Any] | None:
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
        slots: list[Any] = [None, None, None]
        for child in header:
            _, at, _ = extent(child)
            slot = 0 if at < marks[0] else 1 if at <= marks[1] else 2
            if slots[slot] is not None:
                return None
            slots[slot] = child
        return slots[0], slots[1], slots[2], body

    def _while(self, cursor: Any) -> Node:
        children = cindex.children(cursor)
        if len(children) != 2 or children[0].kind == CursorKind.VAR_DECL:
            return self._unknown_statement(cursor)
        parts = (self.expression(children[0]), self._body(cursor, children[1]))
        return Node("while", OTHER, parts, self.sources.is_broken(cursor), cursor)

    def _do(self, cursor: Any) -> Node:
        children = cindex.children(cursor)
        if len(children) != 2:
            return self._unknown_statement(cursor)
        broken = self.sources.is_broken(cursor)
        if broken:
            return self._unknown_statement(cursor)
        parts = (self.statement(children[0]), self.expression(children[1]))
        return Node("do", OTHER, parts, broken, cursor)

    def _each(self, cursor: Any) -> Node:
        children = cindex.children(cursor)
        variable = next((c for c in children if c.kind == CursorKind.VAR_DECL), None)
        values = [c for c in children[:-1] if is_expression_kind(c)]
        if variable is None or not values:
            return self._unknown_statement(cursor)
        parts = (self.expression(values[0]), self._body(cursor, children[-1]))
        return Node("each", OTHER, parts, self.declaration(variable), cursor)

    def _switch(self, cursor: Any) -> Node:
        children = cindex.children(cursor)
        if len(children) != 2 or children[1].kind != CursorKind.COMPOUND_STMT or self.sources.is_broken(cursor):
            return self._unknown_statement(cursor)
        parts = (self.expression(children[0]), self.statement(children[1]))
        return Node("switch", OTHER, parts, None, cursor)

    def _case(self, cursor: Any) -> Node:
        children = cindex.children(cursor)
        if len(children) != 2:
            return self._unknown_statement(cursor)
        return Node("case", OTHER, (self.expression(children[0]), self.statement(children[1])), None, cursor, True)

    def _default(self, cursor: Any) -> Node:
        children = cindex.children(cursor)
        inner = self.statement(children[0]) if children else None
        return Node("default", OTHER, (inner,), None, cursor, True)

    def _return(self, cursor: Any) -> Node:
        children = self.parts(cursor)
        value = self.expression(children[0]) if children else None
        if not self.sources.is_broken(cursor):
            return Node("return", OTHER, (value,), None, cursor, True)
        path, start, end = extent(cursor)
        lost = self._lost(path, start, end, cursor)
        made = Node("return", OTHER, (self.opaque(cursor),), None, cursor, True)
        return Node("block", OTHER, (lost, made), None, cursor)

    def _label(self, cursor: Any) -> Node:
        return Node("label", OTHER, tuple(self.statement(c) for c in cindex.children(cursor)), None, cursor, True)

    def _try(self, cursor: Any) -> Node:
        parts: list[Node] = []
        for child in cindex.children(cursor):
            if child.kind == CursorKind.CXX_CATCH_STMT:
                inner = [c for c in cindex.children(child) if c.kind == CursorKind.COMPOUND_STMT]
                parts.append(self.statement(inner[-1]) if inner else self._unknown_statement(child))
            else:
                parts.append(self.statement(child))
        return Node("try", OTHER, tuple(parts), None, cursor, True)

    def _empty(self, cursor: Any) -> Node:
        return Node("empty", OTHER, (), None, cursor)


def _key(cursor: Any) -> int:
    return identity(cursor) if cursor.kind.is_declaration() else -1 - cursor.hash


def is_written_by_compiler(cursor: Any) -> bool:
    """Whether a special member function is implicit or defaulted."""
    if cursor.kind != CursorKind.CONSTRUCTOR and cursor.spelling != "operator=":
        return False
    parent = cursor.semantic_parent
    if parent is not None:
        here, there = cursor.location, parent.location
        if here.offset == there.offset and here.line == there.line:
            return True
    return bool(cursor.is_default_method())


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
