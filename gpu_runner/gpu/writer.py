"""The text of one instruction's logging: calls of the routine, and the pieces that all kinds of instructions share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from gpu_runner.cpu.body import UnsupportedHere
from gpu_runner.cpu.layout import FIRST_SITE, SiteKind
from gpu_runner.cpu.sites import Order, Scope, Site, Sites
from gpu_runner.gpu.contexts import Chain
from gpu_runner.gpu.layout import CHUNKS, MOST_SITES, NO_WRITE, Form, What
from gpu_runner.gpu.operands import ADDRESS, VALUE, Registers
from gpu_runner.gpu.routine import LOCK, LOG, WAIT, WHERE_GENERIC, WHERE_GLOBAL, WHERE_SHARED
from gpu_runner.ptx import model

CONTEXT: Final = "%cuda_lsp_context"
SITE: Final = "%cuda_lsp_s"
OPTIONS: Final = "%cuda_lsp_o"
TICKET: Final = "%cuda_lsp_t"
HELD: Final = "%cuda_lsp_l"
SERVED: Final = "%cuda_lsp_b"
IS: Final = "%cuda_lsp_p"
BUSY: Final = "%cuda_lsp_q"
DECLARATIONS: Final = f"""
    .reg .b64 {ADDRESS}, {VALUE}, %cuda_lsp_x, {TICKET}, {HELD}, {SERVED}, %cuda_lsp_c64;
    .reg .b32 {SITE}, {OPTIONS}, %cuda_lsp_w, %cuda_lsp_c32, %cuda_lsp_n;
    .reg .b16 %cuda_lsp_h, %cuda_lsp_c16;
    .reg .pred {IS}, {BUSY}, %cuda_lsp_f;"""


@dataclass(slots=True)
class Plan:
    """What all functions of a kernel share: the numbered sites, and what their records mean."""

    sites: Sites = field(default_factory=Sites)
    what: list[What] = field(default_factory=list[What])
    uses_agents: bool = False
    cooperative: bool = False

    def add(self, site: Site, what: What) -> int:
        self.what.append(what)
        number = self.sites.add(site)
        if number >= MOST_SITES:
            raise UnsupportedHere("too many instructions in too many chains of calls")
        return number


@dataclass(slots=True)
class Writer:
    """Of one function."""

    plan: Plan
    function: str
    chains: list[Chain]
    registers: Registers
    labels: int = 0

    def label(self, what: str) -> str:
        self.labels += 1
        return f"$cuda_lsp_{what}_{self.function.replace('%', '_')}_{self.labels}"

    def site(
        self,
        what: What,
        kind: SiteKind,
        instruction: model.Instruction | model.Call,
        size: int = 0,
        order: Order = "weak",
        scope: Scope = "none",
        volatile: bool = False,
    ) -> str:
        """Text that brings the number of a site into `SITE`; one for each chain of calls."""
        opcode = instruction.opcode if isinstance(instruction, model.Instruction) else "call"
        text = ".".join((opcode, *instruction.modifiers))
        first = len(self.plan.sites)
        for chain in self.chains:
            stack, functions = (instruction.location, *chain.calls), (self.function, *chain.callers)
            self.plan.add(Site(kind, text, stack, functions, size, order, scope, volatile), what)
        return f"add.u32 {SITE}, {CONTEXT}, {first};"

    def event(self, kind: SiteKind, address: str = "0", value: str | None = None) -> str:
        """A record that is its own site."""
        assert kind < FIRST_SITE
        return f"mov.u32 {SITE}, {int(kind)}; {log(address, value)}"

    def where(self, space: str, size: int) -> str:
        """The address of an access of so many bytes as records have it: 0 where threads do not share it."""
        if space == "global":
            return f"call ({ADDRESS}), {WHERE_GLOBAL}, ({SITE}, {ADDRESS}, {size});"
        if space == "shared":
            return f"call ({ADDRESS}), {WHERE_SHARED}, ({SITE}, {ADDRESS}, {size});"
        if space == "generic":
            return f"call ({ADDRESS}), {WHERE_GENERIC}, ({SITE}, {ADDRESS}, {size});"
        raise UnsupportedHere(f"a logged access to .{space}")

    def locked(self, performed: str, logged: str) -> str:
        """Text that performs an access and logs it while it holds the lock of the address in `ADDRESS`. Lanes that wait
        go round with those that go on, so that none that holds a lock waits for one that wants it."""
        again, busy = self.label("lock"), self.label("busy")
        return f"""
            call ({HELD}), {LOCK}, ({ADDRESS});
            atom.global.add.u64 {TICKET}, [{HELD}], 1;
        {again}:
            ld.volatile.global.u64 {SERVED}, [{HELD}+8];
            setp.ne.u64 {BUSY}, {SERVED}, {TICKET};
            @{BUSY} bra {busy};
            membar.gl;
            {performed}
            membar.gl;
            {logged}
            membar.gl;
            add.u64 {SERVED}, {TICKET}, 1;
            st.volatile.global.u64 [{HELD}+8], {SERVED};
        {busy}:
            @{BUSY} call {WAIT};
            @{BUSY} bra {again};"""


def log(
    address: str = ADDRESS,
    value: str | None = None,
    ticket: str | None = None,
    chunks: int = 1,
    more: bool = False,
) -> str:
    """A call of the routine for the site in `SITE`. `more`: another record of the same ticket follows."""
    form = (Form.VALUES if value is not None else 0) | (Form.TICKETS if ticket is not None else 0)
    form |= Form.MORE if more else 0
    return f"call {LOG}, ({SITE}, {int(form) | chunks << CHUNKS}, {address}, {value or 0}, {ticket or 0});"


def log_where_shared(space: str, text: str) -> str:
    """The text, under the condition that threads share the memory where that is to be seen only now."""
    if space != "generic":
        return text
    assert text.startswith("call")
    return f"setp.ne.u64 {IS}, {ADDRESS}, 0; @{IS} {text}"


def log_unless_failed(failed: str) -> str:
    """A call for a compare-and-swap: `failed` is the predicate of its failure."""
    form = int(Form.TICKETS) | 1 << CHUNKS
    return f"""mov.u32 {OPTIONS}, {form};
        @{failed} mov.u32 {OPTIONS}, {form | NO_WRITE};
        setp.ne.u64 {IS}, {ADDRESS}, 0;
        @{IS} call {LOG}, ({SITE}, {OPTIONS}, {ADDRESS}, 0, {TICKET});"""
