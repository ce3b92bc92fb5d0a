"""What the searches for repairs ask the engine, and how much they may ask.

Takes questions about edited texts, gives the engine's analyses; counts the work for one repair and for all of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from analyzers.analysed import UnitAnalysis
from analyzers.engine import Engine
from analyzers.ir.events import AccessEvent
from analyzers.model import CheckOptions
from analyzers.requests import CancelledError, CheckRequest
from analyzers.solve.effort import Effort

SEARCH_EFFORT: Final = 40_000
"""Units of work (`analyzers.solve.effort`) for the search for one repair."""
_TRIAL_EFFORT: Final = 200
"""For taking in one edited text."""

Stop = Callable[[], bool]


class SearchSpentError(Exception):
    """A search for repairs has done all the work that it may; the text says so to the user."""


@dataclass(frozen=True, slots=True)
class Oracle:
    """An engine, asked within limits. Whatever asks raises `CancelledError` when `stop` answers true, and
    ParseFailure."""

    engine: Engine
    stop: Stop
    search: Effort
    """For the repair at hand."""
    all: Effort
    """For all repairs of the file."""

    @staticmethod
    def of(engine: Engine, stop: Stop, options: CheckOptions) -> Oracle:
        """With nothing spent yet."""
        return Oracle(engine, stop, Effort(SEARCH_EFFORT), Effort(options.repair_effort))

    def begin_search(self) -> None:
        """What is asked from here on is for another repair."""
        self.search.spent = 0

    def begin_judging(self) -> None:
        """What is asked from here on is whether what was found goes together: it has the work of one search, whatever
        is left."""
        self.begin_search()
        self.all.spent = min(self.all.spent, self.all.limit - SEARCH_EFFORT)

    def charge(self, units: int) -> None:
        """Count what was asked otherwise."""
        for effort in (self.search, self.all):
            effort.charge(units)

    def charge_trial(self, spent: int = 0) -> None:
        """Count the taking in of a text, and what was spent on it beside that."""
        self.charge(_TRIAL_EFFORT + spent)

    def refuse_when_spent(self) -> None:
        """Raise `SearchSpentError` when there was too much."""
        if self.search.is_spent:
            raise SearchSpentError("The search for a repair was given up: its share of work is done.")
        if self.all.is_spent:
            further = "" if self.all.limit >= CheckOptions().repair_effort else " `cuda-lsp fix` looks further."
            raise SearchSpentError(f"The search for a repair was given up: the file's share of work is done.{further}")

    def poll(self) -> None:
        """Raise `CancelledError` when stopped."""
        if self.stop():
            raise CancelledError

    def asked(
        self,
        request: CheckRequest,
        names: Sequence[str],
        *,
        every_pair: bool = False,
        redundancy: bool = False,
        for_device: bool = False,
    ) -> UnitAnalysis:
        """The kernels with these names in an edited text, decided (see `Engine.retry`)."""
        options = replace(of_trial(request.options), redundancy=redundancy, every_pair=every_pair)
        before = self.engine.spent
        analysis = self.engine.retry(replace(request, options=options), names, self.stop, for_device=for_device)
        self.charge_trial(self.engine.spent - before)
        return replace(analysis, request=request)

    def beside(self) -> Oracle:
        """The same for other texts of the units, which are checked beside those that this one's engine has."""
        return replace(self, engine=self.engine.beside())

    def opened(self, request: CheckRequest, names: Sequence[str]) -> UnitAnalysis:
        """The kernels with these names in a text with other launches, decided; edits of it may be `asked` about."""
        options = replace(of_trial(request.options), kernels=tuple(names))
        request, before = replace(request, options=options), self.engine.spent
        analysis = self.engine.inspect(request, names, self.stop)
        self.charge_trial(self.engine.spent - before)
        return replace(analysis, request=request)

    def first_look(self, request: CheckRequest, names: Sequence[str]) -> tuple[UnitAnalysis | None, int]:
        """The same of part of the text (see `Engine.first_look`), with what that took, which is not charged."""
        before = self.engine.spent
        request = replace(request, options=of_trial(request.options))
        return self.engine.first_look(request, names, self.stop), self.engine.spent - before

    def drafted(self, request: CheckRequest, names: Sequence[str], *, for_device: bool = False) -> UnitAnalysis:
        """The same with nothing decided."""
        request = replace(request, options=of_trial(request.options))
        analysis = self.engine.drafted(request, names, self.stop, for_device=for_device)
        self.charge_trial()
        return analysis

    def decided(self, draft: UnitAnalysis) -> UnitAnalysis:
        """What was drafted, decided."""
        before = self.engine.spent
        analysis = self.engine.decided(draft, self.stop)
        self.charge_trial(self.engine.spent - before)
        return analysis

    def executed(self, analysis: UnitAnalysis, wanted: Callable[[AccessEvent, AccessEvent], bool]) -> UnitAnalysis:
        """What was asked, with the races of the wanted pairs executed (see `Engine.executed`)."""
        before = self.engine.spent
        executed = self.engine.executed(analysis, wanted, self.stop)
        self.charge_trial(self.engine.spent - before)
        return executed


def of_trial(options: CheckOptions) -> CheckOptions:
    """Whether the barriers that were there before are needed is nothing that an edit has to answer for; how sure a race
    is matters only where nothing else is wrong."""
    return replace(options, redundancy=False, replays=False, every_pair=False)


def with_texts(request: CheckRequest, texts: Mapping[str, bytes]) -> CheckRequest:
    """The request with other texts for some files, the main one included."""
    decoded = {path: text.decode("utf-8", "surrogateescape") for path, text in texts.items()}
    main = decoded.pop(request.path, request.text)
    return replace(request, text=main, unsaved={**request.unsaved, **decoded})
