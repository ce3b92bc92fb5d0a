"""Fingerprints: a name for a finding that stays the same while the code around it changes.

Made of the code, the kernel's name, the name of the file and the accessed expressions as written, without blanks.
Lines, columns, threads, values and launches are no part of it. Of several findings in a kernel that are equal in all
this, the order in the source tells them apart: ``…:1``, ``…:2``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from analyzers.model import Finding, KernelResult, SourceSpan

Places = tuple[tuple[SourceSpan, str], ...]
"""Where the accesses of a finding are, and of which kind: the same for all launches and instances of a template."""
Key = tuple[SourceSpan, str, Places]
"""A kernel, a code and places."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What is remembered of a finding."""

    fingerprint: str
    path: str
    """The file of the squiggle, absolute."""
    kernel: str
    """Without template arguments."""
    code: str
    accesses: tuple[str, ...]
    """`write s[t]`, in source order."""


def base_name(name: str) -> str:
    """A kernel's name without template arguments."""
    return name.partition("<")[0]


def places_of(finding: Finding) -> Places:
    return (finding.span, "finding"), *((access.span, access.kind) for access in finding.accesses)


def identities(kernels: Iterable[KernelResult]) -> Mapping[Key, Identity]:
    """The identity of every finding of a unit's kernels, by `key_of`."""
    found: dict[Key, Finding] = {}
    names: dict[SourceSpan, str] = {}
    for kernel in kernels:
        names[kernel.span] = base_name(kernel.name)
        for context in kernel.contexts:
            for finding in context.findings:
                found.setdefault(key_of(kernel, finding), finding)
    result: dict[Key, Identity] = {}
    counts: dict[tuple[SourceSpan, str], int] = {}
    for key in sorted(found):
        kernel_span, code, _ = key
        finding = found[key]
        accesses = tuple(f"{access.kind} {_written(access.text)}" for access in finding.accesses)
        parts = (code, Path(finding.span.path).name, names[kernel_span], *accesses)
        digest = hashlib.sha256("\0".join("".join(part.split()) for part in parts).encode()).hexdigest()[:20]
        number = counts[kernel_span, digest] = counts.get((kernel_span, digest), 0) + 1
        identity = Identity(f"{digest}:{number}", finding.span.path, names[kernel_span], code, accesses)
        result[key] = identity
    return result


def key_of(kernel: KernelResult, finding: Finding) -> Key:
    """Equal for a finding in all launches and instances of a kernel."""
    return kernel.span, finding.code.value, places_of(finding)


def _written(text: str) -> str:
    return " ".join(text.split())
