"""Sites: the instructions whose execution a record can name, with everything that is known of them beforehand."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gpu_runner.cpu.layout import FIRST_SITE, SiteKind
from gpu_runner.ptx import model

Scope = Literal["none", "cta", "cluster", "gpu", "sys"]
Order = Literal["weak", "relaxed", "acquire", "release", "acq_rel", "sc"]

SCOPES: tuple[Scope, ...] = ("none", "cta", "cluster", "gpu", "sys")
ORDERS: tuple[Order, ...] = ("weak", "relaxed", "acquire", "release", "acq_rel", "sc")


@dataclass(frozen=True, slots=True)
class Site:
    """One instruction in one chain of calls."""

    kind: SiteKind
    instruction: str
    """Opcode and modifiers."""
    stack: tuple[model.Location | None, ...]
    """Where the instruction stands, then where its function was called, and so on."""
    functions: tuple[str, ...]
    """PTX functions of the same, innermost first."""
    size: int = 0
    """Bytes of an access."""
    order: Order = "weak"
    scope: Scope = "none"
    volatile: bool = False

    @property
    def wide(self) -> bool:
        """Whether its accesses are of eight bytes. Those of a vector are to its elements."""
        *modifiers, type_ = self.instruction.split(".")
        return self.size >= 8 and (type_.endswith("64") or not {"v2", "v4", "v8"} & set(modifiers))


SITE_TABLE = np.dtype([(name, np.uint8) for name in ("kind", "size", "order", "scope", "wide")])


@dataclass(frozen=True, slots=True)
class _Called:
    """The sites of a function in one of its calls."""

    sites: Sites
    stack: tuple[model.Location | None, ...]
    functions: tuple[str, ...]


@dataclass(slots=True)
class Sites:
    """The sites of one kernel, numbered from `FIRST_SITE`; or those of a function that has one translation for all its
    calls, each of which has numbers of its own for them (`embed`)."""

    _parts: list[Site | _Called] = field(default_factory=list["Site | _Called"])
    _begins: list[int] = field(default_factory=list[int])
    """Of each part, without `FIRST_SITE`."""
    _count: int = 0

    def add(self, site: Site) -> int:
        self._begins.append(self._count)
        self._parts.append(site)
        self._count += 1
        return FIRST_SITE + self._count - 1

    def embed(self, sites: Sites, stack: tuple[model.Location | None, ...], functions: tuple[str, ...]) -> int:
        """Numbers for the sites of a function that is called here: the first of them. `stack`, `functions`: what comes
        behind those of its sites."""
        self._begins.append(self._count)
        self._parts.append(_Called(sites, stack, functions))
        self._count += sites._count
        return FIRST_SITE + self._count - sites._count

    def __getitem__(self, number: int) -> Site:
        at = bisect_right(self._begins, number - FIRST_SITE) - 1
        part = self._parts[at]
        if isinstance(part, Site):
            return part
        inner = part.sites[number - self._begins[at]]
        return replace(inner, stack=(*inner.stack, *part.stack), functions=(*inner.functions, *part.functions))

    def __len__(self) -> int:
        return FIRST_SITE + self._count

    def __iter__(self) -> Iterator[Site]:
        return (self[number] for number in range(FIRST_SITE, len(self)))

    def table(self) -> NDArray[np.void]:
        """Kind, size, order, scope and whether it is wide by number, for compiled code."""
        table = np.zeros(FIRST_SITE, SITE_TABLE)
        table["kind"] = np.arange(FIRST_SITE)
        return np.concatenate((table, self._rows({})))

    def _rows(self, known: dict[int, NDArray[np.void]]) -> NDArray[np.void]:
        if id(self) not in known:
            rows = known[id(self)] = np.zeros(self._count, SITE_TABLE)
            for begin, part in zip(self._begins, self._parts, strict=True):
                if isinstance(part, Site):
                    rows[begin] = (
                        int(part.kind), part.size, ORDERS.index(part.order), SCOPES.index(part.scope), part.wide
                    )  # fmt: skip
                else:
                    rows[begin : begin + part.sites._count] = part.sites._rows(known)
        return known[id(self)]
