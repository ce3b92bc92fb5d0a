"""How often a loop goes round whose test is only about the number of the iteration: `for (i = 0; i < 3; ++i)`."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from analyzers.ir.evaluate import evaluate_vector, is_atom
from analyzers.ir.expr import Expr, symbols, walk

MAX_TRIPS: Final = 64
"""Of a loop that goes round more often the number is not told."""

_NUMBERS: Final = np.arange(MAX_TRIPS + 1, dtype=np.int64)


@lru_cache(maxsize=4096)
def constant_trips(test: Expr, counter: Expr) -> int | None:
    """The number of the first iteration, counted from 0, whose ``test`` fails; None where something else has a part in
    that."""
    if counter not in symbols(test) or any(node is not counter and is_atom(node) for node in walk((test,))):
        return None
    held, defined = evaluate_vector(test, {counter: _NUMBERS})
    fails = np.flatnonzero(~np.broadcast_to(held, _NUMBERS.shape))
    if not len(fails) or not np.broadcast_to(defined, _NUMBERS.shape)[: fails[0] + 1].all():
        return None
    return int(fails[0])
