"""Sites: the instructions whose execution a record can name, with everything that is known of them beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field
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


SITE_TABLE = np.dtype([("kind", np.uint8), ("size", np.uint8), ("order", np.uint8), ("scope", np.uint8)])


@dataclass(slots=True)
class Sites:
    """The sites of one kernel, numbered from `FIRST_SITE`."""

    found: list[Site] = field(default_factory=list[Site])

    def add(self, site: Site) -> int:
        self.found.append(site)
        return FIRST_SITE + len(self.found) - 1

    def __getitem__(self, number: int) -> Site:
        return self.found[number - FIRST_SITE]

    def __len__(self) -> int:
        return FIRST_SITE + len(self.found)

    def table(self) -> NDArray[np.void]:
        """Kind, size, order and scope by number, for compiled code."""
        table = np.zeros(len(self), SITE_TABLE)
        table["kind"][:FIRST_SITE] = np.arange(FIRST_SITE)
        for number, site in enumerate(self.found, FIRST_SITE):
            table[number] = (int(site.kind), site.size, ORDERS.index(site.order), SCOPES.index(site.scope))
        return table
