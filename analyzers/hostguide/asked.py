"""Which launches matter when only some kernels were asked for.

A launch is left out only when it plainly names another kernel; one through a variable, a macro or a call stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from analyzers.hostguide.declared import FoundFunction
from analyzers.ir.names import base_word

_FARTHEST = 200
"""Bytes between a launch and the name of its kernel, with template arguments, and between a function's name and its
attributes."""
_CALLEE = re.compile(rb"([A-Za-z_]\w*)\s*(?:<(?:[^<>;{}]|<[^<>;{}]*>)*>)?\s*\Z")


class Asked:
    """The kernels of a unit that nobody asked for."""

    def __init__(self, kernels: Sequence[str], functions: Iterable[FoundFunction], texts: Mapping[str, bytes]) -> None:
        """``kernels``: names, with or without scopes and template arguments; none: all."""
        wanted = {base_word(name) for name in kernels}
        known = {f.name for f in functions if _is_kernel(f, texts[f.path])} if wanted else set[str]()
        self._others = frozenset(known - wanted)

    def leaves_out(self, text: bytes, at: int) -> bool:
        """Whether ``<<<`` at an offset launches another kernel."""
        found = _CALLEE.search(text, max(0, at - _FARTHEST), at) if self._others else None
        return found is not None and found[1].decode() in self._others

    def leaves_out_name(self, callee: str) -> bool:
        """Whether a launched expression names another kernel."""
        return base_word(callee) in self._others


def _is_kernel(f: FoundFunction, text: bytes) -> bool:
    """Whether a function says of itself that it is a kernel."""
    return b"__global__" in re.split(rb"[;}]", text[max(0, f.start - _FARTHEST) : f.named_at])[-1]
