"""The settings that hold for each folder, from all layers, and what is wrong with them.

Loads projects (`workspace.project`) in threads, again when a layer or a file has changed, and reports each problem once
for as long as it lasts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from cuda_lsp import config
from cuda_lsp.adoption.baseline import Baseline
from cuda_lsp.config import Layer, Problem, Settings
from cuda_lsp.workspace import project
from cuda_lsp.workspace.project import Project


class Projects:
    """Of one session. `tops`: the workspace folders; `on_problem` gets each new problem, `on_settings` the settings of
    the first of them."""

    def __init__(
        self,
        tops: Sequence[str],
        initial: Layer,
        on_problem: Callable[[Problem], None],
        on_settings: Callable[[Settings], None],
    ) -> None:
        self.tops = tuple(tops)
        self._layers: tuple[Layer, ...] = (initial,)
        self._on_problem = on_problem
        self._on_settings = on_settings
        self._known: dict[str, Project] = {}
        self._reported: set[Problem] = set()

    def top_of(self, path: str) -> str | None:
        """The workspace folder in which a file or folder lies, the innermost of several."""
        around = [top for top in self.tops if Path(path).is_relative_to(top)]
        return max(around, key=len, default=None)

    @property
    def folders(self) -> Iterable[str]:
        """The folders that were asked for so far."""
        return tuple(self._known)

    def set_client_layer(self, value: object) -> bool:
        """Take over what the client answered; gives whether that is something new."""
        layers = (self._layers[0], Layer("client settings", config.from_client(value)))
        changed = layers != self._layers
        self._layers = layers
        return changed

    def settings(self, folder: str) -> Settings | None:
        """What is known to hold in a folder now."""
        known = self._known.get(folder)
        return known.settings if known is not None else None

    def baseline(self, folder: str) -> Baseline | None:
        """The findings that are known in a folder, else those that are known in the workspace."""
        top = self.top_of(folder) or next(iter(self.tops), "")
        known = self._known.get(folder) or self._known.get(top)
        return known.baseline if known is not None else None

    @property
    def baselines(self) -> frozenset[str]:
        """The paths of all baselines."""
        return frozenset(known.baseline.path for known in self._known.values() if known.baseline is not None)

    async def of_folder(self, folder: str) -> Project:
        """The project of a folder, as its files are now."""
        known, layers, top = self._known.get(folder), self._layers, self.top_of(folder)
        if known is not None and known.top == top and await asyncio.to_thread(known.is_current, layers):
            return known
        loaded = await asyncio.to_thread(project.load, folder, top, layers)
        if layers is not self._layers or top != self.top_of(folder):
            return await self.of_folder(folder)
        self._known[folder] = loaded
        self._report()
        if not self.tops or folder == self.tops[0]:
            self._on_settings(loaded.settings)
        return loaded

    def _report(self) -> None:
        problems = {problem for known in self._known.values() for problem in known.problems}
        for problem in sorted(problems - self._reported, key=str):
            self._on_problem(problem)
        self._reported = problems
