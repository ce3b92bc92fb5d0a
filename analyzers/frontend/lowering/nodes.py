"""Cursors of one translation unit, wrapped so that everything asked of them twice is kept.

Asking libclang costs a foreign call each time, and a function is walked once per place where it is inlined: a `Node`
remembers its children, type and source range. A `NodeTable` belongs to one parse and dies with it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, Final

from analyzers.frontend import cindex
from analyzers.frontend.blanking import blanked
from analyzers.frontend.decay import is_decayed
from analyzers.frontend.invalid import CompilerError, InvalidNames, invalid_names
from analyzers.frontend.lowering.layout import CType, TypeTable
from analyzers.frontend.parse import is_bundled
from analyzers.model import SourceSpan

_LOOP: Final = re.compile(rb"\b(?:for|while|do)\b")


class Kinds:
    """Numbers of the cursor kinds the lowering dispatches on."""

    _of: Final[Any] = cindex.CursorKind

    STRUCT: Final[int] = _of.STRUCT_DECL.value
    UNION: Final[int] = _of.UNION_DECL.value
    CLASS: Final[int] = _of.CLASS_DECL.value
    FIELD: Final[int] = _of.FIELD_DECL.value
    ENUM_CONSTANT: Final[int] = _of.ENUM_CONSTANT_DECL.value
    FUNCTION: Final[int] = _of.FUNCTION_DECL.value
    VAR: Final[int] = _of.VAR_DECL.value
    PARM: Final[int] = _of.PARM_DECL.value
    METHOD: Final[int] = _of.CXX_METHOD.value
    NAMESPACE: Final[int] = _of.NAMESPACE.value
    LINKAGE: Final[int] = _of.LINKAGE_SPEC.value
    CONSTRUCTOR: Final[int] = _of.CONSTRUCTOR.value
    DESTRUCTOR: Final[int] = _of.DESTRUCTOR.value
    CONVERSION: Final[int] = _of.CONVERSION_FUNCTION.value
    FUNCTION_TEMPLATE: Final[int] = _of.FUNCTION_TEMPLATE.value
    CLASS_TEMPLATE: Final[int] = _of.CLASS_TEMPLATE.value
    UNEXPOSED_DECL: Final[int] = _of.UNEXPOSED_DECL.value

    TYPE_REF: Final[int] = _of.TYPE_REF.value
    BASE: Final[int] = _of.CXX_BASE_SPECIFIER.value
    TEMPLATE_REF: Final[int] = _of.TEMPLATE_REF.value
    NAMESPACE_REF: Final[int] = _of.NAMESPACE_REF.value
    MEMBER_REF: Final[int] = _of.MEMBER_REF.value
    VARIABLE_REF: Final[int] = _of.VARIABLE_REF.value
    OVERLOADED_REF: Final[int] = _of.OVERLOADED_DECL_REF.value

    UNEXPOSED: Final[int] = _of.UNEXPOSED_EXPR.value
    DECL_REF: Final[int] = _of.DECL_REF_EXPR.value
    MEMBER: Final[int] = _of.MEMBER_REF_EXPR.value
    CALL: Final[int] = _of.CALL_EXPR.value
    BLOCK_EXPR: Final[int] = _of.BLOCK_EXPR.value
    INTEGER: Final[int] = _of.INTEGER_LITERAL.value
    FLOATING: Final[int] = _of.FLOATING_LITERAL.value
    IMAGINARY: Final[int] = _of.IMAGINARY_LITERAL.value
    STRING: Final[int] = _of.STRING_LITERAL.value
    CHARACTER: Final[int] = _of.CHARACTER_LITERAL.value
    PAREN: Final[int] = _of.PAREN_EXPR.value
    UNARY: Final[int] = _of.UNARY_OPERATOR.value
    SUBSCRIPT: Final[int] = _of.ARRAY_SUBSCRIPT_EXPR.value
    BINARY: Final[int] = _of.BINARY_OPERATOR.value
    COMPOUND_ASSIGN: Final[int] = _of.COMPOUND_ASSIGNMENT_OPERATOR.value
    CONDITIONAL: Final[int] = _of.CONDITIONAL_OPERATOR.value
    C_CAST: Final[int] = _of.CSTYLE_CAST_EXPR.value
    COMPOUND_LITERAL: Final[int] = _of.COMPOUND_LITERAL_EXPR.value
    INIT_LIST: Final[int] = _of.INIT_LIST_EXPR.value
    STATEMENT_EXPR: Final[int] = _of.StmtExpr.value
    GNU_NULL: Final[int] = _of.GNU_NULL_EXPR.value
    STATIC_CAST: Final[int] = _of.CXX_STATIC_CAST_EXPR.value
    DYNAMIC_CAST: Final[int] = _of.CXX_DYNAMIC_CAST_EXPR.value
    REINTERPRET_CAST: Final[int] = _of.CXX_REINTERPRET_CAST_EXPR.value
    CONST_CAST: Final[int] = _of.CXX_CONST_CAST_EXPR.value
    FUNCTIONAL_CAST: Final[int] = _of.CXX_FUNCTIONAL_CAST_EXPR.value
    TYPEID: Final[int] = _of.CXX_TYPEID_EXPR.value
    BOOLEAN: Final[int] = _of.CXX_BOOL_LITERAL_EXPR.value
    NULLPTR: Final[int] = _of.CXX_NULL_PTR_LITERAL_EXPR.value
    THIS: Final[int] = _of.CXX_THIS_EXPR.value
    THROW: Final[int] = _of.CXX_THROW_EXPR.value
    NEW: Final[int] = _of.CXX_NEW_EXPR.value
    DELETE: Final[int] = _of.CXX_DELETE_EXPR.value
    SIZEOF: Final[int] = _of.CXX_UNARY_EXPR.value
    SIZEOF_PACK: Final[int] = _of.SIZE_OF_PACK_EXPR.value
    PACK_EXPANSION: Final[int] = _of.PACK_EXPANSION_EXPR.value
    LAMBDA: Final[int] = _of.LAMBDA_EXPR.value

    UNEXPOSED_STMT: Final[int] = _of.UNEXPOSED_STMT.value
    LABEL: Final[int] = _of.LABEL_STMT.value
    COMPOUND: Final[int] = _of.COMPOUND_STMT.value
    CASE: Final[int] = _of.CASE_STMT.value
    DEFAULT: Final[int] = _of.DEFAULT_STMT.value
    IF: Final[int] = _of.IF_STMT.value
    SWITCH: Final[int] = _of.SWITCH_STMT.value
    WHILE: Final[int] = _of.WHILE_STMT.value
    DO: Final[int] = _of.DO_STMT.value
    FOR: Final[int] = _of.FOR_STMT.value
    GOTO: Final[int] = _of.GOTO_STMT.value
    INDIRECT_GOTO: Final[int] = _of.INDIRECT_GOTO_STMT.value
    CONTINUE: Final[int] = _of.CONTINUE_STMT.value
    BREAK: Final[int] = _of.BREAK_STMT.value
    RETURN: Final[int] = _of.RETURN_STMT.value
    ASM: Final[int] = _of.ASM_STMT.value
    MS_ASM: Final[int] = _of.MS_ASM_STMT.value
    NULL_STMT: Final[int] = _of.NULL_STMT.value
    DECL_STMT: Final[int] = _of.DECL_STMT.value
    RANGE_FOR: Final[int] = _of.CXX_FOR_RANGE_STMT.value
    TRY: Final[int] = _of.CXX_TRY_STMT.value

    GLOBAL_ATTR: Final[int] = _of.CUDAGLOBAL_ATTR.value
    SHARED_ATTR: Final[int] = _of.CUDASHARED_ATTR.value
    DEVICE_ATTR: Final[int] = _of.CUDADEVICE_ATTR.value
    HOST_ATTR: Final[int] = _of.CUDAHOST_ATTR.value
    CONSTANT_ATTR: Final[int] = _of.CUDACONSTANT_ATTR.value
    UNEXPOSED_ATTR: Final[int] = _of.UNEXPOSED_ATTR.value


CASTS: Final = frozenset(
    {Kinds.C_CAST, Kinds.STATIC_CAST, Kinds.REINTERPRET_CAST, Kinds.CONST_CAST, Kinds.FUNCTIONAL_CAST,
     Kinds.DYNAMIC_CAST}
)  # fmt: skip
REFERENCES: Final = frozenset({Kinds.TYPE_REF, Kinds.TEMPLATE_REF, Kinds.NAMESPACE_REF})
RECORDS: Final = frozenset({Kinds.STRUCT, Kinds.UNION, Kinds.CLASS})
FUNCTIONS: Final = frozenset({Kinds.FUNCTION, Kinds.METHOD, Kinds.CONSTRUCTOR, Kinds.DESTRUCTOR, Kinds.CONVERSION})


class Node:
    """A cursor and what was learned about it. `key` identifies the declaration or expression within its unit."""

    __slots__ = ("_kids", "_reference", "_span", "_type", "cursor", "key", "kind", "table")

    def __init__(self, cursor: Any, table: NodeTable) -> None:
        self.cursor: Any = cursor
        self.table = table
        self.kind: int = cursor._kind_id
        data = cursor.data
        self.key: int = (data[1] if self.kind >= 100 and self.kind < 400 else data[0]) or 0
        self._kids: list[Node] | None = None
        self._type: CType | None = None
        self._span: SourceSpan | None = None
        self._reference: Node | bool | None = False

    @property
    def kids(self) -> list[Node]:
        found = self._kids
        if found is None:
            table = self.table
            found = self._kids = [Node(c, table) for c in cindex.children(self.cursor)]
            table.size += len(found)
        return found

    @property
    def type(self) -> CType:
        found = self._type
        if found is None:
            found = self.table.types.of(cindex.type_of(self.cursor))
            if found.shape == "array" and is_decayed(self.cursor):
                found = self.table.types.decayed(found)
            self._type = found
        return found

    @property
    def name(self) -> str:
        return self.cursor.spelling or ""

    @property
    def reference(self) -> Node | None:
        """The declaration this expression names, as the unit's one node for it."""
        found = self._reference
        if found is False:
            target = cindex.referenced(self.cursor)
            found = self._reference = self.table.declaration(target) if target is not None else None
        return found  # pyright: ignore[reportReturnType]

    @property
    def span(self) -> SourceSpan:
        found = self._span
        if found is None:
            found = self._span = self.table.span(self.cursor.extent)
        return found

    @property
    def start(self) -> int:
        """Offset of the first byte; cheaper than the whole span."""
        found = self._span
        return found.start_offset if found is not None else self.cursor.extent.start.offset

    @property
    def text(self) -> str:
        """As it is written; the whole use of a macro where the expression begins in an argument and ends behind it."""
        found = self.table.text(self.span)
        if self.cursor.extent.end.offset != self.span.end_offset:
            start = cindex.expansion_offset(self.cursor.extent.start)
            if start < self.span.start_offset:
                text = self.table.bytes_of(self.span.path)
                return text[start : _macro_use_end(text, start)].decode("utf-8", "replace")
        return found

    @property
    def operator(self) -> str:
        if self.kind == Kinds.UNARY:
            return cindex.unary_operator(self.cursor)
        return cindex.binary_operator(self.cursor)

    def evaluated(self) -> int | float | str | None:
        return cindex.evaluate(self.cursor)

    def forget(self) -> None:
        """Drop what can be asked for again; a function may refer to itself."""
        self._kids = None

    def __repr__(self) -> str:
        return f"<{self.cursor.kind.name} {self.name!r} {self.span.start_line}>"


class NodeTable:
    """The nodes, types and texts of one translation unit."""

    def __init__(self, unit: Any, files: Sequence[str] = ()) -> None:
        """`files`: what the unit includes and libclang may not name."""
        self.unit = unit
        self._included = files
        self.types = TypeTable()
        self._declarations: dict[int, Node] = {}
        self._texts: dict[str, bytes] = {}
        self._codes: dict[str, bytes] = {}
        self._loops: dict[str, list[int]] = {}
        """Where loops begin in each file, and words that look like it."""
        self._files: list[str] | None = None
        self._invalid: InvalidNames | None = None
        self.size = 0
        """Roughly how many nodes there are."""
        self.functions: dict[int, Any] = {}
        """Facts about function definitions, kept by `functions.describe`."""

    def declaration(self, cursor: Any) -> Node:
        key = cursor.data[0]
        found = self._declarations.get(key)
        if found is None:
            found = self._declarations[key] = Node(cursor, self)
        return found

    def loops_before(self, node: Node) -> int:
        """How many loops begin before a node in its file."""
        path = node.span.path
        if path not in self._loops:
            self._loops[path] = [m.start() for m in _LOOP.finditer(self.bytes_of(path))]
        return bisect_left(self._loops[path], node.start)

    def forget(self) -> None:
        """Drop what can be asked for again, when the unit turns out large."""
        self._declarations.clear()
        self.functions.clear()
        self.size = 0

    def close(self) -> None:
        """No node is looked into any more: nodes and types refer to their table and it to them, and clang's memory
        would stay until Python looks for such rings."""
        for node in self._declarations.values():
            node.forget()
        self.forget()
        self.types.forget()

    def files(self) -> list[str]:
        """The unit's file and everything it includes."""
        if self._files is None:
            names = [self.unit.spelling, *(i.include.name for i in self.unit.get_includes()), *self._included]
            self._files = list(dict.fromkeys(names))
        return self._files

    def invalid(self, errors: Iterable[CompilerError]) -> InvalidNames:
        """What is declared with an error in the user's files. `errors`: all of the unit's, the same in each call."""
        if self._invalid is None:
            paths = [p for p in self.files() if not is_bundled(p)]
            self._invalid = invalid_names(self.unit, paths, self.bytes_of, errors)
        return self._invalid

    def bytes_of(self, path: str) -> bytes:
        """The text clang read for a file of the unit; empty when it has none."""
        found = self._texts.get(path)
        if found is None:
            found = self._texts[path] = cindex.file_contents(self.unit, path)
        return found

    def code_of(self, path: str) -> bytes:
        """The same without comments and preprocessor lines; offsets stay."""
        found = self._codes.get(path)
        if found is None:
            found = self._codes[path] = blanked(self.bytes_of(path))
        return found

    def span(self, extent: Any) -> SourceSpan:
        """The range in the file, the place of use for what a macro wrote; the argument where it begins in one and ends
        behind it."""
        start, end = extent.start, extent.end
        file = start.file
        path = file.name if file is not None else ""
        first, last = start.offset, end.offset
        line, column, last_line, last_column = start.line, start.column, end.line, end.column
        text = self.bytes_of(path) if path else b""
        if text and last <= first:
            # A range inside a macro argument comes out empty: take the whole use of the macro.
            last = _macro_use_end(text, first)
        elif text.count(b"(", first, last) != text.count(b")", first, last) and cindex.expansion_offset(start) < first:
            last = _argument_end(text, first)
        if last != end.offset:
            written = text[first:last]
            breaks = written.count(b"\n")
            last_line = line + breaks
            last_column = column + len(written) if not breaks else len(written) - written.rfind(b"\n")
        return SourceSpan(path, line, column, last_line, last_column, first, last)

    def text(self, span: SourceSpan) -> str:
        return self.bytes_of(span.path)[span.start_offset : span.end_offset].decode("utf-8", "replace")


def constructor_arguments(node: Node) -> list[Node]:
    """The arguments of a construction, without the template arguments of the type that is written before them."""
    kids = [k for k in node.kids if k.kind not in REFERENCES]
    count = cindex.argument_count(node.cursor)
    return kids[len(kids) - count :] if 0 <= count < len(kids) else kids


def stripped(node: Node) -> Node:
    """Without parentheses and implicit conversions around it."""
    while node.kind in (Kinds.UNEXPOSED, Kinds.PAREN) and len(node.kids) == 1:
        node = node.kids[0]
    return node


def unparenthesised(node: Node) -> Node:
    while node.kind == Kinds.PAREN and len(node.kids) == 1:
        node = node.kids[0]
    return node


def _macro_use_end(text: bytes, start: int) -> int:
    """The end of an identifier and, when one follows, of its balanced argument list."""
    end = start
    while end < len(text) and (text[end : end + 1].isalnum() or text[end] in b"_$" or text[end] >= 0x80):
        end += 1
    following = end
    while following < len(text) and text[following] in b" \t":
        following += 1
    if text[following : following + 1] != b"(":
        return max(end, start + 1)
    depth = 0
    for at in range(following, len(text)):
        if text[at] == 0x28:
            depth += 1
        elif text[at] == 0x29:
            depth -= 1
            if not depth:
                return at + 1
    return max(end, start + 1)


def _argument_end(text: bytes, start: int) -> int:
    """The end of the macro's argument in which `start` lies."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in b"([{":
            depth += 1
        elif text[at] in b")]}":
            depth -= 1
        if depth < 0 or (not depth and text[at] == 0x2C):
            return start + len(text[start:at].rstrip())
    return len(text)


def initializer(variable: Node) -> Node | None:
    """The initialiser expression of a variable, array extents and attributes left out."""
    cursor = cindex.initializer(variable.cursor)
    return Node(cursor, variable.table) if cursor is not None else None


def written_by_macro(cursor: Any) -> bool:
    """Whether the cursor's first token stands in a macro definition or argument rather than in the text itself."""
    return cindex.in_macro(cursor.translation_unit, cursor.extent.start)
