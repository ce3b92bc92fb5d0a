"""What is found in a header is found with every file that includes it, and told with the first of them.

Takes the units of one run in their order. The results stay as they are, and so does what they say of the exit code.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from analyzers.model import ContextResult, KernelResult, Reason
from cuda_lsp.adoption.fingerprints import Key, key_of
from cuda_lsp.cli.judging import JudgedUnit


@dataclass
class Repeats:
    """What the units of a run so far have told."""

    _mistakes: set[Key] = field(default_factory=set[Key])
    _reasons: set[tuple[str, Reason]] = field(default_factory=set[tuple[str, Reason]])

    def left_out(self, judged: JudgedUnit) -> JudgedUnit:
        """A unit that shows only what no unit before it has told."""
        kernels = judged.shown.kernels
        shown = tuple(replace(each, contexts=tuple(self._new(each, c) for c in each.contexts)) for each in kernels)
        for kernel in kernels:
            for context in kernel.contexts:
                self._mistakes.update(key_of(kernel, finding) for finding in context.findings)
                self._reasons.update((kernel.mangled, reason) for reason in context.reasons)
        return replace(judged, shown=replace(judged.shown, kernels=shown))

    def _new(self, kernel: KernelResult, context: ContextResult) -> ContextResult:
        return replace(
            context,
            findings=tuple(each for each in context.findings if key_of(kernel, each) not in self._mistakes),
            reasons=tuple(each for each in context.reasons if (kernel.mangled, each) not in self._reasons),
        )
