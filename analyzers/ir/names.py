"""Names of kernels as people write them."""

from __future__ import annotations

import re
from typing import Final

_AROUND_SIGNS: Final = re.compile(r"\s*([^\w\s])\s*")
_MANGLED: Final = re.compile(r"_Z(N)?")
_LENGTH: Final = re.compile(r"L?([1-9]\d*)")


def is_called(wanted: str, name: str, parameters: str = "") -> bool:
    """Whether `wanted` means the kernel with this name, which has all its namespaces and template arguments, and the
    types of its parameters, separated by commas.

    Blanks do not count. Namespaces may be left out from the outside on, unless `wanted` begins with ``::``, template
    arguments and parameters altogether: ``k``, ``ns::k<4>``, ``k(int*)``."""
    head, arguments, types = _split(wanted)
    whole, instance, _ = _split(name)
    if (arguments and arguments != instance) or (types and types != f"({_close(parameters)})"):
        return False
    if head.startswith("::"):
        return whole == head[2:]
    return whole == head or whole.endswith(f"::{head}")


def base_word(wanted: str) -> str:
    """The name without namespaces, template arguments and parameters, also of one as the linker sees it (Itanium)."""
    return _mangled_word(wanted) or _split(wanted)[0].rpartition("::")[2]


def _mangled_word(mangled: str) -> str:
    """``k`` of ``_ZN2ns1kIfEEvPT_``; empty where that is no such name."""
    begin = _MANGLED.match(mangled)
    word = ""
    at = begin.end() if begin is not None else len(mangled)
    while (length := _LENGTH.match(mangled, at)) is not None:
        at = length.end() + int(length[1])
        word = mangled[length.end() : at]
        if begin is None or begin[1] is None:
            break
    return word


def _split(name: str) -> tuple[str, str, str]:
    close = _close(name)
    start = close.rfind("(") if close.endswith(")") else len(close)
    head, less, arguments = close[:start].partition("<")
    return head, less + arguments, close[start:]


def _close(name: str) -> str:
    return " ".join(_AROUND_SIGNS.sub(r"\1", name).split())
