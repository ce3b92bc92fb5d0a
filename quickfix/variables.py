"""What becomes of the variables that a piece of code mentions, as the syntax tree tells (`analyzers.frontend.uses`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from analyzers.frontend.gaps import Body, Declared, FunctionTree, Statement
from analyzers.frontend.uses import Use

Range = tuple[int, int]


def statements_of(body: Body) -> Iterator[Statement]:
    """The statements of a body and of all bodies in it."""
    for statement in body.statements:
        yield statement
        for inner in statement.bodies:
            yield from statements_of(inner)


def declarations(function: FunctionTree) -> Iterator[Declared]:
    """Of variables in a function, in statements of their own."""
    return (declared for s in statements_of(function.body) for declared in s.declares or ())


def scope_of(body: Body, at: int) -> Body:
    """The innermost of a body and those in it that a place is in."""
    inner = (b for s in body.statements for b in s.bodies if b.start <= at < b.end)
    found = next(inner, None)
    return body if found is None else scope_of(found, at)


def uses_in(function: FunctionTree, *ranges: Range) -> Iterator[Use]:
    return (use for use in function.uses if any(start <= use.at < end for start, end in ranges))


def mentioned(function: FunctionTree, *ranges: Range) -> set[int]:
    """The variables that code mentions, those that it declares itself aside."""
    found = list(uses_in(function, *ranges))
    return {u.variable for u in found} - {u.variable for u in found if u.kind == "declared"}


def hidden(function: FunctionTree, variables: Collection[int], *ranges: Range) -> bool:
    """Whether code declares others of the names of the variables: what is written there by these names means those."""
    names = {u.name for u in function.uses if u.variable in variables}
    declared = (u for u in uses_in(function, *ranges) if u.kind == "declared")
    return any(u.name in names and u.variable not in variables for u in declared)


def stay(function: FunctionTree, variables: Iterable[int], *ranges: Range) -> bool:
    """Whether code changes none of the variables: not by name, and not by what may have got hold of one anywhere in
    the function."""
    asked = set(variables)
    lent = any(u.kind == "lent" and u.variable in asked for u in function.uses)
    return not lent and not any(u.kind == "changed" and u.variable in asked for u in uses_in(function, *ranges))


def others_of_the_name(function: FunctionTree, name: str, variable: int, *ranges: Range) -> bool:
    """Whether code means something else by the name of a variable; what a macro says included."""
    return any(u.name == name and u.variable != variable for u in uses_in(function, *ranges))
