"""Which functions lead to a launch, as clang resolves what their code refers to.

The search for launches goes by names: a function that mentions a class counts as a caller of its constructors. Where
clang resolves every reference in a body, the body itself says more: what leads to no launch need not be run. Takes
cursors of definitions, of instances for templates. An answer of yes may be wrong, one of no is not, for the references
that the body itself makes: destructors that run at the end of scopes are not among them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from analyzers.frontend import cindex
from analyzers.frontend.cindex import CursorKind
from analyzers.hostguide.declared import FUNCTIONS, FoundFunction, called_as
from analyzers.hostguide.left_out import LAUNCH_TEXT
from analyzers.hostguide.macros import Macros
from analyzers.hostguide.source import SourceTexts
from analyzers.hostguide.tree import identity, place_of

_CALL = CursorKind.CALL_EXPR.value
_REFERENCES = frozenset({CursorKind.DECL_REF_EXPR.value, CursorKind.MEMBER_REF_EXPR.value})
_OVERLOADED = CursorKind.OVERLOADED_DECL_REF.value
_WORD = re.compile(rb"[A-Za-z_]\w*")
_FUNCTIONS = frozenset(k.value for k in FUNCTIONS)


@dataclass(slots=True)
class _Body:
    """What one body refers to."""

    functions: dict[int, Any] = field(default_factory=dict[int, Any])
    """The definitions in sight, by identity."""
    leads: bool = False
    """Whether it launches itself, or what it calls is not known."""


class Leading:
    """The question for all functions of a program; each body is read once."""

    def __init__(
        self,
        sources: SourceTexts,
        definition: Callable[[Any], Any],
        leaves_out_name: Callable[[str], bool],
        named_in: Callable[[Any], Iterable[Any] | None],
        may_be_wanted: Callable[[str], bool],
    ) -> None:
        """``definition``: the definition of a function, or the cursor itself where the program has none.
        ``leaves_out_name``: whether launches of a kernel of this name do not matter. ``named_in``: of the functions
        that may lead to a launch, the definitions that words in a function's text may mean, None where that is not
        known; asked where clang does not say what they mean. ``may_be_wanted``: whether a function of this name may be
        one of them."""
        self._sources = sources
        self._definition = definition
        self._leaves_out_name = leaves_out_name
        self._named_in = named_in
        self._may_be_wanted = may_be_wanted
        self._bodies: dict[int, _Body] = {}
        self._kernels: dict[int, bool] = {}
        self._known: dict[int, bool] = {}

    def __call__(self, function: Any) -> bool:
        """Whether running a function, the cursor of its definition, may come to a launch."""
        key = identity(function)
        if key not in self._known:
            self._known[key] = self._reaches(function)
        return self._known[key]

    def _reaches(self, function: Any) -> bool:
        seen = {identity(function)}
        waiting = [function]
        while waiting:
            at = waiting.pop()
            body = self._body(at)
            if body.leads:
                return True
            for key, called in body.functions.items():
                if key in seen:
                    continue
                known = self._known.get(key)
                if known:
                    return True
                seen.add(key)
                if known is None:
                    waiting.append(called)
        # What a function reaches that leads nowhere leads nowhere either.
        self._known.update(dict.fromkeys(seen, False))
        return False

    def _body(self, function: Any) -> _Body:
        key = identity(function)
        found = self._bodies.get(key)
        if found is None:
            found = self._bodies[key] = _Body()
            if function._kind_id != CursorKind.FUNCTION_TEMPLATE.value and not self._sources.is_broken(function):
                self._read(function, found)
            else:
                named = self._named_in(function)
                found.leads = named is None
                found.functions = {identity(f): f for f in named or ()}
        return found

    def _read(self, function: Any, to: _Body) -> None:
        waiting: list[Any] = [function]
        while waiting and not to.leads:
            at = waiting.pop()
            kind = at._kind_id
            if kind == _OVERLOADED:
                to.leads = True
            elif kind == _CALL or kind in _REFERENCES:
                self._reference(cindex.referenced(at), kind == _CALL, to)
            waiting += cindex.children(at)

    def _reference(self, target: Any, called: bool, to: _Body) -> None:
        if target is None:
            to.leads = True  # depends on template arguments, or is called through a pointer
        elif target._kind_id not in _FUNCTIONS:
            to.leads = called
        elif self._is_kernel(target):
            to.leads = not self._leaves_out_name(target.spelling)
        elif target.is_virtual_method() or LAUNCH_TEXT.fullmatch(target.spelling.encode()):
            to.leads = True
        else:
            defined = self._definition(target)
            if defined.is_definition():
                to.functions[identity(defined)] = defined
            elif target.spelling == "operator()" or self._may_be_wanted(target.spelling):
                to.leads = True  # of an object that may hold any code; or defined where this unit does not see it

    def _is_kernel(self, target: Any) -> bool:
        key = identity(target)
        if key not in self._kernels:
            attributes = (c._kind_id for c in cindex.children(target))
            self._kernels[key] = CursorKind.CUDAGLOBAL_ATTR.value in attributes
        return self._kernels[key]


class Words:
    """Of the functions that may lead to a launch by their names: which of them the words of another's text may mean."""

    def __init__(
        self,
        texts: Mapping[str, bytes],
        macros: Macros,
        wanted: Iterable[FoundFunction],
        copies: Mapping[tuple[str, int], Sequence[FoundFunction]],
    ) -> None:
        """``wanted``: one copy of each, those that launch themselves among them."""
        self._texts = texts
        self._macros = macros
        self._copies = copies
        self._by_place = {(f.path, f.named_at): f for f in wanted}
        self._by_name: dict[bytes, list[FoundFunction]] = {}
        for f in self._by_place.values():
            self._by_name.setdefault(called_as(f).encode(), []).append(f)

    def may_be_wanted(self, name: str) -> bool:
        return name.partition("<")[0].lstrip("~").encode() in self._by_name or name.startswith("operator")

    def named_in(self, function: Any) -> list[Any] | None:
        """The definitions; None where the text launches something, or names a template, which may be any instance."""
        f = self._by_place.get(place_of(function)[1:])
        if f is None:
            return []
        found: dict[int, Any] = {}
        waiting = [(f.path, f.start, f.end)]
        seen = set(waiting)
        while waiting:
            path, start, end = waiting.pop()
            text = self._texts[path]
            if LAUNCH_TEXT.search(text, start, end):
                return None
            for word in set(_WORD.findall(text, start, end)):
                for g in self._by_name.get(word, ()):
                    if g.template:
                        return None
                    found.update((identity(c.cursor), c.cursor) for c in self._copies[g.path, g.start])
                for extent in self._definitions.get(word.decode(), ()):
                    if extent not in seen:
                        seen.add(extent)
                        waiting.append(extent)
        return list(found.values())

    @cached_property
    def _definitions(self) -> dict[str, list[tuple[str, int, int]]]:
        return self._macros.by_name()
