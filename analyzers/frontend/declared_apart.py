"""Declarations that an assignment cannot stand for, and how they can be made in another place all the same: arrays,
element by element; references, once more; variables with their values in braces or parentheses.

Takes cursors of variables of a function, gives plain data with byte offsets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from analyzers.frontend.cindex import TypeKind, children, referenced, unary_operator
from analyzers.frontend.lowering.nodes import REFERENCES, Kinds
from analyzers.frontend.order import bare
from analyzers.frontend.uses import number_of

Range = tuple[int, int]
_MOST_ELEMENTS: Final = 16
_QUALIFIERS: Final = re.compile(r"\b(?:const|volatile)\b\s*|\s+(?=const\b|volatile\b)")
_ARRAYS: Final = frozenset({TypeKind.CONSTANTARRAY, TypeKind.DEPENDENTSIZEDARRAY})
_REFERENCE: Final = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)


@dataclass(frozen=True, slots=True)
class Elements:
    """An array of a function."""

    type: str
    """Of its elements, without qualifiers."""
    extents: str
    """As the source writes them: `[4]`, `[N][2]`."""
    values: tuple[tuple[str, Range | None], ...]
    """The index of each element that is given a value, in order: `[0][1]`, and where that is written; None: zero."""
    plain: bool
    """The values are plain (`plain`), and divide by nothing."""


def element_type(array: Any) -> Any:
    """The type of what an array is made of in the end; of anything else, that itself."""
    while array.kind in _ARRAYS:
        array = array.get_array_element_type()
    return array


def elements_of(
    variable: Any,
    behind: bytes,
    unqualified: Callable[[str], str],
    range_of: Callable[[Any], Range],
    code: bytes,
    is_plain: Callable[[Any], bool],
) -> Elements | None:
    """A local array with its values. None of other variables and of values that are not written one by one. `behind`:
    the code behind its name; `code`: of the file."""
    element, sizes = variable.type.get_canonical(), list[int]()
    written = variable.type
    while element.kind in _ARRAYS:
        sizes.append(element.get_array_size())
        element, written = element.get_array_element_type(), written.get_array_element_type()
    spelling = unqualified(written.spelling)
    extents, equals, value = behind.partition(b"=")
    extents = extents.strip()
    if not sizes or "(" in spelling or not spelling or b"[]" in b"".join(extents.split()):
        return None
    if not extents.startswith(b"[") or not extents.endswith(b"]"):
        return None
    values: tuple[tuple[str, Range | None], ...] = ()
    plain = b"/" not in value and b"%" not in value
    if equals:
        parts = [c for c in children(variable) if c._kind_id == Kinds.INIT_LIST]
        total = 1
        for size in sizes:
            total *= size
        if len(parts) != 1 or not 0 < total <= _MOST_ELEMENTS or not value.strip().startswith(b"{"):
            return None
        found = _values(parts[0], sizes, "", range_of, code)
        if found is None:
            return None
        values = tuple(found)
        plain = plain and all(map(is_plain, _leaves(parts[0])))
    return Elements(spelling, extents.decode(), values, plain)


def _leaves(given: Any) -> Iterator[Any]:
    for part in children(given):
        if part._kind_id == Kinds.INIT_LIST:
            yield from _leaves(part)
        else:
            yield part


def _values(
    given: Any, sizes: list[int], index: str, range_of: Callable[[Any], Range], code: bytes
) -> list[tuple[str, Range | None]] | None:
    """Of a list in braces for an array, with what it leaves out."""
    low, high = range_of(given)
    parts = [c for c in children(given) if low < range_of(c)[0] < high]
    at, found = low + 1, list[tuple[str, Range | None]]()
    for number, part in enumerate(parts):
        start, end = range_of(part)
        if code[at:start].strip() != (b"," if number else b""):
            return None
        at, own = end, f"{index}[{number}]"
        if len(sizes) == 1:
            if part._kind_id == Kinds.INIT_LIST:
                return None
            found.append((own, (start, end)))
            continue
        inner = _values(part, sizes[1:], own, range_of, code) if part._kind_id == Kinds.INIT_LIST else None
        if inner is None:
            return None
        found += inner
    if code[at : high - 1].strip() not in (b"", b",") or len(parts) > sizes[0]:
        return None
    rest = (f"{index}[{number}]" for number in range(len(parts), sizes[0]))
    return found + [(each, None) for one in rest for each in _indexes(one, sizes[1:])]


def _indexes(index: str, sizes: list[int]) -> Iterator[str]:
    if not sizes:
        yield index
        return
    for number in range(sizes[0]):
        yield from _indexes(f"{index}[{number}]", sizes[1:])


def bound_to(variable: Any, value: Any, is_plain: Callable[[Any], bool]) -> frozenset[int] | None:
    """The variables that have to stay for a reference to be declared again later; None where it is no reference, or one
    to a place that is not plain: read from memory, or computed by a call."""
    if variable.type.kind not in _REFERENCE or value is None:
        return None
    if not _is_bound_directly(variable.type.get_pointee(), bare(value)):
        return None
    found: set[int] = set()
    return frozenset(found) if _is_place(value, is_plain, found) else None


def _is_bound_directly(type_: Any, place: Any) -> bool:
    """Whether a reference to a type is one to the place itself, not to what it is converted to or copied to."""
    own, other = (_QUALIFIERS.sub("", each.get_canonical().spelling) for each in (type_, place.type))
    field = referenced(place) if place._kind_id == Kinds.MEMBER else None
    return own == other and (field is None or not field.is_bitfield())


def _is_place(expression: Any, is_plain: Callable[[Any], bool], found: set[int]) -> bool:
    """Whether an lvalue is the same whenever it is evaluated, while the variables stay that are put into `found`."""
    own = bare(expression)
    kind: int = own._kind_id
    parts = [c for c in children(own) if c._kind_id not in REFERENCES]
    if kind == Kinds.DECL_REF:
        return referenced(own) is not None
    if kind == Kinds.SUBSCRIPT and len(parts) == 2:
        base = bare(parts[0])
        whole = base.type.get_canonical().kind in (*_ARRAYS, TypeKind.INCOMPLETEARRAY)
        known = _is_place(base, is_plain, found) if whole else _is_value(base, is_plain, found)
        return known and _is_value(parts[1], is_plain, found)
    if kind == Kinds.MEMBER and len(parts) == 1:
        if bare(parts[0]).type.get_canonical().kind == TypeKind.POINTER:
            return _is_value(parts[0], is_plain, found)
        return _is_place(parts[0], is_plain, found)
    return kind == Kinds.UNARY and unary_operator(own) == "*" and _is_value(parts[0], is_plain, found)


def _is_value(expression: Any, is_plain: Callable[[Any], bool], found: set[int]) -> bool:
    """The same of a value."""
    if not is_plain(expression):
        return False
    waiting = [expression]
    while waiting:
        one = waiting.pop()
        variable = referenced(one) if one._kind_id == Kinds.DECL_REF else None
        if variable is not None and variable._kind_id in (Kinds.VAR, Kinds.PARM):
            found.add(number_of(variable))
        waiting += children(one)
    return True
