"""The logging routine, in PTX: functions that are put in front of every instrumented module.

`LOG` makes one record of the lanes that have come together and puts it into the queue of the block: reserve by an
atomic addition, wait for room, write, wait for the records in front, fence, publish (BARRACUDA, section 4.2). `WHERE_*`
turn an address into that of a record, and log and end the threads whose access is out of bounds or misaligned, so that
the kernel's fault does not take the queues with it. Only the first lane reserves and publishes.

`DELAY` holds a warp up, by the seed of the run: in odd seeds all warps of a block alike, in even ones each by itself.

That lanes are in the routine together does not mean that they came from one instruction, so they are matched by site
and fault. Under a lock every lane makes a record of its own, since those that wait for the lock do not come.
"""

from __future__ import annotations

from typing import Final

from gpu_runner.cpu.layout import Fault
from gpu_runner.gpu.layout import (
    COMMIT,
    CONTROL,
    FAULT,
    HEAD_BYTES,
    LISTED_UNITS,
    LOCK_BYTES,
    LOCK_SHIFT,
    LOCK_SHIFT_2,
    LOCKS,
    NO_LOCK,
    NO_WRITE,
    SHARED,
    STOP_LOCK,
    UNIT,
    WRITE_HEAD,
    Control,
    Form,
)

LOG: Final = "cuda_lsp_log"
LOCK: Final = "cuda_lsp_lock"
WAIT: Final = "cuda_lsp_wait"
DELAY: Final = "cuda_lsp_delay"
LATE_BEGIN: Final = 2, 18
"""How rarely warps begin late, and by how much at most: one of 4, by up to 2**18 nanoseconds. Longer than some blocks
take to get past what they wait for, so that another one comes behind them."""
_LATE_LOCK: Final = 4, 16
"""The same in front of a lock."""
WHERE_GLOBAL: Final = "cuda_lsp_where_global"
WHERE_SHARED: Final = "cuda_lsp_where_shared"
WHERE_GENERIC: Final = "cuda_lsp_where_generic"


def _control(word: Control) -> str:
    return f"[{CONTROL}+{8 * word}]"


def _number(into: str, of: str, size: str, at: str) -> str:
    """The number of the block in the grid (`of`: ``cta``), or of the thread in its block (``t``), x fastest."""
    return f"""mov.u32 {into}, %{of}id.z;
    mov.u32 {size}, %n{of}id.y;
    mov.u32 {at}, %{of}id.y;
    mad.lo.u32 {into}, {into}, {size}, {at};
    mov.u32 {size}, %n{of}id.x;
    mov.u32 {at}, %{of}id.x;
    mad.lo.u32 {into}, {into}, {size}, {at};"""


def _progression(value: str, name: str) -> str:
    """Whether the lanes hold an arithmetic progression: ``%first_NAME``, ``%step_NAME``, and the predicate
    ``%is_NAME``."""
    return f"""
    mov.b64 {{%lo, %hi}}, {value};
    shfl.sync.idx.b32 %lo1, %lo, %leader, 31, %lanes;
    shfl.sync.idx.b32 %hi1, %hi, %leader, 31, %lanes;
    shfl.sync.idx.b32 %lo2, %lo, %second, 31, %lanes;
    shfl.sync.idx.b32 %hi2, %hi, %second, 31, %lanes;
    mov.b64 %first_{name}, {{%lo1, %hi1}};
    mov.b64 %next, {{%lo2, %hi2}};
    sub.s64 %next, %next, %first_{name};
    cvt.u32.u64 %lo2, %next;
    cvt.s64.s32 %wide, %lo2;
    setp.eq.s64 %small, %wide, %next;
    div.s32 %step_{name}, %lo2, %between;
    mul.wide.s32 %wide, %step_{name}, %behind;
    add.s64 %wide, %wide, %first_{name};
    setp.eq.and.s64 %same, %wide, {value}, %small;
    vote.sync.all.pred %is_{name}, %same, %lanes;"""


def _listed(value: str, name: str) -> str:
    """Every lane writes its own 8 bytes, from ``%at`` (units since the launch) on, which moves behind them."""
    return f"""
    shr.u32 %lo, %lane, 2;
    cvt.u64.u32 %wide, %lo;
    add.u64 %wide, %wide, %at;
    and.b64 %wide, %wide, %mask;
    mul.lo.u64 %wide, %wide, {UNIT};
    and.b32 %lo, %lane, 3;
    mul.wide.u32 %next, %lo, 8;
    add.u64 %wide, %wide, %next;
    add.u64 %wide, %wide, %ring;
    st.global.u64 [%wide], {value};
    add.u64 %at, %at, {LISTED_UNITS};"""


def _first_and_step(name: str) -> str:
    """The first lane writes a progression into one unit."""
    return f"""
    and.b64 %wide, %at, %mask;
    mul.lo.u64 %wide, %wide, {UNIT};
    add.u64 %wide, %wide, %ring;
    @%leads st.global.u64 [%wide], %first_{name};
    @%leads st.global.u32 [%wide+8], %step_{name};
    add.u64 %at, %at, 1;"""


_LOG = f"""
.func {LOG} (.reg .b32 %site, .reg .b32 %options, .reg .b64 %address, .reg .b64 %value, .reg .b64 %ticket)
{{
    .reg .pred %small, %same, %is_a, %is_v, %leads, %has_v, %has_t, %alone, %listed_v, %fails, %over;
    .reg .b32 %lanes, %lane, %leader, %second, %between, %behind, %lo, %hi, %lo1, %hi1, %lo2, %hi2;
    .reg .b32 %step_a, %step_v, %block, %thread, %units, %form, %unwritten, %part, %size;
    .reg .b64 %first_a, %first_v, %next, %wide, %heads, %reads, %ring, %mask, %start, %end, %at, %read;
    and.b32 %lo, %options, {int(Form.TICKETS)};
    setp.ne.u32 %has_t, %lo, 0;
    mov.u32 %lanes, %lanemask_eq;
    @%has_t bra $cuda_lsp_together;
    activemask.b32 %lanes;
    and.b32 %lo, %options, {0xF << FAULT};
    shl.b32 %lo, %lo, {24 - FAULT};
    or.b32 %lo, %lo, %site;
    match.any.sync.b32 %lanes, %lo, %lanes;
$cuda_lsp_together:
    mov.u32 %lane, %laneid;
    neg.s32 %lo, %lanes;
    and.b32 %lo, %lo, %lanes;
    add.s32 %lo, %lo, -1;
    popc.b32 %leader, %lo;
    add.s32 %hi, %lanes, -1;
    and.b32 %hi, %hi, %lanes;
    neg.s32 %lo, %hi;
    and.b32 %lo, %lo, %hi;
    add.s32 %lo, %lo, -1;
    popc.b32 %second, %lo;
    setp.eq.s32 %alone, %hi, 0;
    selp.b32 %second, %leader, %second, %alone;
    sub.s32 %between, %second, %leader;
    selp.b32 %between, 1, %between, %alone;
    sub.s32 %behind, %lane, %leader;
    setp.eq.u32 %leads, %lane, %leader;
    {_progression("%address", "a")}
    and.b32 %lo, %options, {NO_WRITE};
    setp.ne.u32 %fails, %lo, 0;
    vote.sync.ballot.b32 %unwritten, %fails, %lanes;

    and.b32 %form, %options, {int(Form.VALUES | Form.TICKETS | Form.MORE)};
    and.b32 %lo, %form, {int(Form.VALUES)};
    setp.ne.u32 %has_v, %lo, 0;
    setp.eq.u32 %is_v, %leader, %leader;
    @!%has_v bra $cuda_lsp_no_value;
    {_progression("%value", "v")}
$cuda_lsp_no_value:
    mov.u32 %units, 1;
    @!%is_a add.u32 %units, %units, {LISTED_UNITS};
    @!%is_a or.b32 %form, %form, {int(Form.LISTED)};
    selp.b32 %lo, 1, {LISTED_UNITS}, %is_v;
    @%has_v add.u32 %units, %units, %lo;
    not.pred %listed_v, %is_v;
    and.pred %listed_v, %listed_v, %has_v;
    @%listed_v or.b32 %form, %form, {int(Form.VALUES_LISTED)};
    @%has_t add.u32 %units, %units, 1;

    {_number("%block", "cta", "%lo", "%hi")}
    {_number("%thread", "t", "%lo", "%hi")}
    and.b32 %thread, %thread, -32;
    ld.const.u32 %lo, {_control(Control.SHIFT)};
    shl.b32 %lo, %block, %lo;
    or.b32 %thread, %thread, %lo;

    cvt.u64.u32 %wide, %block;
    ld.const.u64 %next, {_control(Control.QUEUE_MASK)};
    and.b64 %wide, %wide, %next;
    ld.const.u64 %heads, {_control(Control.HEADS)};
    mul.lo.u64 %next, %wide, {HEAD_BYTES};
    add.u64 %heads, %heads, %next;
    mul.lo.u64 %next, %wide, 8;
    ld.const.u64 %reads, {_control(Control.READS)};
    add.u64 %reads, %reads, %next;
    ld.const.u64 %read, {_control(Control.RING_UNITS)};
    add.s64 %mask, %read, -1;
    mul.lo.u64 %wide, %wide, %read;
    mul.lo.u64 %wide, %wide, {UNIT};
    ld.const.u64 %ring, {_control(Control.RINGS)};
    add.u64 %ring, %ring, %wide;

    mov.u64 %start, 0;
    @!%leads bra $cuda_lsp_reserved;
    cvt.u64.u32 %wide, %units;
    atom.global.add.u64 %start, [%heads+{WRITE_HEAD}], %wide;
    add.u64 %end, %start, %wide;
$cuda_lsp_room:
    ld.volatile.global.u64 %next, [%reads];
    setp.lt.s64 %over, %next, 0;
    @%over bra $cuda_lsp_stopped;
    sub.s64 %wide, %end, %next;
    setp.gt.s64 %over, %wide, %read;
    @%over bra $cuda_lsp_room;
    bra $cuda_lsp_reserved;
$cuda_lsp_stopped:
    mov.s64 %start, -1;
$cuda_lsp_reserved:
    mov.b64 {{%lo, %hi}}, %start;
    shfl.sync.idx.b32 %lo, %lo, %leader, 31, %lanes;
    shfl.sync.idx.b32 %hi, %hi, %leader, 31, %lanes;
    mov.b64 %start, {{%lo, %hi}};
    setp.eq.s64 %over, %start, -1;
    @%over exit;

    add.u64 %at, %start, 1;
    @%is_a bra $cuda_lsp_values;
    {_listed("%address", "a")}
$cuda_lsp_values:
    @!%has_v bra $cuda_lsp_tickets;
    @%is_v bra $cuda_lsp_values_progress;
    {_listed("%value", "v")}
    bra $cuda_lsp_tickets;
$cuda_lsp_values_progress:
    {_first_and_step("v")}
$cuda_lsp_tickets:
    @!%has_t bra $cuda_lsp_written;
    and.b64 %wide, %at, %mask;
    mul.lo.u64 %wide, %wide, {UNIT};
    add.u64 %wide, %wide, %ring;
    st.global.u64 [%wide], %ticket;
$cuda_lsp_written:
    bar.warp.sync %lanes;
    @!%leads bra $cuda_lsp_done;
    and.b64 %wide, %start, %mask;
    mul.lo.u64 %wide, %wide, {UNIT};
    add.u64 %wide, %wide, %ring;
    shl.b32 %lo, %form, 24;
    or.b32 %lo, %lo, %site;
    and.b32 %hi, %options, {0xFFFF00 | 0xF << FAULT};
    or.b32 %hi, %hi, %units;
    st.global.v4.u32 [%wide], {{%lo, %lanes, %thread, %hi}};
    st.global.u64 [%wide+16], %first_a;
    st.global.v2.u32 [%wide+24], {{%step_a, %unwritten}};
    membar.sys;
$cuda_lsp_turn:
    ld.volatile.global.u64 %next, [%heads+{COMMIT}];
    setp.eq.s64 %over, %next, %start;
    @%over bra $cuda_lsp_publish;
    ld.volatile.global.u64 %next, [%reads];
    setp.lt.s64 %over, %next, 0;
    @%over exit;
    bra $cuda_lsp_turn;
$cuda_lsp_publish:
    membar.sys;
    st.volatile.global.u64 [%heads+{COMMIT}], %end;
$cuda_lsp_done:
    bar.warp.sync %lanes;
    ret;
}}
"""

_FAULT = f"""
    call {LOG}, (%site, %options, %address, 0, 0);
    exit;"""

_WHERE_GLOBAL = f"""
.func (.reg .b64 %found) {WHERE_GLOBAL} (.reg .b32 %site, .reg .b64 %address, .reg .b64 %size)
{{
    .reg .pred %bad, %in;
    .reg .b32 %options;
    .reg .b64 %from, %off, %end, %room, %left;
    mov.u64 %found, %address;
    add.s64 %off, %size, -1;
    and.b64 %off, %off, %address;
    setp.ne.u64 %bad, %off, 0;
    mov.u32 %options, {int(Fault.MISALIGNED) << FAULT};
    @%bad bra $cuda_lsp_bad;
    ld.const.u64 %from, {_control(Control.ARENA)};
    ld.const.u64 %room, {_control(Control.ARENA_SIZE)};
    sub.u64 %off, %address, %from;
    setp.lt.u64 %in, %off, %room;
    @%in bra $cuda_lsp_good;
    ld.const.u64 %left, {_control(Control.RANGE_COUNT)};
    ld.const.u64 %from, {_control(Control.RANGES)};
$cuda_lsp_range:
    setp.eq.u64 %bad, %left, 0;
    mov.u32 %options, {int(Fault.OUT_OF_BOUNDS) << FAULT};
    @%bad bra $cuda_lsp_bad;
    ld.global.v2.u64 {{%off, %room}}, [%from];
    sub.u64 %off, %address, %off;
    add.u64 %end, %off, %size;
    setp.le.u64 %in, %end, %room;
    setp.lt.and.u64 %in, %off, %room, %in;
    @%in bra $cuda_lsp_good;
    add.u64 %from, %from, 16;
    add.s64 %left, %left, -1;
    bra $cuda_lsp_range;
$cuda_lsp_bad:
    {_FAULT}
$cuda_lsp_good:
    ret;
}}
"""

_WHERE_SHARED = f"""
.func (.reg .b64 %found) {WHERE_SHARED} (.reg .b32 %site, .reg .b64 %at, .reg .b64 %size)
{{
    .reg .pred %bad, %in;
    .reg .b32 %options;
    .reg .b64 %address, %off, %end;
    or.b64 %address, %at, {SHARED - (1 << 64)};
    mov.u64 %found, %address;
    add.s64 %off, %size, -1;
    and.b64 %off, %off, %at;
    setp.ne.u64 %bad, %off, 0;
    mov.u32 %options, {int(Fault.MISALIGNED) << FAULT};
    @%bad bra $cuda_lsp_bad;
    mov.u32 %options, {int(Fault.OUT_OF_BOUNDS) << FAULT};
    ld.const.u64 %off, {_control(Control.SHARED_BEGIN)};
    ld.const.u64 %end, {_control(Control.SHARED_END)};
    setp.lt.u64 %bad, %at, %off;
    @%bad bra $cuda_lsp_bad;
    add.u64 %off, %at, %size;
    setp.gt.u64 %bad, %off, %end;
    @%bad bra $cuda_lsp_bad;
    ret;
$cuda_lsp_bad:
    {_FAULT}
}}
"""

_WHERE_GENERIC = f"""
.func (.reg .b64 %found) {WHERE_GENERIC} (.reg .b32 %site, .reg .b64 %address, .reg .b64 %size)
{{
    .reg .pred %in;
    .reg .b64 %at;
    mov.u64 %found, 0;
    isspacep.local %in, %address;
    @%in ret;
    isspacep.const %in, %address;
    @%in ret;
    isspacep.param %in, %address;
    @%in ret;
    isspacep.shared %in, %address;
    @%in bra $cuda_lsp_shared;
    call (%found), {WHERE_GLOBAL}, (%site, %address, %size);
    ret;
$cuda_lsp_shared:
    cvta.to.shared.u64 %at, %address;
    call (%found), {WHERE_SHARED}, (%site, %at, %size);
    ret;
}}
"""

_DELAY = f"""
.func {DELAY} (.reg .b32 %salt, .reg .b32 %rare, .reg .b32 %bits)
{{
    .reg .pred %none, %odd;
    .reg .b64 %wide;
    .reg .b32 %seed, %x, %y, %z;
    ld.const.u64 %wide, {_control(Control.SEED)};
    cvt.u32.u64 %seed, %wide;
    setp.eq.u32 %none, %seed, 0;
    @%none ret;
    {_number("%x", "cta", "%y", "%z")}
    mul.lo.u32 %salt, %salt, {0x27D4EB2F};
    mad.lo.u32 %salt, %x, {0x85EBCA6B}, %salt;
    mad.lo.u32 %salt, %seed, {0x9E3779B1}, %salt;
    {_number("%x", "t", "%y", "%z")}
    shr.u32 %x, %x, 5;
    and.b32 %y, %seed, 1;
    setp.eq.u32 %odd, %y, 1;
    selp.b32 %x, 0, %x, %odd;
    mad.lo.u32 %x, %x, {0xC2B2AE35}, %salt;
    shr.u32 %y, %x, 15;
    xor.b32 %x, %x, %y;
    mul.lo.u32 %x, %x, {0x2C1B3C6D};
    shr.u32 %y, %x, 12;
    xor.b32 %x, %x, %y;
    mul.lo.u32 %x, %x, {0x297A2D39};
    shr.u32 %y, %x, 15;
    xor.b32 %x, %x, %y;
    bfe.u32 %y, %x, 0, %rare;
    setp.ne.u32 %none, %y, 0;
    @%none ret;
    bfe.u32 %y, %x, 8, %bits;
    nanosleep.u32 %y;
    ret;
}}
"""

_LOCK = f"""
.func (.reg .b64 %found) {LOCK} (.reg .b64 %address)
{{
    .reg .b64 %a, %b;
    .reg .b32 %turn;
    .reg .pred %none;
    shr.u64 %a, %address, {LOCK_SHIFT};
    shr.u64 %b, %address, {LOCK_SHIFT_2};
    xor.b64 %a, %a, %b;
    and.b64 %a, %a, {LOCKS - 1};
    setp.eq.u64 %none, %address, 0;
    selp.b64 %a, {NO_LOCK}, %a, %none;
    mul.lo.u64 %a, %a, {LOCK_BYTES};
    ld.const.u64 %found, {_control(Control.LOCKS)};
    add.u64 %found, %found, %a;
    ld.volatile.global.u32 %turn, [%found];
    call {DELAY}, (%turn, {_LATE_LOCK[0]}, {_LATE_LOCK[1]});
    ret;
}}
"""

_WAIT = f"""
.func {WAIT}
{{
    .reg .pred %over;
    .reg .b64 %a;
    ld.const.u64 %a, {_control(Control.LOCKS)};
    ld.volatile.global.u64 %a, [%a+{STOP_LOCK * LOCK_BYTES}];
    setp.ne.u64 %over, %a, 0;
    @%over exit;
    ret;
}}
"""

ROUTINE: Final = f""".version 8.0
.target sm_75
.address_size 64
.const .align 8 .b64 {CONTROL}[{int(Control.WORDS)}];
{_LOG}{_WHERE_GLOBAL}{_WHERE_SHARED}{_WHERE_GENERIC}{_DELAY}{_LOCK}{_WAIT}"""
