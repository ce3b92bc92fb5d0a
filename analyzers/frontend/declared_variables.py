"""What a declaration statement says of its variables: whether each may be declared in one place and get its value in
another.

Takes the cursor of a declaration statement with the code of its file, gives `Declared`s with byte offsets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from analyzers.frontend.cindex import StorageClass, TypeKind, children, expansion_offset, in_macro, initializer
from analyzers.frontend.copies import VECTOR, is_copied_by_bytes
from analyzers.frontend.declared_apart import Range, bound_to, element_type, elements_of
from analyzers.frontend.gaps import Declared
from analyzers.frontend.lowering.nodes import Kinds, written_by_macro
from analyzers.frontend.open_types import unqualified, without_qualifiers
from analyzers.frontend.plain import is_plain
from analyzers.frontend.settled import depends_on_class, is_number, is_open
from analyzers.frontend.sizes import divisors
from analyzers.frontend.written_types import AUTO, WORDS, written_type

_NUMBERS: Final = frozenset(range(TypeKind.BOOL.value, TypeKind.LONGDOUBLE.value + 1)) | {
    TypeKind.HALF.value,
    TypeKind.POINTER.value,
    TypeKind.ENUM.value,
    TypeKind.UNEXPOSED.value,
}
_NAME: Final = re.compile(r"\w+")
_MACRO_TYPE: Final = re.compile(
    rb"(?P<const>const\s+)?(?P<name>\w+)(?:\s+|(?=\*))(?P<behind>const\s+)?(?P<star>\*\s*)?"
)
_NOT_LOCAL: Final = ([b"static"], [b"extern"], [b"__shared__"])
_RangeOf = Callable[[Any], Range]


@dataclass(frozen=True, slots=True)
class InstanceKinds:
    """What all instances of the function at hand are for, where it is a template."""

    numbers: bool = False
    """They are for numbers and pointers."""
    simple: bool = False
    """Those for classes are for such that only hold numbers."""
    values: Mapping[str, Collection[int]] = field(default_factory=dict[str, Collection[int]])
    """Of the template's parameters."""

    def is_plain(self, expression: Any) -> bool:
        return is_plain(expression, self.numbers)

    def is_given(self, variable: Any) -> bool:
        """Whether the value of a variable is plain, and nothing is called to make the one of the other."""
        settled = not is_open(variable) or is_number(variable, self.numbers)
        return settled and ((value := initializer(variable)) is None or self.is_plain(value))

    def divides_safely(self, variable: Any) -> bool:
        """Whether the value of a variable divides by constants and dimensions only."""
        value = initializer(variable)
        return value is None or divisors(value, self.values) == frozenset()


def holds_number(canonical: Any) -> bool:
    """Whether values of a type are copied without code: numbers, pointers, enumerators; and parameters of templates,
    which mostly stand for such."""
    return canonical.kind.value in _NUMBERS


def is_vector(canonical: Any) -> bool:
    """Whether a type is one of CUDA's vectors."""
    return VECTOR.fullmatch(without_qualifiers(canonical.spelling)) is not None


def is_by_macro(cursor: Any) -> bool:
    """The first token stands in a macro's definition or in its arguments."""
    start = cursor.extent.start
    return written_by_macro(cursor) or expansion_offset(start) != start.offset


def type_by_macro(cursor: Any, code: bytes, range_of: _RangeOf) -> str:
    """The type of the variables that a statement declares, as it is written, where all that a macro writes of the
    declaration is the name of that type (``REAL v = 0;``); else nothing."""
    variables = children(cursor) if cursor._kind_id == Kinds.DECL_STMT else []
    if not variables or any(v._kind_id != Kinds.VAR or v.type != variables[0].type for v in variables):
        return ""
    variable = variables[0]
    written = _MACRO_TYPE.fullmatch(code[range_of(cursor)[0] : expansion_offset(variable.location)])
    if written is None or in_macro(variable.translation_unit, variable.location):
        return ""
    name, says_const = written["name"].decode(), bool(written["const"] or written["behind"])
    if not is_by_macro(cursor) and not (says_const and name not in (*WORDS, *_NAME.findall(variable.type.spelling))):
        return ""
    if written["star"] and len(variables) > 1:
        return ""
    more = variable.storage_class != StorageClass.NONE or any(c.kind.is_attribute() for c in children(variable))
    constant = variable.type.is_const_qualified() and not (says_const or written["star"])
    if more or constant or variable.type.is_volatile_qualified():
        return ""
    return f"{'const ' * says_const}{name} *" if written["star"] else name


def declared_in(
    cursor: Any, code: bytes, range_of: _RangeOf, kinds: InstanceKinds, macros: Mapping[str, bool]
) -> tuple[Declared, ...] | None:
    """The variables of a declaration statement; None where it declares anything else, or by a macro. `macros`: as
    `macro_types` gives them."""
    found = [_declared(cursor, child, code, range_of, kinds, macros) for child in children(cursor)]
    return None if None in found else tuple(each for each in found if each is not None)


def _declared(
    cursor: Any, child: Any, code: bytes, range_of: _RangeOf, kinds: InstanceKinds, macros: Mapping[str, bool]
) -> Declared | None:
    if child._kind_id != Kinds.VAR:
        return None
    at, name = expansion_offset(child.location), child.spelling
    if code[at : at + len(name)] != name.encode():
        return None
    head = code[range_of(cursor)[0] : at]
    following = code[at + len(name) : range_of(child)[1]].lstrip()
    canonical = child.type.get_canonical()
    if AUTO.encode() in head.split():
        # The name of a type that is not written may mean another one here.
        value = initializer(child) if b"&" not in head else None
        named = written_type(value, code, macros) if value is not None else AUTO
        spelling = named if named != AUTO else unqualified(canonical.spelling)
    else:
        spelling = type_by_macro(cursor, code, range_of) or unqualified(child.type.spelling)
    element = element_type(canonical)
    plain = holds_number(element) or is_vector(element)
    plain = plain or (element.kind == TypeKind.RECORD and element.is_pod() and is_copied_by_bytes(element))
    local = head.split()[:1] not in _NOT_LOCAL and "volatile" not in canonical.spelling
    movable = plain and local and "(" not in spelling and element is canonical
    assignable = movable and following.startswith(b"=")
    kept = local and not any(word in head for word in (b"align", b"attribute", b"__shared__"))
    with_elements = kept and plain
    elements = elements_of(child, following, unqualified, range_of, code, kinds.is_plain) if with_elements else None
    bound = bound_to(child, initializer(child), kinds.is_plain) if kept else None
    return Declared(
        name,
        at,
        spelling,
        assignable=assignable,
        bare=movable and not following,
        plain=assignable and kinds.is_given(child) and kinds.divides_safely(child),
        elements=elements,
        bound=bound,
        enclosed=movable and (following.startswith(b"{") or (holds_number(canonical) and following.startswith(b"("))),
        open=bound is None and not kinds.simple and depends_on_class(child, kinds.numbers),
    )
