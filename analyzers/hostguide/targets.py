"""What the declaration of a called function says: where it stands, its parameters, whether it keeps its object."""

from __future__ import annotations

from analyzers.frontend import cindex
from analyzers.frontend.cindex import Cursor, CursorKind, TypeKind
from analyzers.frontend.parse import is_bundled
from analyzers.hostguide.build import TreeBuilder
from analyzers.hostguide.hosttypes import VOID, ArrayOf, HostType, RecordType
from analyzers.hostguide.keeping import Keeper
from analyzers.hostguide.library import CONTAINER_ACCESS, PURE_METHODS
from analyzers.hostguide.source import extent
from analyzers.hostguide.tree import Node, identity

_DECLARED = frozenset(
    {CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONVERSION_FUNCTION, CursorKind.CONSTRUCTOR}
)
_NAMING = frozenset(
    kind.value for kind in (CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR, CursorKind.VARIABLE_REF)
)


class Targets(Keeper):
    """Answers for called functions, each found once."""

    def __init__(self, builder: TreeBuilder) -> None:
        super().__init__(builder)
        self._bundled: dict[int, bool] = {}
        self._parameters: dict[int, list[HostType] | None] = {}
        self._const_methods: dict[int, bool] = {}
        self._referring: dict[RecordType, bool] = {}

    def bundled(self, target: Cursor) -> bool:
        key = identity(target)
        found = self._bundled.get(key)
        if found is None:
            file = target.location.file
            found = self._bundled[key] = file is None or is_bundled(file.name)
        return found

    def parameter(self, target: Cursor | None, index: int) -> HostType | None:
        """The type of a parameter; VOID for an argument of a ``...``, None when the function is not known."""
        if target is None:
            return None
        key = identity(target)
        if key not in self._parameters:
            known = target.kind in _DECLARED
            types = [self.builder.types.of(t) for t in target.type.argument_types()] if known else None
            self._parameters[key] = types
        found = self._parameters[key]
        if found is None:
            return None
        return found[index] if index < len(found) else VOID

    def holds_references(self, node: Node) -> bool:
        """Whether the object that an expression gives refers to what it is made of."""
        ty, shown = node.ty, node.cursor.type.get_canonical()
        while isinstance(ty, ArrayOf):
            ty, shown = ty.element, shown.element_type.get_canonical()
        if not isinstance(ty, RecordType):
            return False
        found = self._referring.get(ty)
        if found is None:
            fields = (f.type.get_canonical().kind for f in shown.get_fields())
            named = "&" in ty.name or "reference_wrapper<" in ty.name
            found = self._referring[ty] = named or any(kind == TypeKind.LVALUEREFERENCE for kind in fields)
        return found

    def lambda_body(self, cursor: Cursor) -> Node | None:
        found = self.builder.lambda_body(cursor)
        return found.body if found is not None else None

    def words(self, cursor: Cursor) -> frozenset[str]:
        """The names in some code: those that stand in its text, and those that its macros put there."""
        found = set(self.builder.sources.words(*extent(cursor)))
        for use in cindex.within(cursor, _NAMING):
            found.add(use.spelling)
            # What an init-capture refers to stands below the variable that it declares.
            made = cindex.referenced(use) if use.kind == CursorKind.VARIABLE_REF else None
            if made is not None:
                found.update(c.spelling for c in cindex.within(made, _NAMING))
        return frozenset(found)

    def keeps_object(self, target: Cursor) -> bool:
        """Whether a method leaves the object it is called on as it is."""
        key = identity(target)
        constant = self._const_methods.get(key)
        if constant is None:
            constant = self._const_methods[key] = " const" in target.type.spelling.rpartition(")")[2]
        name = target.spelling
        return constant or (self.bundled(target) and (name in CONTAINER_ACCESS or name in PURE_METHODS))
