"""Variables that have to last as long as code that something leads to them: a pointer, a reference, a function that
has one.

Takes two pieces of a function, of which the first is executed before the second, and variables that are declared in the
first one; gives those that the second may be led to, whatever it names.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from analyzers.frontend.gaps import FunctionTree, Statement
from quickfix.variables import Range, uses_in

LASTING: Final = re.compile(rb"\b(?:__shared__|static|extern)\b")
"""In the declaration of what does not end with the code around it."""


def ending_in(function: FunctionTree, statement: Statement) -> set[int]:
    """The variables of a statement that end with the code around it, those aside that refer to other variables."""
    bound = {d.at for d in statement.declares or () if d.bound is not None}
    uses = uses_in(function, (statement.start, statement.end))
    return {u.variable for u in uses if u.kind == "declared" and u.at not in bound} if not statement.bodies else set()


def led_to(function: FunctionTree, ending: Collection[int], front: Range, rest: Range) -> set[int]:
    """Of the variables `ending`, those that something in `front` has got hold of and that something in `rest` may lead
    to: `front` stores a pointer that `rest` comes to, or hands to a function, or assigns to, what leads to pointers."""
    uses = list(uses_in(function, front))
    held = {u.variable for u in uses if u.held} & set(ending)
    if not held:
        return held
    own = {u.variable for u in function.uses if u.kind == "declared"}
    later = list(uses_in(function, rest))
    named = {u.variable for u in later} - {u.variable for u in later if u.kind == "declared"}
    leads_on = any(u.leads == "anywhere" and u.variable in named for u in later)
    for use in uses:
        stored = use.kind != "read" and use.leads != "nowhere"
        known_elsewhere = use.kind != "declared" and (leads_on or use.variable not in own)
        if stored and (known_elsewhere or use.variable in named):
            return held
        if use.reached and use.leads == "anywhere" and use.variable not in ending:
            return held
    return set()
