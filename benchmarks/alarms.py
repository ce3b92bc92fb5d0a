"""What became of each alarm on the shipped sources, once somebody had read the code.

Takes the raw rows of a coverage run and the classified alarms (``benchmarks.looked_at``), gives the sites with their
class and the Markdown of the table's *Alarms* section. An alarm that nobody has classified is counted as such, and so
is a classified one that is no longer raised: neither can hide.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

Class = Literal["true", "benign", "false"]

NOT_LOOKED_AT = "not looked at"
"""The class of a site that no entry speaks of."""

ORDER = ("true", NOT_LOOKED_AT, "benign", "false")
"""From what weighs most to what weighs least; a kernel counts where its weightiest alarm stands."""

MEANING = {
    "true": "the code as shipped can collide, for inputs that its host code lets through",
    NOT_LOOKED_AT: "nobody has read it yet",
    "benign": "it collides and does no harm",
    "false": "it cannot happen: the analysis lacks a fact",
}


@dataclass(frozen=True, slots=True)
class LookedAt:
    """One judgement. ``files`` is a pattern for the path within the package, ``accesses`` are pairs as `accesses` words
    them, ``reason`` says which input, why no harm, or which fact is missing. ``remote``: true only for extreme sizes or
    inputs that no user of the package is likely to have."""

    files: str
    kernel: str
    lines: tuple[int, ...]
    accesses: tuple[str, ...]
    verdict: Class
    reason: str
    remote: bool = False

    def speaks_of(self, site: Site) -> bool:
        """Whether this judgement is about ``site``."""
        return (
            self.kernel == site.kernel
            and site.line in self.lines
            and site.accesses in self.accesses
            and fnmatchcase(site.path, self.files)
        )


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the sources: file, kernel template, line of the first access, the two accesses in words."""

    path: str
    kernel: str
    line: int
    accesses: str


@dataclass(slots=True)
class Raised:
    """What was raised at one site, over all instances of the kernel."""

    codes: Counter[str] = field(default_factory=Counter[str])
    message: str = ""
    instances: set[str] = field(default_factory=set[str])


_INTRODUCTION = (
    "Each was read by hand, in the sources as shipped, with the launches of the package. A site is a file, a kernel"
    " template, a line and the kinds of the two accesses; a kernel template of a header counts in every file that"
    " includes it."
)

_ALARM = re.compile(r"(?P<code>\S+) (?P<severity>\S+) line (?P<line>\d+): (?P<message>.*)", re.DOTALL)
_PAIR = re.compile(
    r"the (?P<first>read|write|atomic) `.*?` and (?:the (?P<second>read|write|atomic) `|itself)", re.DOTALL
)


def accesses(message: str) -> str:
    """The two accesses that a message speaks of, as in ``write & itself`` or ``write & read``; ``barrier`` where it
    speaks of a barrier."""
    pair = _PAIR.search(message)
    if pair is None:
        return "barrier"
    return f"{pair['first']} & {pair['second'] or 'itself'}"


def sites(reports: Iterable[dict[str, Any]]) -> dict[Site, Raised]:
    """The sites of all alarms in the raw rows of a run, in the order of the sources."""
    found: dict[Site, Raised] = {}
    for report in reports:
        for kernel in report["kernels"]:
            for alarm in kernel["alarms"]:
                parts = _ALARM.fullmatch(alarm)
                if parts is None:
                    raise ValueError(f"not an alarm of a coverage run: {alarm}")
                name = kernel["name"].partition("<")[0]
                site = Site(report["path"], name, int(parts["line"]), accesses(parts["message"]))
                raised = found.setdefault(site, Raised())
                raised.codes[f"{parts['code']} {parts['severity']}"] += 1
                raised.message = raised.message or parts["message"]
                raised.instances.add(kernel["name"])
    return dict(sorted(found.items(), key=lambda item: (item[0].path, item[0].kernel, item[0].line, item[0].accesses)))


def judge(found: Iterable[Site], entries: Sequence[LookedAt]) -> dict[Site, LookedAt | None]:
    """Each site with the entry about it. Raises ``ValueError`` where two entries speak of one site."""
    judged: dict[Site, LookedAt | None] = {}
    for site in found:
        about = [e for e in entries if e.speaks_of(site)]
        if len(about) > 1:
            raise ValueError(f"{len(about)} entries speak of {site}")
        judged[site] = about[0] if about else None
    return judged


def unused(found: Iterable[Site], entries: Sequence[LookedAt]) -> list[str]:
    """Lines of entries at which nothing was raised, and kinds of accesses that were raised at none of their lines."""
    known = list(found)
    out: list[str] = []
    for e in entries:
        about = [s for s in known if e.speaks_of(s)]
        raised = {f"line {s.line}" for s in about} | {s.accesses for s in about}
        out += [
            f"{e.files}: `{e.kernel}` {what}"
            for what in (*(f"line {line}" for line in e.lines), *e.accesses)
            if what not in raised
        ]
    return out


def section(reports: Sequence[dict[str, Any]], entries: Sequence[LookedAt], complete: bool = True) -> list[str]:
    """The Markdown lines of the *Alarms* section; entries without an alarm only where the run is ``complete``."""
    found = sites(reports)
    judged = judge(found, entries)
    out = [
        "## Alarms",
        "",
        _INTRODUCTION,
        "",
        *_summary(found, judged),
    ]
    if complete and (left := unused(found, entries)):
        out += ["", "Looked at once, no longer raised:", "", *(f"- {text}" for text in left)]
    for verdict in ORDER:
        chosen = [s for s, entry in judged.items() if _class(entry) == verdict]
        if not chosen:
            continue
        out += ["", f"### {verdict}: {MEANING[verdict]}"]
        for entry in dict.fromkeys(judged[s] for s in chosen):
            if entry is not None:
                out += ["", f"**`{entry.kernel}`**{' (remote)' if entry.remote else ''}: {entry.reason}"]
            out += ["", *(_line(s, found[s]) for s in chosen if judged[s] is entry)]
    return out


def _class(entry: LookedAt | None) -> str:
    return NOT_LOOKED_AT if entry is None else entry.verdict


def _line(site: Site, raised: Raised) -> str:
    codes = ", ".join(f"{n}× {code}" for code, n in raised.codes.most_common())
    return f"- {site.path}: `{site.kernel}` line {site.line}, {site.accesses} ({codes}): {raised.message}"


def _summary(found: dict[Site, Raised], judged: dict[Site, LookedAt | None]) -> list[str]:
    """Sites, kernel templates and kernels per class. A kernel instance counts in its weightiest class only."""
    weight: dict[tuple[str, str], str] = {}
    for site, raised in found.items():
        verdict = _class(judged[site])
        for instance in raised.instances:
            key = (site.path, instance)
            weight[key] = min(weight.get(key, verdict), verdict, key=ORDER.index)
    out = ["| class | sites | kernel templates | kernels whose weightiest alarm it is |", "|---|---|---|---|"]
    for verdict in ORDER:
        chosen = [s for s, entry in judged.items() if _class(entry) == verdict]
        remote = sum(1 for s in chosen if (entry := judged[s]) is not None and entry.remote)
        note = f" ({remote} of them remote)" if remote else ""
        templates = len({s.kernel for s in chosen})
        out.append(f"| {verdict} | {len(chosen)}{note} | {templates} | {sum(v == verdict for v in weight.values())} |")
    return out
