"""Host expressions from libclang cursors to :class:`~analyzers.hostguide.tree.Node` trees.

The lower half of ``build``: declarations, functions by reference, expressions and calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from analyzers.frontend import cindex
from analyzers.frontend.cindex import Cursor, CursorKind, TypeKind
from analyzers.frontend.decay import is_decayed
from analyzers.hostguide.asserted import LostCode
from analyzers.hostguide.hosttypes import (
    FUNCTION,
    OTHER,
    ArrayOf,
    HostType,
    HostTypes,
    PointerTo,
    RecordType,
    ReferenceTo,
)
from analyzers.hostguide.source import SourceTexts, extent
from analyzers.hostguide.tree import ANY_PART, Declaration, HostFunction, Node, identity
from analyzers.ir.expr import I32, I64, FloatType, IntType


def _ids(*kinds: Any) -> frozenset[int]:
    return frozenset(k.value for k in kinds)


# Kinds are compared by number: the objects cost a look-up per cursor.
_TYPE_PARTS = _ids(
    CursorKind.TYPE_REF,
    CursorKind.TEMPLATE_REF,
    CursorKind.NAMESPACE_REF,
    CursorKind.OVERLOADED_DECL_REF,
    CursorKind.LABEL_REF,
)
_FUNCTIONS = _ids(
    CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.CONVERSION_FUNCTION
)
_METHODS = _ids(CursorKind.CXX_METHOD, CursorKind.CONVERSION_FUNCTION)
_WRAPPERS = _ids(CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR)
_CALL = CursorKind.CALL_EXPR.value
_CONSTRUCTOR = CursorKind.CONSTRUCTOR.value
_VARIABLES = _ids(CursorKind.VAR_DECL, CursorKind.PARM_DECL)
DEEPEST = 400
_LVALUES = frozenset({"ref", "member", "index", "deref"})
_CONFIGURE = ("__cudaPushCallConfiguration", "cudaConfigureCall")
_FIRST_EXPRESSION, _LAST_EXPRESSION = 100, 199  # CXCursor_FirstExpr … LastExpr


LEFT_OUT = "left out"
"""The value of an ``unknown`` that is the default of a parameter, not in sight."""
OBJECT = "object"
"""The value of a ``cast`` that names an object under another type, as one to a reference does."""
_DEDUCED = frozenset({"auto", "decltype", "typeof", "__typeof__"})
"""Words of types that an initialiser decides."""
_CASTS = _ids(
    CursorKind.CSTYLE_CAST_EXPR,
    CursorKind.CXX_STATIC_CAST_EXPR,
    CursorKind.CXX_REINTERPRET_CAST_EXPR,
    CursorKind.CXX_CONST_CAST_EXPR,
    CursorKind.CXX_DYNAMIC_CAST_EXPR,
)
_NAMING = _ids(CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR, CursorKind.ARRAY_SUBSCRIPT_EXPR)
_REFERENCE_KINDS = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)


def names_object(cursor: Any) -> bool:
    """Whether an expression is a glvalue: clang shows what reads an object as an implicit conversion around it."""
    kind = cursor._kind_id
    if kind in _NAMING:
        return True
    parts = [c for c in cindex.children(cursor) if is_expression_kind(c)]
    if cursor.kind == CursorKind.PAREN_EXPR or kind in _CASTS:
        return bool(parts) and names_object(parts[-1])
    if cursor.kind == CursorKind.UNARY_OPERATOR:
        return cindex.unary_operator(cursor) in ("*", "++", "--")
    if cursor.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR:
        return True
    if cursor.kind == CursorKind.BINARY_OPERATOR and len(parts) == 2:
        operator = cindex.binary_operator(cursor)
        return operator in ("=", ".*", "->*") or (operator == "," and names_object(parts[1]))
    if cursor.kind == CursorKind.CONDITIONAL_OPERATOR and len(parts) == 3:
        return names_object(parts[1]) and names_object(parts[2])
    if cursor.kind == CursorKind.CALL_EXPR:
        target = cindex.referenced(cursor)
        return target is not None and target.result_type.get_canonical().kind in _REFERENCE_KINDS
    if kind == CursorKind.UNEXPOSED_EXPR.value and len(parts) == 1:
        mine, theirs = cindex.type_of(cursor), cindex.type_of(parts[0])
        if mine.get_canonical().kind == TypeKind.RECORD:
            return names_object(parts[0])
        gains = mine.is_const_qualified() and not theirs.is_const_qualified()
        return gains and mine.get_canonical().kind == theirs.get_canonical().kind and names_object(parts[0])
    return False


def is_expression_kind(cursor: Any) -> bool:
    return _FIRST_EXPRESSION <= cursor._kind_id <= _LAST_EXPRESSION


class ExpressionBuilder:
    """Builds expressions, and remembers declarations, of one translation unit."""

    def __init__(self, types: HostTypes, sources: SourceTexts) -> None:
        self.types = types
        self.sources = sources
        self.overloads: dict[str, Cursor] = {}
        """Template instances by their text, ``run<float>``: clang leaves them open where they stand in a list."""
        self.open_overloads: set[str] = set()
        self.replaceable: frozenset[str] = frozenset()
        """Names of functions and variables of which another definition may be linked."""
        self.repeated: set[tuple[str, str]] = set()
        """Classes and data members of theirs that share an object with another member of that name."""
        self.tuple_like: frozenset[str] = frozenset()
        """Names of the program's classes that are taken apart by functions called ``get``."""
        self.bases: set[str] = set()
        """Names of the classes that others derive from, without template arguments."""
        self.depth = 0
        self._declarations: dict[int, Declaration] = {}
        self._bindings: dict[int, tuple[Declaration, int, int]] = {}
        """By the cursor of a name in a structured binding: what was declared, its place there, and their number."""
        self._expressions: dict[int, Callable[[Any], Node]] = {
            kind.value: rule
            for rule, kinds in (
                (self._unexposed, (CursorKind.UNEXPOSED_EXPR,)),
                (self._paren, (CursorKind.PAREN_EXPR,)),
                (self._other, (CursorKind.INTEGER_LITERAL, CursorKind.CHARACTER_LITERAL)),
                (self._other, (CursorKind.CXX_BOOL_LITERAL_EXPR,)),
                (self._measure, (CursorKind.CXX_UNARY_EXPR,)),
                (self._real, (CursorKind.FLOATING_LITERAL,)),
                (self._string, (CursorKind.STRING_LITERAL,)),
                (self._null, (CursorKind.CXX_NULL_PTR_LITERAL_EXPR, CursorKind.GNU_NULL_EXPR)),
                (self._this, (CursorKind.CXX_THIS_EXPR,)),
                (self._ref, (CursorKind.DECL_REF_EXPR,)),
                (self._member, (CursorKind.MEMBER_REF_EXPR,)),
                (self._index, (CursorKind.ARRAY_SUBSCRIPT_EXPR,)),
                (self._unary, (CursorKind.UNARY_OPERATOR,)),
                (self._binary, (CursorKind.BINARY_OPERATOR,)),
                (self._compound, (CursorKind.COMPOUND_ASSIGNMENT_OPERATOR,)),
                (self._choose, (CursorKind.CONDITIONAL_OPERATOR,)),
                (self._list, (CursorKind.INIT_LIST_EXPR,)),
                (self._lambda, (CursorKind.LAMBDA_EXPR,)),
                (self._new, (CursorKind.CXX_NEW_EXPR,)),
                (self._throw, (CursorKind.CXX_THROW_EXPR,)),
                (self._statement_expression, (CursorKind.StmtExpr,)),
                (self._call, (CursorKind.CALL_EXPR,)),
                (
                    self._cast,
                    (
                        CursorKind.CSTYLE_CAST_EXPR,
                        CursorKind.CXX_STATIC_CAST_EXPR,
                        CursorKind.CXX_FUNCTIONAL_CAST_EXPR,
                        CursorKind.CXX_REINTERPRET_CAST_EXPR,
                        CursorKind.CXX_CONST_CAST_EXPR,
                        CursorKind.CXX_DYNAMIC_CAST_EXPR,
                    ),
                ),
            )
            for kind in kinds
        }

    def statement(self, cursor: Any) -> Node:
        raise NotImplementedError

    def declaration(self, cursor: Any) -> Declaration:
        key = identity(cursor)
        found = self._declarations.get(key)
        if found is None:
            ty = cindex.type_of(cursor)
            found = self._declarations[key] = Declaration(
                cursor.spelling,
                self._declared_type(cursor),
                _storage(cursor),
                cursor,
                ty.get_canonical().is_const_qualified() and not is_decayed(cursor),
                ty.is_volatile_qualified(),
            )
        return found

    def _declared_type(self, cursor: Any) -> HostType:
        """In place of a type that it does not find clang takes ``int``. A number is one where the error lies behind the
        name."""
        found = self.types.at(cursor)
        if not self.sources.is_broken(cursor):
            return found
        path, start, _ = extent(cursor)
        name = cursor.location.offset
        if not isinstance(found, (IntType, FloatType)) or self.sources.error_in(path, start, name):
            return OTHER
        return found if self.sources.words(path, start, name).isdisjoint(_DEDUCED) else OTHER

    # --- leaves and operators

    def expression(self, cursor: Any) -> Node:
        if self.depth >= DEEPEST:
            return self.too_deep(cursor)
        self.depth += 1
        rule = self._expressions.get(cursor._kind_id)
        made = rule(cursor) if rule is not None else self._other(cursor)
        if made.op in _LVALUES and cindex.type_of(cursor).is_volatile_qualified():
            made.volatile = True
        self.depth -= 1
        return made

    def too_deep(self, cursor: Any) -> Node:
        """Code nested deeper than the interpreter follows: all that its text names may change."""
        path, start, end = extent(cursor)
        lost = Node("lost", OTHER, (), LostCode(self.sources.words(path, start, end), path, start, end), cursor, True)
        return Node("unknown", self._type(cursor), (lost,), None, cursor, True)

    def parts(self, cursor: Any) -> list[Any]:
        """The children that are code, not mentions of types."""
        return [c for c in cindex.children(cursor) if c._kind_id not in _TYPE_PARTS]

    def _type(self, cursor: Any) -> HostType:
        return self.types.at(cursor)

    def opaque(self, cursor: Any) -> Node:
        return Node("unknown", self._type(cursor), (), None, cursor, True)

    def _other(self, cursor: Any) -> Node:
        """A construct with no meaning here: a constant if clang can tell, else its parts for their effects."""
        ty = self._type(cursor)
        if isinstance(ty, IntType):
            value = cindex.evaluate(cursor)
            if isinstance(value, int):
                return Node("const", ty, (), value, cursor)
        return Node("unknown", ty, tuple(self._any_part(c) for c in self.parts(cursor)), None, cursor, True)

    def _any_part(self, cursor: Any) -> Node:
        return self.expression(cursor) if is_expression_kind(cursor) else self.statement(cursor)

    def _unexposed(self, cursor: Any) -> Node:
        children = self.parts(cursor)
        if len(children) != 1 or not is_expression_kind(children[0]):
            return self._other(cursor)
        inner, ty = self.expression(children[0]), self._type(cursor)
        made = self.converted(inner, ty, cursor)
        if made is inner:
            # ``long`` to ``long long``: the same numbers, but not the same object.
            same = not isinstance(ty, IntType) or inner.op not in _LVALUES or self._is_object(cursor, children[0])
            return made if same else Node("cast", ty, (inner,), None, cursor)
        if made.op == "cast" and isinstance(ty, PointerTo) and self._is_object(cursor, children[0]):
            made.value = OBJECT
        return made

    @staticmethod
    def _is_object(cursor: Any, child: Any) -> bool:
        """Whether an implicit conversion leaves an object what it is, or reads it, and makes no other value: of one
        that makes another value the part that it converts was read before."""
        if child._kind_id != CursorKind.UNEXPOSED_EXPR.value:
            return True
        mine, theirs = (cindex.type_of(c).get_canonical() for c in (cursor, child))
        return mine.kind == theirs.kind and mine.kind != TypeKind.POINTER

    def converted(self, inner: Node, ty: HostType, cursor: Any = None) -> Node:
        """The conversion to a type, where it is one."""
        have = inner.ty
        if have == ty or isinstance(ty, ReferenceTo) or have is FUNCTION or ty is OTHER:
            return inner
        numbers = isinstance(ty, (IntType, FloatType)) and isinstance(have, (IntType, FloatType, PointerTo, ArrayOf))
        if numbers or (isinstance(ty, PointerTo) and isinstance(have, (PointerTo, ArrayOf, IntType))):
            return Node("cast", ty, (inner,), None, cursor if cursor is not None else inner.cursor)
        return inner

    def _paren(self, cursor: Any) -> Node:
        children = self.parts(cursor)
        return self.expression(children[0]) if len(children) == 1 else self._other(cursor)

    def _cast(self, cursor: Any) -> Node:
        children = [c for c in self.parts(cursor) if is_expression_kind(c)]
        if not children:
            return self._other(cursor)
        ty = self._type(cursor)
        # Of ``T<2>{…}`` the template's arguments are children too.
        inner = self.expression(children[-1])
        made = self.converted(inner, ty, cursor)
        refers = names_object(children[-1])
        if made is inner and ty is OTHER and inner.ty is not OTHER:
            return Node("unknown", OTHER, (inner,), None, cursor, inner.effects)
        if made is inner and not refers and isinstance(ty, (IntType, FloatType, PointerTo)):
            return Node("cast", ty, (inner,), None, cursor)
        if made is not inner and made.op == "cast" and refers:
            made.value = OBJECT
        return made

    def _measure(self, cursor: Any) -> Node:
        if self.sources.has_errors and self._of_suspect_type(cursor):
            return self.opaque(cursor)
        return self._other(cursor)

    def _of_suspect_type(self, cursor: Any) -> bool:
        """Whether a ``sizeof`` measures a type whose declaration clang could not read whole."""
        for child in cursor.walk_preorder():
            target = cindex.referenced(child) if child.kind == CursorKind.TYPE_REF else None
            if target is not None and self.sources.is_broken(target):
                return True
        return False

    def _real(self, cursor: Any) -> Node:
        value = cindex.evaluate(cursor)
        if isinstance(value, float):
            return Node("real", self._type(cursor), (), value, cursor)
        return self._other(cursor)

    def _string(self, cursor: Any) -> Node:
        return Node("string", self._type(cursor), (), None, cursor)

    def _null(self, cursor: Any) -> Node:
        return Node("null", self._type(cursor), (), None, cursor)

    def _this(self, cursor: Any) -> Node:
        return Node("this", self._type(cursor), (), None, cursor)

    def _ref(self, cursor: Any) -> Node:
        target = cindex.referenced(cursor)
        if target is None:
            # In an instance of a template the argument is the child of the parameter.
            given = [c for c in self.parts(cursor) if is_expression_kind(c)]
            return self.expression(given[0]) if len(given) == 1 else self._other(cursor)
        kind = target._kind_id
        if kind in _VARIABLES:
            declared = self.declaration(target)
            ty = declared.ty.target if isinstance(declared.ty, ReferenceTo) else declared.ty
            return Node("ref", ty, (), declared, cursor)
        if kind in _FUNCTIONS:
            return Node("fn", FUNCTION, (), target, cursor)
        if target.kind == CursorKind.OVERLOADED_DECL_REF:
            return self._overload(cursor)
        if target.kind == CursorKind.UNEXPOSED_DECL:
            return self._bound_name(cursor, target)
        if target.kind == CursorKind.ENUM_CONSTANT_DECL:
            ty = self._type(cursor)
            return Node("const", ty if isinstance(ty, IntType) else I32, (), target.enum_value, cursor)
        return self._other(cursor)

    def _bound_name(self, cursor: Any, target: Any) -> Node:
        """A name of a structured binding: the part of the object or array that it was declared with."""
        found = self._bindings.get(identity(target))
        if found is None:
            return self._other(cursor)
        declared, position, count = found
        if self.takes_apart(declared):
            return self.opaque(cursor)
        ty = declared.ty.target if isinstance(declared.ty, ReferenceTo) else declared.ty
        whole = Node("ref", ty, (), declared, cursor)
        if isinstance(ty, ArrayOf):
            return Node("index", ty.element, (whole, Node("const", I64, (), position, cursor)), None, cursor)
        fields = _plain_members(cindex.type_of(declared.cursor))
        if len(fields) != count or (isinstance(ty, RecordType) and ty.head in ("array", "tuple")):
            # Parts that are found by functions: those of a copy can be reached by no other way.
            name = ANY_PART if isinstance(declared.ty, ReferenceTo) else f"<{position}>"
            return Node("member", self._type(cursor), (whole,), name, cursor)
        member, name = self.types.of(fields[position].type), fields[position].spelling
        if isinstance(member, ReferenceTo):
            holder = Node("member", PointerTo(member.target, None, member.const), (whole,), name, cursor)
            return Node("deref", member.target, (holder,), None, cursor)
        return Node("member", member, (whole,), name, cursor)

    def takes_apart(self, declared: Declaration) -> bool:
        """Whether functions of the program give the parts of an object that a structured binding names."""
        ty = declared.ty.target if isinstance(declared.ty, ReferenceTo) else declared.ty
        return declared.name.startswith("[") and isinstance(ty, RecordType) and _plain(ty.head) in self.tuple_like

    def bind_names(self, cursor: Any) -> tuple[Declaration, Any | None]:
        """The object behind a structured binding, and what it is initialised with."""
        declared = self.declaration(cursor)
        parts = cindex.children(cursor)
        names = [c for c in parts if c.kind == CursorKind.UNEXPOSED_DECL]
        for position, name in enumerate(names):
            self._bindings[identity(name)] = declared, position, len(names)
        values = [c for c in parts if is_expression_kind(c)]
        return declared, values[-1] if values else None

    def _overload(self, cursor: Any) -> Node:
        path, start, end = extent(cursor)
        text = instance_text(self.sources.text(path)[start:end])
        found = self.overloads.get(text)
        if found is None:
            self.open_overloads.add(text)
            return self.opaque(cursor)
        return Node("fn", FUNCTION, (), found, cursor)

    def _member(self, cursor: Any) -> Node:
        target = cindex.referenced(cursor)
        if target is None:
            return self._other(cursor)
        if target._kind_id in _VARIABLES:
            declared = self.declaration(target)
            return Node("ref", declared.ty, (), declared, cursor)
        if target._kind_id in _FUNCTIONS:
            return Node("fn", FUNCTION, (), target, cursor)
        if target.kind != CursorKind.FIELD_DECL:
            return self._other(cursor)
        ty = self._type(target)
        if self.sources.has_errors and self.sources.is_broken(target):
            ty = OTHER
        parts = self.parts(cursor)
        base = self.expression(parts[0]) if parts else Node("this", OTHER, (), None, cursor)
        name = self.field_name(target)
        if isinstance(ty, ReferenceTo):
            holder = Node("member", PointerTo(ty.target, None, ty.const), (base,), name, cursor)
            return Node("deref", ty.target, (holder,), None, cursor)
        return Node("member", ty, (base,), name, cursor)

    def field_name(self, field: Any) -> str:
        """What a data member is called in the objects that have it; ANY_PART where that may mean another one, too."""
        parent = field.semantic_parent
        # A bit-field keeps fewer bits than its type has.
        if field.is_bitfield() or (parent is not None and parent.kind == CursorKind.UNION_DECL):
            return ANY_PART
        if self.repeated and parent is not None and (_plain(parent.spelling), field.spelling) in self.repeated:
            return ANY_PART
        return str(field.spelling)

    def learn_bases(self, declaration: Any) -> None:
        """Take note of the bases, and of data members that share their name with one of theirs, or of another one."""
        bases = [c for c in cindex.class_members(declaration) if c.kind == CursorKind.CXX_BASE_SPECIFIER]
        if not bases:
            return
        self.bases |= {_plain(_base_declaration(base).spelling) for base in bases}
        holders: dict[str, set[str]] = {}
        waiting, seen = [declaration], 0
        while waiting and seen < _MOST_BASES:
            at = waiting.pop()
            seen += 1
            for child in cindex.class_members(at.get_definition() or at):
                if child.kind == CursorKind.FIELD_DECL:
                    holders.setdefault(child.spelling, set()).add(f"{at.spelling}#{seen}")
                elif child.kind == CursorKind.CXX_BASE_SPECIFIER:
                    waiting.append(_base_declaration(child))
        for name, classes in holders.items():
            if len(classes) > 1:
                self.repeated |= {(_plain(c.partition("#")[0]), name) for c in classes}

    def _index(self, cursor: Any) -> Node:
        parts = self.parts(cursor)
        if len(parts) != 2:
            return self._other(cursor)
        base, index = self.expression(parts[0]), self.expression(parts[1])
        if base.op == "cast" and isinstance(base.arg(0).ty, ArrayOf):
            base = base.arg(0)
        return Node("index", self._type(cursor), (base, index), None, cursor)

    def _unary(self, cursor: Any) -> Node:
        parts = self.parts(cursor)
        if len(parts) != 1:
            return self._other(cursor)
        operator = cindex.unary_operator(cursor)
        ty = self._type(cursor)
        inner = self.expression(parts[0])
        if operator in ("++", "--", "post++", "post--"):
            return Node("step", ty, (inner,), operator, cursor, True)
        if operator == "&":
            return inner if inner.op == "fn" else Node("addr", ty, (inner,), None, cursor)
        if operator == "*":
            return inner if ty is FUNCTION else Node("deref", ty, (inner,), None, cursor)
        return Node("unary", ty, (inner,), operator, cursor)

    def _binary(self, cursor: Any) -> Node:
        parts = self.parts(cursor)
        if len(parts) != 2:
            return self._other(cursor)
        operator = cindex.binary_operator(cursor)
        ty = self._type(cursor)
        left, right = self.expression(parts[0]), self.expression(parts[1])
        if operator == "=":
            return Node("assign", ty, (left, right), None, cursor, True)
        return Node("binary", ty, (left, right), operator, cursor)

    def _compound(self, cursor: Any) -> Node:
        parts = self.parts(cursor)
        if len(parts) != 2:
            return self._other(cursor)
        operator = cindex.binary_operator(cursor).removesuffix("=")
        children = (self.expression(parts[0]), self.expression(parts[1]))
        return Node("compound", self._type(cursor), children, operator, cursor, True)

    def _choose(self, cursor: Any) -> Node:
        parts = self.parts(cursor)
        if len(parts) != 3:
            return self._other(cursor)
        a, b, c = (self.expression(p) for p in parts)
        return Node("choose", self._type(cursor), (a, b, c), None, cursor)

    def _list(self, cursor: Any) -> Node:
        parts = [inner for p in cindex.children(cursor) for inner in _undesignated(p)]
        if any(
            p._kind_id == CursorKind.UNEXPOSED_EXPR.value and cindex.type_of(p).kind == TypeKind.VOID for p in parts
        ):
            values = tuple(self.expression(p) for p in parts if p._kind_id not in _TYPE_PARTS)
            return Node("unknown", self._type(cursor), values, None, cursor, True)  # designates elements by number
        if any(p.kind == CursorKind.MEMBER_REF for p in parts):
            return self._designated(cursor, parts)
        nodes = tuple(self.expression(p) for p in parts if p._kind_id not in _TYPE_PARTS)
        return Node("list", self._type(cursor), nodes, None, cursor)

    def _designated(self, cursor: Any, parts: list[Any]) -> Node:
        names: list[str] = []
        values: list[Node] = []
        for part in parts:
            if part.kind == CursorKind.MEMBER_REF:
                names.append(part.spelling)
            elif part._kind_id not in _TYPE_PARTS:
                values.append(self.expression(part))
        if len(names) != len(values):
            return Node("unknown", self._type(cursor), tuple(values), None, cursor, True)
        return Node("list", self._type(cursor), tuple(values), tuple(names), cursor)

    def _lambda(self, cursor: Any) -> Node:
        return Node("lambda", self._type(cursor), (), None, cursor, True)

    def _new(self, cursor: Any) -> Node:
        nodes = tuple(self.expression(p) for p in self.parts(cursor) if is_expression_kind(p))
        return Node("new", self._type(cursor), nodes, None, cursor, True)

    def _throw(self, cursor: Any) -> Node:
        return Node("throw", OTHER, tuple(self.expression(p) for p in self.parts(cursor)), None, cursor, True)

    def _statement_expression(self, cursor: Any) -> Node:
        parts = tuple(self.statement(c) for c in cindex.children(cursor))
        return Node("body", self._type(cursor), parts, None, cursor, True)

    # --- calls

    def _call(self, cursor: Any) -> Node:
        parts = self.parts(cursor)
        if len(parts) > 1 and parts[1]._kind_id == _CALL and parts[1].spelling in _CONFIGURE:
            return self._launch(cursor, parts)
        target = cindex.referenced(cursor)
        ty = self._type(cursor)
        if target is not None and target._kind_id == _CONSTRUCTOR:
            count = cindex.argument_count(cursor)
            given = parts[len(parts) - count :] if 0 <= count < len(parts) else parts
            return Node("construct", ty, tuple(self._passed(given, target)), target, cursor, True)
        if not parts:
            return Node("call", ty, (None, *self._arguments(cursor)), target, cursor, True)
        if target is not None and target._kind_id in _METHODS:
            return self._method(cursor, target, ty, parts)
        callee = None
        if target is None or target._kind_id not in _FUNCTIONS:
            callee = self.expression(parts[0])
            if callee.op == "fn":
                target = callee.value
        elif target.spelling.startswith("operator"):  # its name stands between the operands
            return Node("call", ty, (None, *self._arguments(cursor)), target, cursor, True)
        return Node("call", ty, (callee, *self._passed(parts[1:], target)), target, cursor, True)

    def _arguments(self, cursor: Any) -> list[Node]:
        return self._passed([a for a in cursor.get_arguments() if a is not None], cindex.referenced(cursor))

    def _passed(self, arguments: Sequence[Any], target: Any) -> list[Node]:
        """What a function is called with, defaults included: they are evaluated anew for each call."""
        return [
            self._default_argument(a, target, n) if _is_left_out(a) else self.expression(a)
            for n, a in enumerate(arguments)
        ]

    def _default_argument(self, argument: Any, target: Any, index: int) -> Node:
        """The default of a parameter."""
        declared: list[Any] = []
        if target is not None and target._kind_id in _FUNCTIONS:
            declared = [target, target.canonical, target.get_definition(), cindex.specialized_template(target)]
        for function in declared:
            parameters = [] if function is None else cindex.children(function)
            parameters = [c for c in parameters if c.kind == CursorKind.PARM_DECL]
            given = [c for p in parameters[index : index + 1] for c in p.get_children() if is_expression_kind(c)]
            if given:
                return self.converted(self.expression(given[-1]), self._type(parameters[index]))
        return Node("unknown", self._type(argument), (), LEFT_OUT, argument, True)

    def _method(self, cursor: Any, target: Any, ty: HostType, parts: list[Any]) -> Node:
        arguments = self._arguments(cursor)
        if target.is_static_method():
            return Node("call", ty, (None, *arguments), target, cursor, True)
        callee = parts[0]
        while callee._kind_id in _WRAPPERS:
            inner = self.parts(callee)
            if len(inner) != 1:
                break
            callee = inner[0]
        if callee.kind == CursorKind.MEMBER_REF_EXPR and cindex.referenced(callee) == target:
            inner = self.parts(callee)
            base = self.expression(inner[0]) if inner else Node("this", OTHER, (), None, cursor)
            return Node("method", ty, (base, *arguments), target, cursor, True)
        if arguments and target.spelling.startswith("operator"):
            return Node("method", ty, tuple(arguments), target, cursor, True)
        return Node("unknown", ty, tuple(self.expression(p) for p in parts), None, cursor, True)

    def _launch(self, cursor: Any, parts: list[Any]) -> Node:
        configuration = [self.expression(a) for a in self.parts(parts[1])[1:]]
        while len(configuration) < 3:
            configuration.append(Node("const", I32, (), 0, cursor))
        kernel = self.expression(parts[0])
        args = (kernel, *configuration[:3], *(self.expression(a) for a in parts[2:]))
        return Node("launch", OTHER, args, parts[1], cursor, True)


def _is_left_out(argument: Any) -> bool:
    """Whether a call leaves an argument to its default, which has no place in the text."""
    if argument._kind_id != CursorKind.UNEXPOSED_EXPR.value or cindex.children(argument):
        return False
    return argument.location.file is None


_MOST_BASES = 64
"""Classes of one hierarchy."""


def _plain(name: str) -> str:
    return name.partition("<")[0]


def _base_declaration(specifier: Any) -> Any:
    found = specifier.type.get_canonical().get_declaration()
    if found.kind != CursorKind.NO_DECL_FOUND:
        return found
    template = next((c for c in specifier.get_children() if c.kind == CursorKind.TEMPLATE_REF), None)
    named = template.referenced if template is not None else None
    return named if named is not None else found


def instance_text(text: bytes) -> str:
    """``run<float,4>`` of ``ns::run< float, 4 >``."""
    name, bracket, rest = text.decode("utf-8", "replace").partition("<")
    return "".join((name.split("::")[-1] + bracket + rest).split())


def _plain_members(ty: Any) -> list[Any]:
    """The data members that names can be bound to, in order; none where they are not the ones."""
    ty = ty.get_canonical()
    while ty.kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
        ty = ty.get_pointee().get_canonical()
    members = cindex.class_members(ty.get_declaration())
    if any(c.kind in (CursorKind.CXX_BASE_SPECIFIER, CursorKind.UNION_DECL) for c in members):
        return []
    if ty.get_declaration().kind == CursorKind.UNION_DECL:
        return []
    return list(ty.get_fields())


def _is_designated(cursor: Any) -> bool:
    return bool(cursor._kind_id == CursorKind.UNEXPOSED_EXPR.value and cindex.type_of(cursor).kind == TypeKind.VOID)


def _undesignated(cursor: Any) -> list[Any]:
    """An item of an initialiser list; of ``.member = value`` the member and the value."""
    if _is_designated(cursor):
        parts = cindex.children(cursor)
        if parts and parts[0].kind == CursorKind.MEMBER_REF:
            return parts
    return [cursor]


def _storage(cursor: Any) -> str:
    if cursor.kind == CursorKind.PARM_DECL:
        return "parameter"
    if cursor.kind == CursorKind.FIELD_DECL:
        return "field"
    parent = cursor.semantic_parent
    inside = parent is not None and (parent._kind_id in _FUNCTIONS or parent.kind == CursorKind.FUNCTION_TEMPLATE)
    if not inside:
        return "global"
    if cursor.storage_class == cindex.StorageClass.EXTERN:
        return "global"
    lasting = cursor.storage_class == cindex.StorageClass.STATIC or cursor.tls_kind != cindex.TLSKind.NONE
    return "static" if lasting else "local"


__all__ = ["ExpressionBuilder", "HostFunction", "instance_text", "is_expression_kind"]
