"""Names of functions as compilers write them (Itanium C++ ABI), no further than the function's own name."""

from __future__ import annotations

import re


def base_name(mangled: str) -> str:
    """The function's own name in an Itanium mangled one: ``k`` of ``_ZN2ns1kIfEEvPT_``."""
    match = re.match(r"_Z(N)?K?", mangled)
    if match is None:
        return mangled
    at, name = match.end(), ""
    while (length := re.match(r"L?(\d+)", mangled[at:])) is not None:
        at += length.end()
        name = mangled[at : at + int(length[1])]
        at += int(length[1])
        if match[1] is None:
            break
    return name
