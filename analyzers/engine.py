"""Check one translation unit: text and flags in, a stream of events out, one per kernel as soon as it is decided.

This is the one entry into the analysis. An `Engine` is long-lived: it lives in a worker process, keeps the translation
units of the documents it has seen warm, and is used by one thread. It writes no file and starts no process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from analyzers.frontend.flags import CompileFlags
from analyzers.model import CheckOptions, KernelResult, UnitResult

#: `Reason.kind` of a kernel that is `unknown` because the compiler reported an error inside it, and of a unit that the
#: compiler could not take in at all. The editor keeps the last good result of such kernels.
PARSE_ERROR = "parse-error"


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """One unit to check. A result depends on this and on the files that it lists as dependencies, nothing else."""

    path: str
    """Absolute path of the main file; the file need not exist, `text` is what counts."""
    text: str
    flags: CompileFlags = field(default_factory=CompileFlags)
    unsaved: Mapping[str, str] = field(default_factory=dict[str, str])
    """Text of other open documents by absolute path; it shadows the disk."""
    options: CheckOptions = field(default_factory=CheckOptions)
    previous_keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """Mangled kernel name -> `KernelFinished.key` of the result the caller still shows. A hint for the order: kernels
    whose key has changed were edited and are checked first."""
    first: tuple[tuple[str, int, int], ...] = ()
    """(path, start byte, end byte) ranges that the user looks at; a hint for the order, best first."""


@dataclass(frozen=True, slots=True)
class KernelFinished:
    """A kernel is decided. Each kernel of the unit gets exactly one, in any order."""

    result: KernelResult
    key: str = ""
    """Content key of the verdict (equal keys: equal verdict, up to positions); empty when there is none."""


@dataclass(frozen=True, slots=True)
class UnitFinished:
    """Always the last event, also when the unit could not be analysed (`result.failure`).

    `result.kernels` holds all kernels in source order; `result.dependencies` the absolute, normalised paths of all
    files that were read, the main file and the bundled headers excluded."""

    result: UnitResult


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` kernels are decided, `name` is next. Sent before every kernel, so silence means a hang."""

    done: int
    total: int
    name: str


Event = KernelFinished | UnitFinished | Progress


class CancelledError(Exception):
    """The caller asked to stop; nothing is known about the kernels that had not finished."""


def never() -> bool:
    """The `stop` of a caller that never stops."""
    return False


class Engine:
    """Checks units and keeps them warm. Not thread-safe; one per process."""

    def check(self, request: CheckRequest, stop: Callable[[], bool] = never) -> Iterator[Event]:
        """Yield events until `UnitFinished`.

        `stop` is polled between queries; when it answers true, `CancelledError` is raised. A caller may also just drop
        the iterator. Nothing else is raised for any input: a unit that cannot be analysed ends in
        `UnitResult.failure`."""
        raise NotImplementedError

    def forget(self, path: str) -> None:
        """Free what is kept warm for the unit of `path`: its document was closed."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class FixRefusal:
    """Why no repair is offered for a finding, as a sentence for the user."""

    text: str
