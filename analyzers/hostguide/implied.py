"""What the code of a function may run and overwrite beyond what its words say, as clang resolves it.

Operators, conversions, destructors of temporaries and at the end of scopes, constructors of members, default arguments,
overrides, first uses of variables: none of them needs a name in the text. Takes cursors of function definitions, of
instances for templates; gives the functions that such a body refers to, the classes whose objects it overwrites as a
whole, and the ways it takes out of what is in sight.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzers.frontend import cindex
from analyzers.frontend.cindex import CursorKind, TypeKind
from analyzers.hostguide.declared import CLASSES, FUNCTIONS, FoundFunction
from analyzers.hostguide.library import CONTAINER_ACCESS, PURE_METHODS
from analyzers.hostguide.source import SourceTexts, extent
from analyzers.hostguide.specials import is_allocator
from analyzers.hostguide.tree import identity

_PLACED = re.compile(r"(?:::\s*)?new\s*\(")
_STATE = CursorKind.VAR_DECL.value, CursorKind.PARM_DECL.value, CursorKind.FIELD_DECL.value
_REFERENCES = CursorKind.DECL_REF_EXPR.value, CursorKind.MEMBER_REF_EXPR.value
_OBJECTS = frozenset(
    {
        CursorKind.CALL_EXPR.value,
        CursorKind.VAR_DECL.value,
        CursorKind.PARM_DECL.value,
        CursorKind.INIT_LIST_EXPR.value,
        CursorKind.CXX_FUNCTIONAL_CAST_EXPR.value,
        CursorKind.COMPOUND_LITERAL_EXPR.value,
    }
)
"""Where an object comes to life that is destroyed later."""
_WRAPPING = frozenset(
    {
        CursorKind.UNEXPOSED_EXPR.value,
        CursorKind.PAREN_EXPR.value,
        CursorKind.UNARY_OPERATOR.value,
        CursorKind.BINARY_OPERATOR.value,
        CursorKind.ARRAY_SUBSCRIPT_EXPR.value,
        CursorKind.CSTYLE_CAST_EXPR.value,
        CursorKind.CXX_STATIC_CAST_EXPR.value,
        CursorKind.CXX_REINTERPRET_CAST_EXPR.value,
        CursorKind.CXX_CONST_CAST_EXPR.value,
        CursorKind.CXX_FUNCTIONAL_CAST_EXPR.value,
    }
)
WALKS = frozenset({"begin", "end", "operator++", "operator*", "operator!=", "operator=="})
"""What a loop over a range calls."""
_TELLING = frozenset(
    {
        *_OBJECTS,
        *_REFERENCES,
        CursorKind.CXX_FOR_RANGE_STMT.value,
        CursorKind.CXX_NEW_EXPR.value,
        CursorKind.CXX_DELETE_EXPR.value,
        CursorKind.BINARY_OPERATOR.value,
    }
)
"""What of a body runs or overwrites something."""
_WAITING = frozenset(
    {
        "thread", "jthread", "future", "shared_future", "condition_variable", "condition_variable_any", "packaged_task",
        "promise", "latch", "barrier", "mutex", "recursive_mutex", "shared_mutex", "timed_mutex", "lock_guard",
        "unique_lock", "scoped_lock", "shared_lock", "counting_semaphore", "binary_semaphore",
    }
)  # fmt: skip
"""Other code may run while their functions wait for it."""
_HELD = frozenset({"function", "any", "move_only_function", "packaged_task", "copyable_function", "function_ref"})
"""Library classes whose objects hold code that their type does not tell."""
_SPECIAL_NAMES = frozenset({"begin", "end", "hash", "swap"})


@dataclass(slots=True)
class Effects:
    """What one body may run and overwrite."""

    functions: dict[int, Any] = field(default_factory=dict[int, Any])
    """Cursors of functions in sight, by identity."""
    referred: dict[int, Any] = field(default_factory=dict[int, Any])
    """Those that are named, whether they are called or handed on, by identity."""
    overwritten: set[str] = field(default_factory=set[str])
    """Names of the classes of objects that may get new values as a whole."""
    outside: dict[str, None] = field(default_factory=dict[str, None])
    """Functions that are called and not in sight."""
    leads_out: bool = False
    """Whether it may run code that a variable holds, that is not in sight, or that another thread runs meanwhile."""
    unresolved: bool = False
    """Whether clang does not say what some of it means."""

    def add(self, other: Effects) -> None:
        """Those of something else that is run, too."""
        self.functions.update(other.functions)
        self.referred.update(other.referred)
        self.overwritten |= other.overwritten
        self.outside.update(other.outside)
        self.leads_out |= other.leads_out
        self.unresolved |= other.unresolved


class Implied:
    """The effects of function bodies, each found once."""

    def __init__(
        self,
        functions: Sequence[FoundFunction],
        sources: SourceTexts,
        definition: Callable[[Any], Any],
        bundled: Callable[[Any], bool],
        replaceable: frozenset[str] = frozenset(),
    ) -> None:
        """``definition``: the definition of a function, or the cursor itself where the program has none.
        ``replaceable``: names of functions of which another definition may be linked."""
        self._replaceable = replaceable
        self._sources = sources
        self.definition = definition
        self._bundled = bundled
        self._found: dict[int, Effects] = {}
        self._called: dict[int, Effects] = {}
        """By the function, what each call of it does whatever it is given."""
        self._evaluating = 0
        """How many variables, defaults and members are being looked into, one for another: until that is done, what is
        found of one may not be all."""
        self._applied: dict[str, dict[int, Any]] = {}
        """By name of a class, the functions that code out of sight may apply to its objects."""
        self._contained: dict[str, frozenset[str]] = {}
        self._methods: dict[str, list[Any]] = {}
        self._specials: dict[str, list[Any]] = {}
        self._destructors: dict[str, list[Any]] = {}
        """By name of a class, the destructors of those that derive from it."""
        self._free_operators: list[tuple[Any, str]] = []
        self._allocators: list[Any] = []
        """The global ``operator new`` and ``operator delete``."""
        self.operators: list[Any] = []
        """All operators and conversions in sight."""
        for f in functions:
            if f.defined:
                self._learn(f.cursor)

    def _learn(self, cursor: Any) -> None:
        name = cursor.spelling.partition("<")[0] if not cursor.spelling.startswith("operator") else cursor.spelling
        parent = cursor.semantic_parent
        operator = name.startswith("operator")
        if operator:
            self.operators.append(cursor)
        if parent is None or parent.kind not in CLASSES:
            if is_allocator(name):
                self._allocators.append(cursor)
            if operator or name in _SPECIAL_NAMES:
                self._free_operators.append((cursor, cursor.type.spelling))
            return
        self._methods.setdefault(name, []).append(cursor)
        owner = parent.spelling.partition("<")[0]
        special = cursor.kind in (CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR, CursorKind.CONVERSION_FUNCTION)
        if special or operator or name in _SPECIAL_NAMES:
            self._specials.setdefault(owner, []).append(cursor)
        if cursor.kind == CursorKind.DESTRUCTOR:
            for base in _bases(parent):
                self._destructors.setdefault(base, []).append(cursor)

    def of(self, cursor: Any) -> Effects:
        """The effects of the body of a definition."""
        key = identity(cursor)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = Effects()
            self._read(cursor, found)
        return found

    def _read(self, function: Any, to: Effects) -> None:
        if self._sources.is_broken(function):
            to.unresolved = to.leads_out = True
        if function.kind == CursorKind.FUNCTION_TEMPLATE:
            to.unresolved = True
        if function.kind == CursorKind.CONSTRUCTOR and function.semantic_parent is not None:
            self._members_made(function.semantic_parent.type, to)
        for at in cindex.within(function, _TELLING):
            self._one(at, to)

    def _one(self, at: Any, to: Effects) -> None:
        kind = at._kind_id
        if kind in _OBJECTS:
            self._destroyed(cindex.type_of(at), to)
        if kind == CursorKind.CALL_EXPR.value:
            self._call(at, to)
        elif kind in _REFERENCES:
            self._reference(at, to)
        elif kind == CursorKind.CXX_FOR_RANGE_STMT.value:
            for f in self._methods_named(WALKS):
                to.functions[identity(f)] = f
            for f, _ in self._free_operators:
                if f.spelling in WALKS:
                    to.functions[identity(f)] = f
        elif kind == CursorKind.CXX_NEW_EXPR.value:
            self._allocates(to)
            if _PLACED.match(self._sources.slice(*extent(at))):
                self._overwrites(cindex.type_of(at).get_pointee(), to)
        elif kind == CursorKind.CXX_DELETE_EXPR.value:
            self._allocates(to)
            for part in cindex.children(at):
                self._deleted(cindex.type_of(part).get_canonical().get_pointee(), to)
        elif kind == CursorKind.BINARY_OPERATOR.value and cindex.binary_operator(at) == "=":
            parts = cindex.children(at)
            if len(parts) == 2:
                self._overwrites(cindex.type_of(parts[0]), to)

    # --- calls

    def _call(self, at: Any, to: Effects) -> None:
        target = cindex.referenced(at)
        if target is None:
            parts = cindex.children(at)
            callee = parts[0] if parts else None
            named = callee is not None and any(
                c.kind in (CursorKind.OVERLOADED_DECL_REF, CursorKind.TEMPLATE_REF) for c in _with_parts(callee)
            )
            to.leads_out |= not named
            to.unresolved = True
            return
        if target.kind not in FUNCTIONS:
            to.leads_out = True
            return
        key = identity(target)
        called = self._called.get(key)
        if called is None:
            called = Effects()
            self._of_callee(target, called)
            if not self._evaluating:
                self._called[key] = called
        to.add(called)
        if self._bundled(target):
            self._library(at, cindex.children(at), target, to)
        elif target.spelling == "operator=":
            self._overwrites(cindex.type_of(at), to)

    def _of_callee(self, target: Any, to: Effects) -> None:
        """What a call of a function does, whatever it is given."""
        for parameter in cindex.children(target.canonical):
            if parameter.kind == CursorKind.PARM_DECL:
                self._evaluated(parameter, to)
        if target.is_virtual_method():
            for f in self._methods.get(target.spelling, ()):
                to.functions[identity(f)] = f
        if self._bundled(target):
            return
        defined = self.definition(target)
        if target.spelling == "operator=":
            owner = target.semantic_parent
            if owner is not None:
                self._overwrites(owner.type, to)
        if defined.is_definition():
            to.functions[identity(defined)] = defined
        if target.spelling in self._replaceable:
            to.leads_out = True
            to.outside[target.spelling] = None
        elif defined.is_definition():
            pass
        elif not _is_implicit(target):
            to.leads_out = True
            to.outside[target.spelling] = None
        if target.kind == CursorKind.CONSTRUCTOR and target.semantic_parent is not None:
            self._members_made(target.semantic_parent.type, to)
        elif _is_implicit(target) and target.semantic_parent is not None:
            self._all_of(target.semantic_parent.type, to)

    def _library(self, at: Any, parts: list[Any], target: Any, to: Effects) -> None:
        """A function of a bundled header may use and change the objects that it is handed."""
        self._allocates(to)
        owner = target.semantic_parent
        if owner is not None and owner.spelling in _WAITING | _HELD:
            to.leads_out = True
        reads = target.spelling in PURE_METHODS or target.spelling in CONTAINER_ACCESS or target.is_const_method()
        for index, part in enumerate(parts):
            given = part
            while given._kind_id in _WRAPPING or _is_method(given):
                inner = [c for c in cindex.children(given) if c.kind.is_expression()]
                ty = cindex.type_of(given)
                self._all_of(ty, to)
                if not (index == 0 and (reads or owner is None)):
                    self._handed(ty, to)
                if not inner:
                    break
                given = inner[0]
            ty = cindex.type_of(given)
            self._all_of(ty, to)
            if not (index == 0 and reads):
                self._handed(ty, to)

    def _allocates(self, to: Effects) -> None:
        """Memory is asked for or given back: by functions of the program, if it has some."""
        for f in self._allocators:
            to.functions[identity(f)] = f

    def _handed(self, ty: Any, to: Effects) -> None:
        ty = ty.get_canonical()
        while ty.kind in (TypeKind.POINTER, TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
            ty = ty.get_pointee()
        if not ty.is_const_qualified():
            self._overwrites(ty, to)

    def _reference(self, at: Any, to: Effects) -> None:
        target = cindex.referenced(at)
        if target is not None and target.kind in FUNCTIONS:
            self._named(target, to)
        if target is None or target._kind_id not in _STATE:
            return
        if _holds_code(cindex.type_of(at).get_canonical()):
            to.leads_out = True
        if target.kind == CursorKind.VAR_DECL:
            around = target.semantic_parent
            if around is None or around.kind not in FUNCTIONS:
                self._evaluated(target.get_definition() or target, to)

    def _named(self, target: Any, to: Effects) -> None:
        defined = self.definition(target)
        if defined.is_definition():
            to.referred[identity(defined)] = defined

    def _evaluated(self, declared: Any, to: Effects) -> None:
        """The default of a parameter or member, or what a variable is initialised with at its first use."""
        key = identity(declared)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = Effects()
            self._evaluating += 1
            for part in cindex.children(declared):
                if part.kind.is_expression() or part.kind.is_unexposed():
                    for at in cindex.within(part, _TELLING):
                        self._one(at, found)
            self._evaluating -= 1
        to.add(found)

    # --- objects

    def _members_made(self, ty: Any, to: Effects) -> None:
        """The bases and members of an object are constructed, those with a default from it."""
        declaration = ty.get_canonical().get_declaration()
        if self._bundled(declaration):
            return
        for part in _parts_of(ty):
            for f in self._specials.get(_name(part), ()):
                if f.kind == CursorKind.CONSTRUCTOR:
                    to.functions[identity(f)] = f
            self._members_made(part, to)
        for member in cindex.class_members(declaration):
            if member.kind == CursorKind.FIELD_DECL:
                self._evaluated(member, to)

    def _destroyed(self, ty: Any, to: Effects) -> None:
        """An object of a type is destroyed at some time."""
        for name in self._names_in(ty):
            for f in self._specials.get(name, ()):
                if f.kind == CursorKind.DESTRUCTOR:
                    to.functions[identity(f)] = f

    def _deleted(self, ty: Any, to: Effects) -> None:
        self._destroyed(ty, to)
        for name in self._names_in(ty):
            for f in self._destructors.get(name, ()):
                to.functions[identity(f)] = f

    def _all_of(self, ty: Any, to: Effects) -> None:
        """Code out of sight may apply every operator to objects of a type, copy and destroy them."""
        ty = ty.get_canonical()
        while ty.kind in (TypeKind.POINTER, TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
            ty = ty.get_pointee().get_canonical()
        for name in self._names_in(ty):
            if name not in self._applied:
                found = [*self._specials.get(name, ()), *self._destructors.get(name, ())]
                found += [f for f, shown in self._free_operators if re.search(rf"\b{re.escape(name)}\b", shown)]
                self._applied[name] = {identity(f): f for f in found}
            to.functions.update(self._applied[name])

    def _overwrites(self, ty: Any, to: Effects) -> None:
        to.overwritten |= self._names_in(ty)

    def _methods_named(self, names: frozenset[str]) -> Iterator[Any]:
        for name in sorted(names):
            yield from self._methods.get(name, ())

    def _names_in(self, ty: Any) -> frozenset[str]:
        """The classes whose objects lie in an object of a type: itself, bases, members, elements of containers."""
        ty = ty.get_canonical()
        while ty.kind in (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY):
            ty = ty.element_type.get_canonical()
        if ty.kind != TypeKind.RECORD:
            return frozenset()
        key = ty.spelling.removeprefix("const ")
        found = self._contained.get(key)
        if found is None:
            self._contained[key] = frozenset()
            names = {_name(ty)}
            for part in _parts_of(ty):
                names |= self._names_in(part)
            found = self._contained[key] = frozenset(names)
        return found


def _parts_of(ty: Any) -> list[Any]:
    """The types of the bases and members of a class, and of the arguments of a template."""
    ty = ty.get_canonical()
    declaration = ty.get_declaration()
    found = [member.type for member in ty.get_fields()]
    for member in cindex.class_members(declaration):
        if member.kind == CursorKind.CXX_BASE_SPECIFIER:
            found.append(member.type)
    found += [ty.get_template_argument_type(n) for n in range(max(0, ty.get_num_template_arguments()))]
    return [part for part in found if part.get_canonical().kind in _OF_OBJECTS]


_OF_OBJECTS = frozenset({TypeKind.RECORD, TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY})


def _is_method(at: Any) -> bool:
    """Whether an expression is ``object.method``: the method is applied to the object."""
    if at._kind_id != CursorKind.MEMBER_REF_EXPR.value:
        return False
    target = cindex.referenced(at)
    return target is None or target.kind in FUNCTIONS


def _name(ty: Any) -> str:
    return ty.get_canonical().get_declaration().spelling.partition("<")[0]


def _bases(record: Any) -> set[str]:
    found: set[str] = set()
    for member in cindex.class_members(record):
        if member.kind == CursorKind.CXX_BASE_SPECIFIER:
            base = member.type.get_canonical().get_declaration()
            found |= {base.spelling.partition("<")[0], *_bases(base)}
    return found


def _holds_code(ty: Any) -> bool:
    """Whether a variable of a type may hold functions."""
    while ty.kind in (TypeKind.POINTER, TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE, TypeKind.CONSTANTARRAY):
        ty = (ty.element_type if ty.kind == TypeKind.CONSTANTARRAY else ty.get_pointee()).get_canonical()
        if ty.kind in (TypeKind.FUNCTIONPROTO, TypeKind.FUNCTIONNOPROTO):
            return True
    if ty.kind == TypeKind.MEMBERPOINTER:
        return True
    return ty.kind == TypeKind.RECORD and _name(ty) in _HELD


def _is_implicit(target: Any) -> bool:
    """Whether the compiler writes a member function itself."""
    parent = target.semantic_parent
    if parent is None or parent.kind not in CLASSES:
        return False
    here, there = target.location, parent.location
    return bool(target.is_default_method()) or (here.offset == there.offset and here.line == there.line)


def _with_parts(cursor: Any) -> Iterator[Any]:
    yield cursor
    for part in cindex.children(cursor):
        yield from _with_parts(part)
