"""The functions that C++ runs for objects without naming them.

Constructors of bases and members, initialisers of members, destructors of what an object consists of, and whatever a
library template may apply to objects of the classes it is instantiated with: copies, comparisons, calls. Takes clang's
types; gives the functions of the program that somebody wrote, found once for each type. Classes of the bundled headers
run nothing themselves, but containers and smart pointers hold objects of the types they are templates of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from analyzers.frontend import cindex
from analyzers.frontend.cindex import CursorKind, TypeKind
from analyzers.hostguide.declared import CLASSES
from analyzers.hostguide.tree import identity

_ARRAYS = (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY)
_REFERRING = (TypeKind.POINTER, TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)
_SEQUENCES = frozenset({"array", "pair", "tuple"})
"""Library classes that make an object of each type they are a template of."""
_OWNERS = frozenset({"unique_ptr", "shared_ptr", "default_delete"})
"""Library classes that destroy an object through a pointer to one of its bases."""
_APPLIED = ("begin", "end", "swap", "hash", "get")
"""Functions that library templates call by name."""
_DEEPEST = 24
"""Classes in classes."""


@dataclass(frozen=True, slots=True)
class Run:
    """What runs: definitions of functions, or declarations of those that have none, and expressions that initialise
    members."""

    functions: tuple[Any, ...] = ()
    initialisers: tuple[Any, ...] = ()
    unseen: bool = False
    """Whether there may be more, of which nothing is known."""

    def __or__(self, other: Run) -> Run:
        if not other:
            return self
        if not self:
            return other
        return Run(
            tuple({identity(f): f for f in (*self.functions, *other.functions)}.values()),
            tuple({identity(f): f for f in (*self.initialisers, *other.initialisers)}.values()),
            self.unseen or other.unseen,
        )

    def __bool__(self) -> bool:
        return bool(self.functions or self.initialisers or self.unseen)


NOTHING = Run()
UNSEEN = Run(unseen=True)


class Specials:
    """What runs for the objects of each class."""

    def __init__(self, bundled: Callable[[Any], bool]) -> None:
        """``bundled``: whether a declaration stands in a bundled header."""
        self._bundled = bundled
        self._known: dict[tuple[str, str], Run] = {}
        self._methods: dict[int, list[Any]] = {}
        self.free: Callable[[], Sequence[tuple[Any, str]]] = tuple
        """Operators, and functions that library templates call by name, outside of classes, with their types."""
        self.allocators: Callable[[], Run] = lambda: NOTHING
        """What the program replaces of the global ``operator new`` and ``operator delete``."""
        self.bases: Callable[[], Collection[str]] = tuple
        """Names of the classes that others derive from."""
        self.custom_deleters: Callable[[], bool] = lambda: False
        """Whether the program gives shared pointers deleters of its own."""

    def made(self, ty: Any, but: frozenset[str] = frozenset()) -> Run:
        """The constructors and initialisers of bases and members, those that ``but`` names left out."""
        ty = _element(ty)
        if ty.kind != TypeKind.RECORD:
            return NOTHING
        return self._once("made " + " ".join(sorted(but)), ty, lambda: self._made(ty, but))

    def destroyed(self, ty: Any) -> Run:
        """The destructors of an object and all that it consists of."""
        ty = _element(ty)
        return self._once("destroyed", ty, lambda: self._destroyed(ty)) if ty.kind == TypeKind.RECORD else NOTHING

    def deleted(self, ty: Any) -> Run:
        """What a ``delete`` of a pointer to a type runs; that may be to a base of what is destroyed."""
        found = _part(ty, lambda of: self._once("deleted", of, lambda: self._deleted(of)))
        return found | self.allocators()

    def allocated(self, ty: Any) -> Run:
        """The ``operator new`` of a class, or the one that the program has for all."""
        ty = _element(ty)
        found = NOTHING
        if ty.kind == TypeKind.RECORD:
            found = self._once("allocated", ty, lambda: self._named(ty.get_declaration(), _is_new))
        return found or self.allocators()

    def used(self, ty: Any) -> Run:
        """What a library template may run for objects of a type that it is given."""
        ty = ty.get_canonical()
        while ty.kind in _REFERRING or ty.kind in _ARRAYS:
            ty = (ty.get_pointee() if ty.kind in _REFERRING else ty.element_type).get_canonical()
        return self._once("used", ty, lambda: self._used(ty)) if ty.kind == TypeKind.RECORD else NOTHING

    def copied(self, ty: Any) -> Run:
        """What a copy, move or assignment by the compiler runs."""
        ty = _element(ty)
        if ty.kind != TypeKind.RECORD:
            return NOTHING
        return self._once("copied", ty, lambda: self._copied(ty)) | self.destroyed(ty)

    # --- one class

    def _once(self, what: str, ty: Any, find: Callable[[], Run]) -> Run:
        key = what, ty.spelling.removeprefix("const ").removeprefix("volatile ")
        found = self._known.get(key)
        if found is None:
            self._known[key] = NOTHING  # ends the recursion of classes that hold pointers to themselves
            found = self._known[key] = find()
        return found

    def _made(self, ty: Any, but: frozenset[str]) -> Run:
        declaration = ty.get_declaration()
        if self._bundled(declaration):
            if declaration.spelling not in _SEQUENCES:
                return self.allocators()
            return self._of(_arguments(ty), self._constructed)

        def initialised(of: Any) -> Run:
            members = [m for m in cindex.class_members(of) if m.kind == CursorKind.FIELD_DECL and m.spelling not in but]
            given = [c for m in members for c in m.get_children() if c.kind.is_expression() and _runs(c)]
            return Run(initialisers=tuple(given))

        fields = [f.type for f in ty.get_fields() if f.spelling not in but]
        return self._over(declaration, fields, initialised, self._constructed, but)

    def _constructed(self, ty: Any) -> Run:
        """An object of a class is constructed without arguments."""
        own = NOTHING
        if not self._bundled(ty.get_declaration()):
            own = self._named(ty.get_declaration(), _is_default)
        return own | self.made(ty)

    def _destroyed(self, ty: Any) -> Run:
        declaration = ty.get_declaration()
        if self._bundled(declaration):
            arguments = _arguments(ty)
            shared = declaration.spelling == "shared_ptr"
            if shared and (self.custom_deleters() or not all(self._is_whole(a) for a in arguments[:1])):
                return UNSEEN
            if declaration.spelling not in _OWNERS:
                return self._of(arguments, self.destroyed) | self.allocators()
            return self._of(arguments[:1], self.deleted) | self._of(arguments[1:], self._called)
        fields = [f.type for f in ty.get_fields()]
        return self._over(declaration, fields, lambda d: self._named(d, _is_destructor), self.destroyed)

    def _is_whole(self, ty: Any) -> bool:
        """Whether what a shared pointer to a type destroys has that type, and is not of one that derives from it: the
        pointer remembers what it was made with."""
        ty = _element(ty)
        return ty.kind != TypeKind.VOID and ty.get_declaration().spelling.partition("<")[0] not in self.bases()

    def _called(self, ty: Any) -> Run:
        """An object of a type is called."""
        ty = ty.get_canonical()
        if ty.kind != TypeKind.RECORD:
            return UNSEEN
        if self._bundled(ty.get_declaration()):
            return NOTHING
        return self._named(ty.get_declaration(), lambda m: m.spelling == "operator()")

    def _deleted(self, ty: Any) -> Run:
        declaration = ty.get_declaration()
        found = self.destroyed(ty)
        if self._bundled(declaration):
            return found
        found |= self._named(declaration, lambda m: m.spelling.startswith("operator delete"))
        return found | UNSEEN if self._is_polymorphic(declaration) else found

    def _is_polymorphic(self, declaration: Any, depth: int = 0) -> bool:
        """Whether the destructor of a class is virtual."""
        for member in cindex.class_members(declaration):
            if member.kind == CursorKind.DESTRUCTOR and member.is_virtual_method():
                return True
            if member.kind == CursorKind.CXX_BASE_SPECIFIER:
                base = member.type.get_canonical().get_declaration()
                if base.kind not in CLASSES or depth > _DEEPEST or self._is_polymorphic(base, depth + 1):
                    return True
        return False

    def _used(self, ty: Any) -> Run:
        declaration = ty.get_declaration()
        if self._bundled(declaration):
            found = self.destroyed(ty) if declaration.spelling in _OWNERS else NOTHING
            return found | self._of(_arguments(ty), self.used)
        name = re.compile(rf"\b{re.escape(declaration.spelling)}\b")
        found = self.made(ty) | Run(tuple(f for f, shown in self.free() if name.search(shown)))
        fields = [f.type for f in ty.get_fields()]
        return found | self._over(declaration, fields, lambda d: self._named(d, _is_special), self.used)

    def _copied(self, ty: Any) -> Run:
        declaration = ty.get_declaration()
        if self._bundled(declaration):
            return self._of(_arguments(ty), self.copied) if declaration.spelling not in _OWNERS else NOTHING
        fields = [f.type for f in ty.get_fields()]
        return self._over(declaration, fields, lambda d: self._named(d, _copies), self.copied)

    def _of(self, types: Sequence[Any], rule: Callable[[Any], Run]) -> Run:
        found = NOTHING
        for ty in types:
            found |= rule(ty)
        return found

    def _over(
        self,
        declaration: Any,
        fields: Sequence[Any],
        own: Callable[[Any], Run],
        rule: Callable[[Any], Run],
        but: frozenset[str] = frozenset(),
        depth: int = 0,
    ) -> Run:
        """A class, its members and its bases. Of a base that depends on a template's parameters all that it may be."""
        found = own(declaration)
        for field in fields:
            found |= _part(field, rule)
        for member in cindex.class_members(declaration):
            if member.kind != CursorKind.CXX_BASE_SPECIFIER:
                continue
            base = member.type.get_canonical()
            if any(c.spelling in but for c in member.get_children()):
                continue
            if base.kind == TypeKind.RECORD:
                found |= rule(base)
                continue
            templates = self._templates(member)
            if not templates or depth > _DEEPEST or any(self._bundled(t) for t in templates):
                return UNSEEN
            for template in templates:
                given = [m.type for m in cindex.class_members(template) if m.kind == CursorKind.FIELD_DECL]
                found |= self._over(template, given, own, rule, depth=depth + 1)
        return found

    @staticmethod
    def _templates(specifier: Any) -> list[Any]:
        """The template that a base is an instance of, and its specializations."""
        named = next((c for c in specifier.get_children() if c.kind == CursorKind.TEMPLATE_REF), None)
        template = named.referenced if named is not None else None
        if template is None:
            return []
        template = template.get_definition() or template
        around = cindex.scope_of(template)
        beside = cindex.children(around) if around is not None else ()
        kin = [c for c in beside if c.kind in CLASSES and c.spelling == template.spelling]
        return list({identity(c): c for c in (template, *(c for c in kin if c.is_definition()))}.values())

    def _named(self, declaration: Any, which: Callable[[Any], bool]) -> Run:
        """The members of a class that somebody wrote."""
        found = [m for m in self._written(declaration) if which(m)]
        return Run(tuple(m.get_definition() or m for m in found)) if found else NOTHING

    def _written(self, declaration: Any) -> list[Any]:
        key = identity(declaration)
        if key not in self._methods:
            self._methods[key] = [
                m
                for m in cindex.class_members(declaration)
                if m.kind in _FUNCTIONS and not m.is_default_method() and not m.is_deleted_method()
            ]
        return self._methods[key]


_FUNCTIONS = frozenset(
    {
        CursorKind.CONSTRUCTOR,
        CursorKind.DESTRUCTOR,
        CursorKind.CXX_METHOD,
        CursorKind.CONVERSION_FUNCTION,
        CursorKind.FUNCTION_TEMPLATE,
    }
)
_PLAIN = frozenset(
    {
        TypeKind.BOOL, TypeKind.CHAR_U, TypeKind.UCHAR, TypeKind.CHAR16, TypeKind.CHAR32, TypeKind.USHORT,
        TypeKind.UINT, TypeKind.ULONG, TypeKind.ULONGLONG, TypeKind.CHAR_S, TypeKind.SCHAR, TypeKind.WCHAR,
        TypeKind.SHORT, TypeKind.INT, TypeKind.LONG, TypeKind.LONGLONG, TypeKind.HALF, TypeKind.FLOAT, TypeKind.DOUBLE,
        TypeKind.LONGDOUBLE, TypeKind.ENUM, TypeKind.VOID, TypeKind.MEMBERPOINTER, TypeKind.NULLPTR, TypeKind.VECTOR,
        TypeKind.INT128, TypeKind.UINT128, TypeKind.FLOAT128, TypeKind.COMPLEX,
    }
)  # fmt: skip


def _part(ty: Any, rule: Callable[[Any], Run]) -> Run:
    """What a rule gives for the class of a part; for a type that depends on a template's parameters it is not known."""
    ty = _element(ty)
    if ty.kind == TypeKind.RECORD:
        return rule(ty)
    return NOTHING if ty.kind in _PLAIN or ty.kind in _REFERRING else UNSEEN


def _is_default(member: Any) -> bool:
    return bool(member.kind == CursorKind.CONSTRUCTOR and member.is_default_constructor())


def _is_destructor(member: Any) -> bool:
    return bool(member.kind == CursorKind.DESTRUCTOR)


def _is_new(member: Any) -> bool:
    return bool(member.spelling.startswith("operator new"))


def _is_special(member: Any) -> bool:
    name = member.spelling
    special = member.kind in (CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR, CursorKind.CONVERSION_FUNCTION)
    return special or name.startswith(("operator", member.semantic_parent.spelling + "<")) or name in _APPLIED


def _copies(member: Any) -> bool:
    if member.kind == CursorKind.CONSTRUCTOR:
        return bool(member.is_copy_constructor() or member.is_move_constructor())
    return bool(member.spelling == "operator=")


def is_applied(name: str) -> bool:
    """Whether a library template may call a function of a name outside of classes."""
    return name.startswith("operator") or name in _APPLIED


def is_allocator(name: str) -> bool:
    """Whether a function of a name outside of classes takes part in every ``new`` or ``delete``."""
    return name.startswith(("operator new", "operator delete"))


def _element(ty: Any) -> Any:
    ty = ty.get_canonical()
    while ty.kind in _ARRAYS:
        ty = ty.element_type.get_canonical()
    return ty


def _arguments(ty: Any) -> list[Any]:
    """The types that a class is a template of."""
    found = [ty.get_template_argument_type(n) for n in range(max(0, ty.get_num_template_arguments()))]
    return [a for a in found if a.kind != TypeKind.INVALID]


def _runs(expression: Any) -> bool:
    """Whether an initialiser may do more than give a value."""
    return any(c.kind in _RUNNING for c in expression.walk_preorder())


_RUNNING = frozenset(
    {
        CursorKind.CALL_EXPR,
        CursorKind.LAMBDA_EXPR,
        CursorKind.CXX_NEW_EXPR,
        CursorKind.UNARY_OPERATOR,
        CursorKind.BINARY_OPERATOR,
        CursorKind.COMPOUND_ASSIGNMENT_OPERATOR,
        CursorKind.StmtExpr,
        CursorKind.INIT_LIST_EXPR,
    }
)


__all__ = ["NOTHING", "UNSEEN", "Run", "Specials", "is_allocator", "is_applied"]
