"""What is asked of the analysis of one translation unit, and the events that it answers with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from analyzers.frontend.flags import CompileFlags
from analyzers.hostguide.program import Program
from analyzers.model import CheckOptions, KernelResult, UnitResult

#: `Reason.kind` of a kernel that is `unknown` because the compiler reported an error inside it, and of a unit that the
#: compiler could not take in at all. The editor keeps the last good result of such kernels.
PARSE_ERROR = "parse-error"

#: How `Skipped.what` of a launch begins that was asked for and fits no kernel of the unit; the launch, in the notation
#: of `hostguide.contexts.describe`, and a colon follow.
UNFIT = "no kernel can be launched as"


@dataclass(frozen=True, slots=True)
class Including:
    """The other units of a workspace that include some files or call some functions, and the other commands by which
    the own one is compiled."""

    requests: tuple[CheckRequest, ...] = ()
    """For checks of them, by each of their commands; none where there are too many."""
    count: int = 0
    """How many there are."""
    commands: tuple[CheckRequest, ...] = ()
    """For checks by the other commands; none where there are too many."""
    command_count: int = 0
    callers: tuple[tuple[str, str], ...] = ()
    """Names of functions, each with a unit that declares and calls it."""


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
    program: Program = field(default_factory=Program)
    """Other files whose host code reaches the unit's kernels."""
    linking: Callable[[], Program] | None = field(default=None, compare=False)
    """Gives the program, where that is still being looked for: asked once the unit is parsed."""
    including: Callable[[Collection[str], Collection[str]], Including] | None = field(default=None, compare=False)
    """Gives the other units that include files, the unit by its other commands, and those that call device functions
    of it by these names; None where nobody knows of any."""
    hopeless: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """`Progress.key` of kernels not to be tried, because a process that did so ended or had to be ended, with the kind
    and the text of the reason: they are unknown."""

    def linked(self) -> CheckRequest:
        """The request with its program known."""
        return self if self.linking is None else replace(self, program=self.linking(), linking=None)


@dataclass(frozen=True, slots=True)
class KernelFinished:
    """A kernel is decided. Each kernel of the unit gets exactly one, in any order."""

    result: KernelResult
    key: str = ""
    """Content key of the verdict (equal keys: equal verdict, up to positions); empty when there is none."""


@dataclass(frozen=True, slots=True)
class KernelForeseen:
    """What the `KernelFinished` of an edited kernel, which follows, will most likely say."""

    result: KernelResult
    key: str


@dataclass(frozen=True, slots=True)
class UnitFinished:
    """Always the last event, also when the unit could not be analysed (`result.failure`).

    `result.kernels` holds all kernels in source order; `result.dependencies` the absolute, normalised paths of all
    files that were read, the main file and the bundled headers excluded."""

    result: UnitResult


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` kernels are decided, `name` is next. Sent before every kernel."""

    done: int
    total: int
    name: str
    key: str = ""
    """The content key of the kernel that is next, where there is work to do for it."""


Event = KernelForeseen | KernelFinished | UnitFinished | Progress


class CancelledError(Exception):
    """The caller asked to stop; nothing is known about the kernels that had not finished."""


def never() -> bool:
    """The `stop` of a caller that never stops."""
    return False
