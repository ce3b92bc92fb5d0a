"""What can be told of constructor calls and default constructors without running them."""

from __future__ import annotations

from analyzers.frontend.lowering.implicit_copies import running_code
from analyzers.frontend.lowering.invocation import describe, is_implicit
from analyzers.frontend.lowering.layout import CType
from analyzers.frontend.lowering.nodes import Kinds, Node, constructor_arguments


def is_construction(node: Node) -> bool:
    """Whether a call expression builds an object with a constructor."""
    if node.kind != Kinds.CALL:
        return False
    target = node.reference
    return target is not None and target.kind == Kinds.CONSTRUCTOR


def copies_temporary(node: Node) -> bool:
    """A copy or move by a constructor that the compiler made."""
    args = constructor_arguments(node)
    if len(args) != 1 or node.type.shape != "record":
        return False
    facts = describe(node.table, node.reference) if node.reference is not None else None
    if facts is None or facts.body is not None or facts.initializers:
        return False
    if not facts.bundled and not is_implicit(facts.node.cursor):
        return False
    if running_code(node.table, node.type) is not None:
        return False
    given = args[0].type
    return given.shape == "record" and given.record.declaration == node.type.record.declaration


def trivial_construction(node: Node) -> bool:
    """A default construction that leaves the object as it is."""
    if constructor_arguments(node) or node.type.shape not in ("record", "array"):
        return False
    facts = describe(node.table, node.reference) if node.reference is not None else None
    ctype = node.type.flat()[0]
    return facts is not None and facts.body is None and ctype.shape == "record" and not has_defaults(ctype)


def has_defaults(ctype: CType) -> bool:
    record = ctype.record
    if record.defaults is None:
        record.defaults = _finds_defaults(ctype)
    return record.defaults


def _finds_defaults(ctype: CType) -> bool:
    record = ctype.record
    for field in record.fields:
        if any(100 <= k._kind_id < 200 for k in field.cursor.get_children()) and field.bits is None:
            return True
        inner = field.type.flat()[0]
        if inner.shape == "record" and (has_defaults(inner) or default_constructor(inner) is not None):
            return True
    return any(has_defaults(base) or default_constructor(base) is not None for base, _ in record.bases)


def default_constructor(ctype: CType) -> object | None:
    """The cursor of a written default constructor with a body."""
    for child in ctype.record.constructors():
        if not any(True for _ in child.get_arguments()) and not child.is_default_method():
            definition = child.get_definition()
            if definition is not None and any(k._kind_id == Kinds.COMPOUND for k in definition.get_children()):
                return definition
    return None
