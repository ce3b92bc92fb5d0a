"""What is kept of a misuse that the scheduler notices. Compiled by `gpu_runner.native`."""

from __future__ import annotations

from gpu_runner.cpu.layout import Thread
from gpu_runner.cpu.machine import Machine
from gpu_runner.native.translate import native


@native
def note(m: Machine, kind: int, thread: Thread, other: Thread, op: int, address: int) -> None:
    """Keep a notice, unless there is one of the same kind at the same places."""
    for number in range(m.notice_count):
        row = m.notices[number]
        if row.kind == kind and row.op == op and row.site == thread.site and row.other_site == other.site:
            return
    if m.notice_count >= m.notice_limit:
        return
    row = m.notices[m.notice_count]
    m.notice_count += 1
    row.kind = kind
    row.op = op
    row.thread = thread.thread
    row.site = thread.site
    row.other_thread = other.thread
    row.other_site = other.site
    row.address = address
