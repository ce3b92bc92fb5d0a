"""Variables that have to last as long as code that something leads to them: a pointer, a reference, a function that
has one.

Takes two pieces of a function, of which the first is executed before the second, and variables that are declared in the
first one; gives those that the second may be led to, whatever it names.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from analyzers.frontend.gaps import FunctionTree
from quickfix.variables import Range, uses_in

LASTING: Final = re.compile(rb"(?:__shared__|static|extern)\b")
"""How declarations begin of what does not end with the code around them."""


def led_to(function: FunctionTree, ending: Collection[int], front: Range, rest: Range) -> set[int]:
    """Of the variables `ending`, those that something in `front` has got hold of and that something in `rest` may lead
    to: `front` stores where to, or hands it to what keeps it."""
    uses = list(uses_in(function, front))
    held = {u.variable for u in uses if u.held} & set(ending)
    if not held:
        return held
    own = {u.variable for u in function.uses if u.kind == "declared"}
    later = list(uses_in(function, rest))
    named, leads_on = {u.variable for u in later}, any(u.leads == "anywhere" for u in later)
    for use in uses:
        stored = use.kind != "read" and use.leads != "nowhere"
        if stored and (leads_on or use.variable in named or use.variable not in own):
            return held
        if use.leads == "anywhere" and use.variable not in ending:
            return held
    return set()
