"""What a function does with its variables: where each is read, changed, or lent to what may change it later; and what
its names mean.

Takes the cursor of a function definition, gives its uses in the order of the tree, with the byte offsets of its file;
what a macro wrote is used where the macro is. Whatever the tree does not show is taken for a change.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from analyzers.frontend.cindex import (
    TemplateArgumentKind,
    TypeKind,
    binary_operator,
    children,
    expansion_offset,
    in_macro,
    referenced,
    specialized_template,
    unary_operator,
)
from analyzers.frontend.copies import VECTOR
from analyzers.frontend.lowering.nodes import CASTS, FUNCTIONS, REFERENCES, Kinds
from analyzers.frontend.parse import is_bundled

UseKind = Literal["declared", "read", "changed", "lent"]
Leads = Literal["nowhere", "to numbers", "anywhere"]
"""Where what a variable holds leads: it holds numbers; pointers to such, or it is a reference to one; anything else."""


@dataclass(frozen=True, slots=True)
class Use:
    """One mention of a variable. `lent`: from there on something else may change it, a reference or a pointer. What
    only the type matters of, as in `sizeof`, is read."""

    at: int
    name: str
    variable: int
    """The same number for all uses of one variable, of fields aside: those are uses of the variable they are in, or of
    themselves in a method of theirs."""
    kind: UseKind
    leads: Leads = "anywhere"
    held: bool = False
    """From there on something else may lead to it: what is lent is, and what a constant reference or a lambda has, even
    if that is gone soon."""
    reached: bool = False
    """What it leads to may be changed there: it is assigned to through it, or it is handed to a function."""
    unresolved: bool = False
    """It is handed to a function that is only known when a template is instantiated."""


THIS: Final = -1
"""The number of the object that a method is called on, as far as it is used whole."""
ADDRESS: Final = -2
"""The number of what an address is kept in that is made a number."""


Meaning = tuple[str, int]
"""Of a name: the file and the offset at which it is declared; of a variable of the function its type, and -1."""


@dataclass(frozen=True, slots=True)
class Mentions:
    """Of one function."""

    uses: tuple[Use, ...]
    meanings: Mapping[str, Counter[Meaning]]
    """By name, what is meant by it and how often."""


_VARIABLES: Final = frozenset({Kinds.VAR, Kinds.PARM})
_IN_ONE_PIECE: Final = frozenset({Kinds.UNEXPOSED, Kinds.PAREN, Kinds.COMPOUND_LITERAL, Kinds.STATEMENT_EXPR, *CASTS})
_Kind = Literal["declared", "read", "changed", "lent", "seen", "captured", "reached", "unresolved"]
"""`seen`: read by a reference, which lasts; `captured`: read by a lambda; the others as in `Use`."""
_KINDS: Final[dict[_Kind, UseKind]] = {
    "declared": "declared",
    "read": "read",
    "changed": "changed",
    "lent": "lent",
    "seen": "read",
    "captured": "read",
    "reached": "read",
    "unresolved": "lent",
}
_BY_VALUE: Final = frozenset[_Kind](("read", "reached"))
_UNEVALUATED: Final = frozenset({Kinds.SIZEOF, Kinds.SIZEOF_PACK, Kinds.TYPEID})
_ARRAYS: Final = frozenset({TypeKind.CONSTANTARRAY, TypeKind.DEPENDENTSIZEDARRAY, TypeKind.INCOMPLETEARRAY})
_QUALIFIER: Final = re.compile(r"\b(?:const|volatile|restrict|__restrict)\b ?")
_PLACE: Final = re.compile(r" at [^()]*(?=\))")
"""Where something without a name is declared, in the spelling of its type."""
_AS_WIDE: Final = (TypeKind.LONG, TypeKind.ULONG, TypeKind.LONGLONG, TypeKind.ULONGLONG, TypeKind.INT128)
"""Numbers that a pointer can be made."""
_REFERENCE: Final = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)


def uses_of(function: Any) -> tuple[Use, ...]:
    """All uses in a function, its lambdas included."""
    return mentions_of(function).uses


def mentions_of(function: Any) -> Mentions:
    """All that a function names, its lambdas included."""
    walk = _Walk()
    return Mentions(tuple(walk.uses(function, "read")), walk.meanings)


class _Walk:
    def __init__(self) -> None:
        self.lambdas = 0
        self.unevaluated = 0
        self.leads: dict[int, Leads] = {}
        """By variable."""
        self.meanings: dict[str, Counter[Meaning]] = {}
        self._identities: dict[int, Meaning] = {}
        """By declaration."""
        self._own: dict[int, Any] = {}
        """The variables that the function declares, by number."""

    def uses(self, cursor: Any, kind: _Kind) -> Iterator[Use]:
        """`kind`: what becomes of the value of the cursor."""
        which: int = cursor._kind_id
        if which in _VARIABLES:
            yield from self._declaration(cursor)
        elif which == Kinds.DECL_REF:
            yield from self._mention(cursor, "lent" if kind in _BY_VALUE and _is_array(cursor) else kind)
        elif which == Kinds.LAMBDA:
            yield from self._captured(cursor)
            self.lambdas += 1
            yield from self._all(cursor, "read")
            self.lambdas -= 1
        elif which == Kinds.CALL:
            yield from self._call(cursor)
        elif which in (Kinds.UNARY, Kinds.BINARY, Kinds.COMPOUND_ASSIGN, Kinds.CONDITIONAL):
            yield from self._operation(cursor, kind)
        elif which in (Kinds.MEMBER, Kinds.SUBSCRIPT):
            yield from self._part(cursor, "lent" if kind in _BY_VALUE and _is_array(cursor) else kind)
        elif which == Kinds.INIT_LIST and _has_references(cursor.type.get_canonical()):
            yield from self._all(cursor, "lent")
        elif which == Kinds.INIT_LIST:
            # Clang shows what is written, not the conversions and constructors that are called with it.
            for child in children(cursor):
                yield from self.uses(child, "unresolved" if _is_converted(child.type.get_canonical()) else kind)
        elif which in CASTS and _is_address(cursor):
            yield _address(cursor)
            yield from self._all(cursor, kind)
        elif which in _IN_ONE_PIECE:
            yield from self._all(cursor, kind)
        elif which == Kinds.RANGE_FOR:
            yield from self._range_for(cursor)
        elif which in _UNEVALUATED:
            self.unevaluated += 1
            yield from self._all(cursor, "read")
            self.unevaluated -= 1
        elif which == Kinds.THIS:
            yield self._object(cursor, kind)
        elif which in REFERENCES:
            self._note(cursor)
        else:
            unknown = 100 <= which < 200 or which in (Kinds.ASM, Kinds.MS_ASM, Kinds.UNEXPOSED_DECL)
            yield from self._all(cursor, "lent" if unknown else "read")

    def _captured(self, cursor: Any) -> Iterator[Use]:
        """What a lambda has references to by names of its own, as in ``[&x = y]``: that may be anything, which the tree
        does not show."""
        named = [c for c in children(cursor) if c._kind_id == Kinds.VARIABLE_REF and c.type.kind in _REFERENCE]
        if any(number_of(meant) not in self._own for c in named if (meant := referenced(c)) is not None):
            at = expansion_offset(cursor.location)
            yield from (self._use(variable, at, "lent") for variable in list(self._own.values()))

    def _all(self, cursor: Any, kind: _Kind) -> Iterator[Use]:
        for child in children(cursor):
            yield from self.uses(child, kind)

    def _mention(self, cursor: Any, kind: _Kind) -> Iterator[Use]:
        variable = self._note(cursor)
        if variable is None or variable._kind_id in (Kinds.FUNCTION, Kinds.METHOD):
            return
        if self.unevaluated:
            kind = "read"
        elif kind == "changed" and self.lambdas:
            kind = "lent"  # what a lambda changes is changed whenever it is called
        elif kind == "read" and self.lambdas:
            kind = "captured"
        yield self._use(variable, expansion_offset(cursor.location), kind)

    def _object(self, cursor: Any, kind: _Kind) -> Use:
        """The object that a method is called on, as a whole."""
        own: UseKind = "lent" if kind == "lent" else "read"
        return Use(expansion_offset(cursor.location), "this", THIS, own, "anywhere", held=True, reached=kind != "read")

    def _use(self, variable: Any, at: int, kind: _Kind) -> Use:
        number = number_of(variable)
        if number not in self.leads:
            self.leads[number] = _leads(variable.type.get_canonical())
        return Use(
            at,
            variable.spelling,
            number,
            _KINDS[kind],
            self.leads[number],
            kind in ("seen", "captured", "lent", "unresolved"),
            kind not in ("declared", "read", "captured"),
            kind == "unresolved",
        )

    def _note(self, cursor: Any) -> Any:
        """What a cursor refers to, which its name means."""
        meant = referenced(cursor)
        if meant is not None and meant.spelling and not _is_implicit(meant):
            number = number_of(meant)
            if number not in self._identities:
                self._identities[number] = _type_of(meant) if number in self._own else _place_of(meant)
            self.meanings.setdefault(meant.spelling, Counter())[self._identities[number]] += 1
        return meant

    def _part(self, cursor: Any, kind: _Kind) -> Iterator[Use]:
        """Of a field or an element, which is a part of what it is in."""
        whole, *indices = children(cursor) or [None]
        if whole is None:
            yield from self._mention(cursor, kind)  # of the object that the method is called on
        else:
            if cursor._kind_id == Kinds.MEMBER:
                self._note(cursor)
            yield from self._in_place(whole, _through(kind) if _is_pointer(whole) else kind)
        for index in indices:
            yield from self.uses(index, "read")

    def _in_place(self, whole: Any, kind: _Kind) -> Iterator[Use]:
        """Of what is used by its parts: an array is not handed on."""
        named = _stripped(whole)
        if named._kind_id == Kinds.DECL_REF:
            yield from self._mention(named, kind)
        elif named._kind_id in (Kinds.MEMBER, Kinds.SUBSCRIPT):
            yield from self._part(named, kind)
        else:
            yield from self.uses(whole, kind)

    def _declaration(self, cursor: Any) -> Iterator[Use]:
        self._own[number_of(cursor)] = cursor
        yield self._use(cursor, expansion_offset(cursor.location), "declared")
        yield from self._all(cursor, _given(cursor.type))

    def _operation(self, cursor: Any, kind: _Kind) -> Iterator[Use]:
        parts = children(cursor)
        if cursor._kind_id == Kinds.UNARY:
            operator = unary_operator(cursor)
            own: _Kind = "read"
            if operator.endswith(("++", "--")):
                own = "lent" if kind == "lent" else "changed"
            elif operator == "&":
                own = "lent"
            elif operator == "*":
                own = _through(kind)
            yield from self._all(cursor, own)
            return
        operator = "?" if cursor._kind_id == Kinds.CONDITIONAL else binary_operator(cursor)
        if cursor._kind_id == Kinds.COMPOUND_ASSIGN or operator == "=":
            yield from self.uses(parts[0], "lent" if kind == "lent" else "changed")
            parts = parts[1:]
            kind = "read"
        elif operator in ("?", ","):
            yield from self.uses(parts[0], "read")
            parts = parts[1:]
        elif operator:
            kind = "read"
        else:
            kind = "lent"
        for part in parts:
            yield from self.uses(part, kind)

    def _call(self, cursor: Any) -> Iterator[Use]:
        function = referenced(cursor)
        arguments = [a for a in cursor.get_arguments() if a is not None]
        if function is None or function._kind_id not in (
            Kinds.FUNCTION,
            Kinds.METHOD,
            Kinds.CONSTRUCTOR,
            Kinds.CONVERSION,
        ):
            if _may_hold(cursor.type.get_canonical()):
                yield _address(cursor)
            yield from self._all(cursor, "unresolved")
            return
        self._note(cursor)
        if _may_keep_as_number(cursor, function, arguments):
            yield _address(cursor)
        if function.spelling == "operator()" and specialized_template(function) is not None:
            # Its instance may be a lambda's, the body of which is compared as it is written, for all types.
            yield from self._all(cursor, "unresolved")
            return
        method = function._kind_id in (Kinds.METHOD, Kinds.CONVERSION)
        own: _Kind = "seen" if method and function.is_const_method() else "lent"
        taken: list[_Kind] = [_given(p.type) for p in function.get_arguments() if p is not None]
        if method and len(arguments) == len(taken) + 1:
            taken.insert(0, own)  # an operator, called on its first operand
        for part in children(cursor):
            # Equal cursors may differ in the declaration around them: in the value of a variable, say.
            index = next((i for i, a in enumerate(arguments) if a.data[1] == part.data[1]), None)
            if index is not None:
                given: _Kind = taken[index] if index < len(taken) else "lent"
                yield from self.uses(part, "reached" if given == "read" else given)
            elif part._kind_id == Kinds.MEMBER and method:
                self._note(part)
                objects = children(part)
                if not objects:
                    yield self._object(part, own)
                for each in objects:
                    yield from self.uses(each, "reached" if _is_pointer(each) else own)
            else:
                yield from self.uses(part, "read")

    def _range_for(self, cursor: Any) -> Iterator[Use]:
        parts = children(cursor)
        variable = next((p for p in parts if p._kind_id == Kinds.VAR), None)
        kind: _Kind = _given(variable.type) if variable is not None else "lent"
        for part in parts:
            if 100 <= part._kind_id < 200:
                yield from self._in_place(part, kind)
            else:
                yield from self.uses(part, "read")


def number_of(variable: Any) -> int:
    """The same for all cursors of one variable."""
    return variable.canonical.data[0] or 0


def _type_of(variable: Any) -> Meaning:
    return _PLACE.sub("", _QUALIFIER.sub("", variable.type.get_canonical().spelling)), -1


def _place_of(declaration: Any) -> Meaning:
    location = declaration.canonical.location
    file = location.file.name if location.file is not None else ""
    if declaration._kind_id in FUNCTIONS and _is_one_of_macro(declaration):
        # All that a macro writes is at one place.
        file = f"{file}\n{_PLACE.sub('', declaration.type.spelling)}"
    elif declaration._kind_id in FUNCTIONS and specialized_template(declaration) is not None:
        # The instances of one template are at one place.
        file = f"{file}\n{_PLACE.sub('', _instance(declaration))}"
    return file, location.offset


def _instance(function: Any) -> str:
    """Which one of a template: its arguments, which stay when it gets another parameter, or its types where they are
    not all shown."""
    owner = function.semantic_parent
    own = f"{owner.type.spelling}::" if owner is not None else ""
    arguments: list[str] = []
    for number in range(max(function.get_num_template_arguments(), 0)):
        try:
            kind = function.get_template_argument_kind(number)
        except ValueError:
            kind = None  # a pack
        if kind == TemplateArgumentKind.TYPE:
            arguments.append(function.get_template_argument_type(number).get_canonical().spelling)
        elif kind == TemplateArgumentKind.INTEGRAL:
            arguments.append(str(function.get_template_argument_value(number)))
        else:
            arguments = []
            break
    return own + (", ".join(arguments) or function.type.spelling)


def _is_one_of_macro(declaration: Any) -> bool:
    return in_macro(declaration.translation_unit, declaration.location)


def _is_implicit(function: Any) -> bool:
    """A constructor or an assignment that the compiler has made."""
    if function._kind_id not in (Kinds.CONSTRUCTOR, Kinds.METHOD):
        return False
    owner = function.semantic_parent
    if function.location.offset != owner.location.offset:
        return False
    # All that a macro writes is at one place; what nobody wrote is not among the children.
    return not _is_one_of_macro(owner) or all(c.data[0] != function.data[0] for c in children(owner))


def _through(kind: _Kind) -> _Kind:
    """What becomes of a pointer when `kind` is what becomes of what it leads to."""
    return "read" if kind in ("read", "seen", "declared") else "reached"


def _has_references(ty: Any) -> bool:
    """A class with a field that is a reference."""
    while ty.kind in _ARRAYS:
        ty = ty.get_array_element_type()
    if ty.kind != TypeKind.RECORD:
        return False
    fields = [f.type.get_canonical() for f in ty.get_fields()]
    return any(f.kind in _REFERENCE or _has_references(f) for f in fields)


def _is_address(cast: Any) -> bool:
    """A pointer made a number."""
    made = cast.type.get_canonical().kind.value
    parts = [_stripped(c) for c in children(cast) if 100 <= c._kind_id < 200]
    pointers = any(_is_pointer(each) or _is_array(each) for each in parts)
    return TypeKind.BOOL.value < made <= TypeKind.INT128.value and pointers


def _may_keep_as_number(call: Any, function: Any, arguments: Sequence[Any]) -> bool:
    """Whether a function of the user's may make a number of an address that it is given: that of its object, of what a
    reference is bound to, or a pointer. It returns one as wide, or is given what may hold one."""
    file = function.location.file
    if file is not None and is_bundled(file.name) and not function.spelling.startswith("__cvta"):
        return False
    taken = [p.type.get_canonical() for p in function.get_arguments() if p is not None]
    method = function._kind_id == Kinds.METHOD and not function.is_static_method()
    given = (
        method
        or any(ty.kind in _REFERENCE for ty in taken)
        or any(_is_pointer(a) or _is_array(_stripped(a)) for a in arguments)
    )
    if not given:
        return False
    if _may_hold(call.type.get_canonical()):
        return True
    if method and not function.is_const_method() and _may_hold(function.semantic_parent.type.get_canonical()):
        return True
    lent = (ty.get_pointee() for ty in taken if ty.kind in (TypeKind.POINTER, *_REFERENCE))
    return any(_may_hold(ty.get_canonical()) for ty in lent if not ty.is_const_qualified())


def _may_hold(ty: Any) -> bool:
    """Whether a type has room for a number as wide as an address, in one of its own."""
    while ty.kind in _ARRAYS:
        ty = ty.get_array_element_type().get_canonical()
    if ty.kind == TypeKind.RECORD:
        return any(_may_hold(f.type.get_canonical()) for f in ty.get_fields())
    return ty.kind in _AS_WIDE


def _address(cursor: Any) -> Use:
    """A number that is made of a pointer."""
    return Use(expansion_offset(cursor.location), "", ADDRESS, "changed", "anywhere", held=False)


def _is_converted(ty: Any) -> bool:
    """Whether a value may be made another by code that nobody shows: an object of a class, CUDA's vectors aside."""
    return ty.kind == TypeKind.RECORD and VECTOR.fullmatch(_QUALIFIER.sub("", ty.spelling)) is None


def _given(ty: Any) -> _Kind:
    """What becomes of a value that something of this type is made of."""
    own = ty.get_canonical()
    if own.kind not in _REFERENCE:
        return "read"
    return "seen" if own.get_pointee().is_const_qualified() else "lent"


def _is_pointer(expression: Any) -> bool:
    """A pointer that is no array: what is behind it is no part of the variable."""
    return _stripped(expression).type.get_canonical().kind == TypeKind.POINTER


def _is_array(expression: Any) -> bool:
    """An array of its own, which what takes its value gets hold of."""
    return expression.type.get_canonical().kind in _ARRAYS


def _stripped(expression: Any) -> Any:
    """Without parentheses and conversions."""
    while expression._kind_id in (Kinds.UNEXPOSED, Kinds.PAREN):
        inner = children(expression)
        if len(inner) != 1:
            break
        expression = inner[0]
    return expression


def _leads(ty: Any) -> Leads:
    while ty.kind in _ARRAYS:
        ty = ty.get_array_element_type()
    if ty.kind in (TypeKind.POINTER, *_REFERENCE):
        return "to numbers" if _leads(ty.get_pointee().get_canonical()) == "nowhere" else "anywhere"
    if ty.kind == TypeKind.RECORD:
        if _PLACE.search(ty.spelling):
            return "anywhere"  # what a lambda has captured
        held = [f.type for f in ty.get_fields()]
        held += [c.type for c in children(ty.get_declaration()) if c._kind_id == Kinds.BASE]
        return "nowhere" if all(_leads(each.get_canonical()) == "nowhere" for each in held) else "anywhere"
    number = TypeKind.BOOL.value <= ty.kind.value <= TypeKind.LONGDOUBLE.value
    return "nowhere" if number or ty.kind in (TypeKind.ENUM, TypeKind.HALF) else "anywhere"
