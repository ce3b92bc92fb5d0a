"""The modules that register rules with `context`.

The rule for a node is looked up there, so all of these must have been imported before the first node is lowered.
"""

from analyzers.frontend.lowering import (
    aggregates,
    atomics,
    barriers,
    branches,
    calls,
    class_values,
    conditionals,
    construction,
    conversions,
    copies,
    designators,
    effects,
    exits,
    intrinsics,
    labels,
    literals,
    loops,
    memory,
    operators,
    statements,
    switches,
    variables,
)

__all__ = [
    "aggregates",
    "atomics",
    "barriers",
    "branches",
    "calls",
    "class_values",
    "conditionals",
    "construction",
    "conversions",
    "copies",
    "designators",
    "effects",
    "exits",
    "intrinsics",
    "labels",
    "literals",
    "loops",
    "memory",
    "operators",
    "statements",
    "switches",
    "variables",
]
