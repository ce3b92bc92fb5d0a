"""What a kernel's page steps through: one scene per finding, or per reason why something is unknown.

A finding that occurs under several launches is one scene, shown with the values of the first.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from analyzers.model import ContextResult, Finding, KernelResult, LaunchSummary, Reason, SourceSpan, Verdict

MAXIMAL_SCENES = 40
"""Of one kernel; how many more there are is said."""


class Places(Protocol):
    """The texts that findings are about, as they are now."""

    def lines(self, path: str) -> Sequence[str]:
        """Without line ends; empty where the file cannot be read."""
        ...

    def now(self, span: SourceSpan) -> SourceSpan | None:
        """Where a place is in that text; None when it was overwritten."""
        ...

    def shown(self, path: str) -> str:
        """A path for people."""
        ...

    def uri(self, path: str) -> str | None:
        """What an editor opens; None on a page that no editor shows."""
        ...


@dataclass(frozen=True, slots=True)
class Repair:
    """What is known of a repair: its title and cost, or why there is none."""

    title: str = ""
    cost: str = ""
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class KernelView:
    """One kernel to be shown."""

    result: KernelResult
    places: Places
    stale: bool = False
    """From an earlier text."""
    repairs: Mapping[str, Repair] = field(default_factory=dict[str, Repair])
    """By group."""
    runs: Mapping[str, str] = field(default_factory=dict[str, str])
    """What runs of the kernel have shown of a finding, as a sentence, by group."""
    muted: Mapping[Finding, str] = field(default_factory=dict[Finding, str])
    """Why findings are not shown elsewhere, in a few words."""
    muted_as: str | None = None
    """What the kernel counts as where that leaves nothing serious: `suppressed`, `known` or `off`."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One finding, or one reason (exactly one of the two is set), in the first context it occurs in."""

    context: ContextResult
    launches: tuple[LaunchSummary, ...]
    """In which it occurs."""
    of: int
    """How many launches were checked."""
    finding: Finding | None = None
    reason: Reason | None = None

    @property
    def verdict(self) -> Verdict:
        return self.finding.code if self.finding is not None else Verdict.UNKNOWN


def scenes_of(kernel: KernelResult, muted: Container[Finding] = ()) -> tuple[list[Scene], int]:
    """The scenes of a kernel, worst first, then in the order of the text, but those of muted findings last; and how
    many more there would be."""
    found: dict[tuple[object, ...], list[tuple[ContextResult, Finding | None, Reason | None]]] = {}
    for context in kernel.contexts:
        for finding in context.findings:
            sides = tuple((access.span, access.kind) for access in finding.accesses)
            found.setdefault((finding.code, finding.group, sides), []).append((context, finding, None))
        for reason in context.reasons:
            found.setdefault((reason,), []).append((context, None, reason))
    scenes: list[Scene] = []
    for occurrences in found.values():
        context, finding, reason = occurrences[0]
        launches = tuple(dict.fromkeys(each.launch for each, _, _ in occurrences))
        scenes.append(Scene(context, launches, len(kernel.contexts), finding, reason))

    def order(scene: Scene) -> tuple[object, ...]:
        return scene.finding is not None and scene.finding in muted, scene.verdict.rank, _where(scene)

    scenes.sort(key=order)
    return scenes[:MAXIMAL_SCENES], max(len(scenes) - MAXIMAL_SCENES, 0)


def _where(scene: Scene) -> tuple[str, int]:
    span = scene.finding.span if scene.finding is not None else scene.reason.span if scene.reason is not None else None
    return (span.path, span.start_offset) if span is not None else ("", 0)
