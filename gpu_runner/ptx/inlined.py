"""Where code that a compiler has put into a function was called.

Debug builds say nothing of it: the instructions of an inlined function have its place and no other. They stand behind
those of the line with the call. So an instruction from another file than the function's own is taken to come from a
call in the last line of the function's own file before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from analyzers.model import marks_in
from gpu_runner.ptx import model
from gpu_runner.ptx.logged import flat


def with_calls(module: model.Module) -> model.Module:
    """The module in which such places say where they were called, as those of other builds do."""
    paths = {file.index: marks_in(file.name)[0] for file in module.files}
    if len(set(paths.values())) < 2:
        return module
    functions = tuple(
        function if function.body is None else replace(function, body=tuple(_Called(paths, function.body).body))
        for function in module.functions
    )
    return replace(module, functions=functions)


class _Called:
    def __init__(self, paths: Mapping[int, str], body: Iterable[model.Statement]) -> None:
        self._paths = paths
        located = (s.location for s in flat(body) if isinstance(s, model.Instruction | model.Call))
        first = next((location for location in located if location is not None), None)
        self._own = paths.get(first.position.file) if first is not None else None
        self._line: model.Position | None = None
        self.body = self._statements(body)

    def _statements(self, statements: Iterable[model.Statement]) -> Iterator[model.Statement]:
        for statement in statements:
            if isinstance(statement, model.Scope):
                yield replace(statement, body=tuple(self._statements(statement.body)))
            elif isinstance(statement, model.Instruction | model.Call) and statement.location is not None:
                yield self._placed(statement, statement.location)
            else:
                yield statement

    def _placed(
        self, statement: model.Instruction | model.Call, location: model.Location
    ) -> model.Instruction | model.Call:
        if location.inlined_at is not None:
            return statement
        if self._paths.get(location.position.file) == self._own:
            self._line = location.position
            return statement
        return (
            statement if self._line is None else replace(statement, location=replace(location, inlined_at=self._line))
        )
