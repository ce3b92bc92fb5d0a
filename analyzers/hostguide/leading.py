"""Which functions can come to a launch that matters, as the calls in their trees say.

`launches` gathers the functions that lead to launches by their names, which in a large program are many more than do:
a name such as ``Resize`` or ``Init`` stands for functions of many classes. A function that calls no launch, however far
its calls are followed, need not be run for the sake of one. Nothing rests on the answer: a call that is not followed
leaves the function that it names one which may be called with anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from analyzers.hostguide.build import TreeBuilder
from analyzers.hostguide.calls import LAUNCH_CALLS
from analyzers.hostguide.declared import FUNCTIONS
from analyzers.hostguide.tree import HostFunction, Node

_UNRESOLVED = frozenset({"unknown", "lost", "call", "method"})


class Leading:
    """The calls of a program's functions, found as they are asked for."""

    def __init__(
        self,
        builder: TreeBuilder,
        bundled: Callable[[Any], bool],
        matters: Callable[[Node], bool],
        text_of: Callable[[Node], bytes],
        names: re.Pattern[bytes],
    ) -> None:
        """``matters``: whether a launch, or a call of one of the runtime's functions that launch, may be of a kernel
        that was asked for. ``text_of``: the source of code that the trees do not resolve, which leads to a launch where
        ``names``, those of functions that may, finds something in it."""
        self._builder = builder
        self._bundled = bundled
        self._matters = matters
        self._text_of = text_of
        self._names = names
        self._callers: dict[HostFunction, list[HostFunction]] = {}
        """Of each function that was looked at, those that call it."""
        self._leading: set[HostFunction] = set()

    def leads(self, function: HostFunction) -> bool:
        """Whether a function can come to a launch that matters."""
        waiting = [function] if function not in self._callers else []
        self._callers.setdefault(function, [])
        while waiting:
            caller = waiting.pop()
            for callee in self._called(caller):
                if callee not in self._callers:
                    self._callers[callee] = []
                    waiting.append(callee)
                self._callers[callee].append(caller)
                if callee in self._leading:
                    self._lead(caller)
        return function in self._leading

    def _lead(self, function: HostFunction) -> None:
        """A function comes to a launch, and so do those that call it."""
        waiting = [function]
        while waiting:
            found = waiting.pop()
            if found not in self._leading:
                self._leading.add(found)
                waiting += self._callers.get(found, ())

    def _called(self, function: HostFunction) -> Iterator[HostFunction]:
        """The functions that one names; a launch in it is taken in."""
        waiting = [function.body, *function.bases, *(value for _, _, value in function.initialisers)]
        while waiting:
            node = waiting.pop()
            target: Any = node.value if node.op in ("call", "method", "construct", "fn") else None
            if node.op == "launch":
                if self._matters(node):
                    self._lead(function)
            elif target is not None and target.kind in FUNCTIONS:
                if target.spelling in LAUNCH_CALLS:
                    if self._matters(node):
                        self._lead(function)
                elif not self._bundled(target):
                    callee = self._builder.function(target)
                    if callee is not None:
                        yield callee
            elif node.op == "lambda":
                inner = self._builder.lambda_body(node.cursor)
                if inner is not None:
                    yield inner
            elif node.op in _UNRESOLVED and self._names.search(self._text_of(node)):
                self._lead(function)
            waiting += [part for part in node.args if part is not None]
