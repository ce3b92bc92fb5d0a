"""What the pattern of a template says for every instance of it: the types and members that clang leaves open there.

Takes cursors of expressions in a pattern. The type of an expression is *open* where it depends on the template's
parameters: an operator on it may be a function that an instance finds, and a copy of it may call one. With `numbers`
all instances are known to be for numbers and pointers only (`instances_of`), so that a parameter stands for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from analyzers.frontend.cindex import (
    TemplateArgumentKind,
    TypeKind,
    children,
    evaluate,
    fact_of,
    in_macro,
    referenced,
    specialized_template,
)
from analyzers.frontend.copies import VECTOR
from analyzers.frontend.lowering.nodes import CASTS, Kinds
from analyzers.frontend.signatures import SCOPES
from analyzers.ir.kernel import Instances

_ARRAYS: Final = frozenset(
    kind.value for kind in (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.DEPENDENTSIZEDARRAY)
)
_BUILT_IN: Final = frozenset(range(TypeKind.BOOL.value, TypeKind.LONGDOUBLE.value + 1)) | {
    TypeKind.INT128.value,
    TypeKind.UINT128.value,
    TypeKind.NULLPTR.value,
    TypeKind.POINTER.value,
    *_ARRAYS,
}
"""Kinds of types for which the language has all operators: arrays are pointers where they are computed with."""
_OPEN: Final = frozenset({TypeKind.UNEXPOSED.value, TypeKind.DEPENDENT.value, TypeKind.INVALID.value})
_PARAMETER: Final = re.compile(r"(?:const )?type-parameter-\d+-\d+")
_COMPUTED: Final = frozenset({Kinds.UNEXPOSED, Kinds.UNARY, Kinds.BINARY, Kinds.PAREN, Kinds.CONDITIONAL, *CASTS})
_PARTIAL: Final = 32
_TEMPLATES: Final = frozenset({Kinds.CLASS_TEMPLATE, Kinds.FUNCTION_TEMPLATE, _PARTIAL})
_PARAMETERS: Final = range(27, 30)
"""Kinds of the parameters of templates: types, values, templates."""
_OPERATOR: Final = "operator"


def is_open(expression: Any) -> bool:
    """Whether the type of an expression depends on parameters of a template."""
    return expression.type.get_canonical().kind.value in _OPEN


def is_constant(expression: Any) -> bool:
    """Whether the compiler knows the value of an expression, in a template that of each instance."""
    if not is_open(expression) and evaluate(expression) is not None:
        return True
    kind: int = expression._kind_id
    if kind == Kinds.SIZEOF:
        return True
    if kind == Kinds.DECL_REF:
        named = referenced(expression)
        return named is not None and named._kind_id in _PARAMETERS
    parts = children(expression)
    return kind in _COMPUTED and bool(parts) and all(map(is_constant, parts))


def depends_on_class(variable: Any, numbers: bool) -> bool:
    """Whether the type of a variable in a template, or that of its elements or of what it refers to, may be a class, or
    hold one, that nobody knows there. `numbers`: all instances are for numbers and pointers."""
    own = ty = variable.type.get_canonical()
    while ty.kind.value in _ARRAYS or ty.kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
        ty = (ty.get_pointee() if ty.kind.value not in _ARRAYS else ty.get_array_element_type()).get_canonical()
    if ty.kind.value in _OPEN or ty.kind == TypeKind.AUTO:
        known = is_number(variable, numbers) if ty is own else _is_built_in(ty, numbers)
        return not known and not (numbers and ty.kind == TypeKind.AUTO)
    if numbers or ty.kind != TypeKind.RECORD:
        return False
    scope = ty.get_declaration()
    while scope is not None and scope._kind_id not in (Kinds.NAMESPACE, Kinds.LINKAGE) and scope.kind.is_declaration():
        if scope._kind_id in _TEMPLATES:
            return True
        scope = scope.semantic_parent
    return "type-parameter" in ty.spelling


def is_number(expression: Any, numbers: bool) -> bool:
    """Whether an expression is a number, a pointer or an array in every instance."""
    if not is_open(expression):
        return _is_built_in(expression.type, numbers)
    kind: int = expression._kind_id
    if kind == Kinds.MEMBER:
        field = field_of(expression)
        return field is not None and _is_built_in(field.type, numbers)
    if kind == Kinds.CALL:
        _, parts = operator_of(expression)
    elif kind in (Kinds.UNARY, Kinds.BINARY, Kinds.PAREN, Kinds.CONDITIONAL):
        parts = children(expression)
    else:
        return _is_built_in(expression.type, numbers)
    return bool(parts) and all(is_number(part, numbers) for part in parts)


def has_value_type(expression: Any, numbers: bool) -> bool:
    """Whether what an operator or a cast gives is no class: a cast to one calls a function."""
    if expression._kind_id in (Kinds.UNARY, Kinds.BINARY, Kinds.PAREN, Kinds.CONDITIONAL):
        return True  # as its operands
    return not is_open(expression) or _is_built_in(expression.type, numbers)


def _is_built_in(ty: Any, numbers: bool) -> bool:
    own = ty.get_canonical()
    return own.kind.value in _BUILT_IN or (numbers and _PARAMETER.fullmatch(own.spelling) is not None)


def operator_of(call: Any) -> tuple[str, list[Any]]:
    """The operator and the operands of what is an operator in the pattern and may be a call in an instance; the empty
    string for other calls."""
    parts = children(call)
    names = [i for i, part in enumerate(parts) if part._kind_id == Kinds.DECL_REF and not part.spelling]
    if len(names) != 1 or len(parts) > 3:
        return "", []
    inner = children(parts[names[0]])
    name = inner[0].spelling if len(inner) == 1 and inner[0]._kind_id == Kinds.OVERLOADED_REF else ""
    operands = parts[: names[0]] + parts[names[0] + 1 :]
    return name.removeprefix(_OPERATOR) if name.startswith(_OPERATOR) else "", operands


def field_of(member: Any) -> Any:
    """The field that `x.f` means in every instance, where `x` is of a class template: that of its definition,
    if no specialisation of it is in sight. None where that is not to be told."""
    parts = [c for c in children(member) if c._kind_id not in (Kinds.TYPE_REF, Kinds.TEMPLATE_REF)]
    tokens = [token.spelling for token in member.get_tokens()]
    if len(parts) != 1 or tokens[-2:-1] != ["."] or in_macro(member.translation_unit, member.extent.end):
        return None
    template = parts[0].type.get_declaration()
    if template._kind_id != Kinds.CLASS_TEMPLATE:
        return None
    template = template.get_definition() or template
    fields = [c for c in children(template) if c._kind_id == Kinds.FIELD and c.spelling == tokens[-1]]
    if len(fields) != 1 or not _is_built_in(fields[0].type, numbers=False):
        return None
    unit = member.translation_unit
    specialised = fact_of(unit, "specialised", lambda: frozenset(_specialised(unit.cursor)))
    return None if template.canonical.hash in specialised else fields[0]


def _specialised(parent: Any) -> Iterator[int]:
    """The hashes of the class templates of which a unit shows specialisations, partial ones included."""
    for cursor in children(parent):
        kind: int = cursor._kind_id
        if kind in (Kinds.STRUCT, Kinds.CLASS, Kinds.UNION, _PARTIAL):
            found = specialized_template(cursor)
            if found is not None:
                yield found.canonical.hash
        if kind in SCOPES:
            yield from _specialised(cursor)


def template_name(spelling: str) -> str:
    """The name that a function and all its instances have."""
    return spelling.partition("<")[0]


def instances_of(functions: Iterable[Any]) -> Instances:
    """What functions are instances for, given as cursors of instances."""
    for_classes, values, with_code = set[str](), set[tuple[str, str, int]](), set[str]()
    for function in functions:
        name = template_name(function.spelling)
        scope = function
        while scope is not None and scope._kind_id not in (Kinds.NAMESPACE, Kinds.LINKAGE):
            parameters = _parameters(scope)
            for number in range(max(scope.get_num_template_arguments(), 0)):
                known, value = _argument(scope, number)
                if not known:
                    for_classes.add(name)
                    if not _is_simple(scope, number):
                        with_code.add(name)
                elif value is not None and number < len(parameters):
                    values.add((name, parameters[number], value))
            scope = scope.semantic_parent
    return Instances(frozenset(for_classes), frozenset(values), frozenset(with_code))


def _parameters(instance: Any) -> list[str]:
    template = specialized_template(instance)
    return [c.spelling for c in children(template) if c._kind_id in _PARAMETERS] if template is not None else []


def _is_simple(instance: Any, number: int) -> bool:
    """Whether a template's argument is a type that does nothing when it is made, copied or ended, and has no functions:
    one of CUDA's vectors, or a class that holds such, numbers and pointers."""
    try:
        if instance.get_template_argument_kind(number) != TemplateArgumentKind.TYPE:
            return False
    except ValueError:
        return False
    return _only_holds(instance.get_template_argument_type(number).get_canonical())


def _only_holds(ty: Any) -> bool:
    while ty.kind.value in _ARRAYS:
        ty = ty.get_array_element_type().get_canonical()
    if ty.is_volatile_qualified():
        return False
    if ty.kind != TypeKind.RECORD:
        return ty.kind.value in _BUILT_IN
    if VECTOR.fullmatch(ty.spelling.removeprefix("const ")):
        return True
    members = children(ty.get_declaration())
    return ty.is_pod() and all(m._kind_id == Kinds.FIELD and _only_holds(m.type.get_canonical()) for m in members)


def _argument(instance: Any, number: int) -> tuple[bool, int | None]:
    """Whether a template's argument is a number, or the type of one, or a pointer; and the number."""
    try:
        kind = instance.get_template_argument_kind(number)
    except ValueError:
        return False, None  # a pack: the Python binding does not show what is in it
    if kind == TemplateArgumentKind.INTEGRAL:
        return True, int(instance.get_template_argument_value(number))
    if kind != TemplateArgumentKind.TYPE:
        return kind == TemplateArgumentKind.NULLPTR, None
    ty = instance.get_template_argument_type(number).get_canonical()
    return ty.kind.value in _BUILT_IN - _ARRAYS and not ty.is_volatile_qualified(), None
