"""A checked unit with everything that was found on the way, for whoever repairs or explains it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from analyzers.frontend.parse import ParsedUnit
from analyzers.ir.context import LaunchContext
from analyzers.ir.events import AccessEvent, KernelEvents
from analyzers.ir.kernel import Instances, Kernel
from analyzers.ir.symbolic import TooMuchWorkError, summarize
from analyzers.model import KernelResult, SourceSpan, UnitResult
from analyzers.requests import CheckRequest
from analyzers.verdicts.decide import Collisions
from analyzers.verdicts.kernel import conflicting, one_memory


@dataclass(slots=True)
class KernelAnalysis:
    """A kernel with everything that was found on the way to its verdict."""

    kernel: Kernel
    decisive: KernelEvents
    """The events that the verdict was made from: without reads of what nothing writes, and without those that barriers
    keep apart from all writes."""
    contexts: tuple[LaunchContext, ...]
    result: KernelResult
    undecided: tuple[tuple[int, AccessEvent, AccessEvent], ...] = ()
    """Of the decisive ones: pairs of which it is not known whether they collide, after the index of the context."""
    undecided_besides: frozenset[int] = frozenset()
    """Indices of contexts in which there may be more of these."""
    found: Mapping[int, Collisions] = field(default_factory=dict[int, Collisions], repr=False)
    """How the races were found that were not executed, by the place of their context."""
    _events: KernelEvents | None = field(default=None, init=False, repr=False)
    _conflicting: KernelEvents | None = field(default=None, init=False, repr=False)

    @property
    def events(self) -> KernelEvents:
        """All events, put together when they are first asked for; the decisive ones where that takes too much work."""
        if self._events is None:
            self._events = self.decisive
            if self.decisive.kernel is not self.kernel:
                with suppress(TooMuchWorkError):
                    self._events = summarize(self.kernel, wraps=self.decisive.wraps)
        return self._events

    @property
    def conflicting(self) -> KernelEvents:
        """The events that bear on races, and those that would but for barriers; put together when they are first asked
        for, the decisive ones where that takes too much work."""
        if self._conflicting is None:
            self._conflicting = self.decisive
            if self.decisive.kernel is not self.kernel:
                with suppress(TooMuchWorkError):
                    together = one_memory(self.kernel, self.contexts)
                    self._conflicting = conflicting(self.kernel, together, self.decisive.wraps)
        return self._conflicting


@dataclass(frozen=True, slots=True)
class UnitAnalysis:
    """A checked unit, for whoever repairs it."""

    request: CheckRequest
    unit: ParsedUnit
    kernels: tuple[KernelAnalysis, ...]
    result: UnitResult
    functions: Mapping[str, tuple[SourceSpan, ...]] = field(default_factory=dict[str, tuple[SourceSpan, ...]])
    """From `inspect` and `retry`: by mangled name of each kernel of the checked unit, the extents of its definition and
    of the device functions it reaches, in the text of the last check."""
    instances: Instances = field(default_factory=Instances)
    """From the same: what all the kernels run."""
