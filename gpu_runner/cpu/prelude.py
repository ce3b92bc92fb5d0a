"""The LLVM IR that every translated kernel starts with: intrinsics, checked pointers and records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gpu_runner.cpu.layout import (
    CLUSTER_SHIFT,
    GLOBAL_BASE,
    LOCAL_BASE,
    PARAM_BASE,
    RECORD_BYTES,
    RUN,
    SHARED_BASE,
    THREAD,
    offset,
)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where things lie in this process; they become constants of the code."""

    run: int
    parameters: int
    workspace: int = 0
    """Generic address of the workspace of a cooperative launch."""


def pointer(address: int) -> str:
    """A constant machine address as an LLVM constant."""
    return f"inttoptr (i64 {address} to ptr)"


INTRINSICS: Final = """
declare token @llvm.coro.id(i32, ptr readnone, ptr nocapture readonly, ptr)
declare i64 @llvm.coro.size.i64()
declare ptr @llvm.coro.begin(token, ptr writeonly)
declare i8 @llvm.coro.suspend(token, i1)
declare void @llvm.coro.end(ptr, i1, token)
declare void @llvm.coro.resume(ptr)
"""


def _in_cluster(addresses: Addresses, cluster: int) -> str:
    """The shared memory of another block of a cluster of so many, by its address and as long as the block has not
    ended: functions for `prelude`."""
    if cluster == 1:
        return """
define internal ptr @at_other(ptr %t, i64 %off, i64 %n) alwaysinline {
  ret ptr null
}
define internal void @record_shared(ptr %t, i64 %a, i64 %value, i32 %site) alwaysinline {
  call void @record(ptr %t, i64 %a, i64 %value, i32 %site)
  ret void
}
define internal void @record_generic(ptr %t, i64 %a, i64 %value, i32 %site) alwaysinline {
  call void @record(ptr %t, i64 %a, i64 %value, i32 %site)
  ret void
}"""
    size = pointer(addresses.run + offset(RUN, "shared_size"))
    stride = pointer(addresses.run + offset(RUN, "shared_stride"))
    alive = pointer(addresses.run + offset(RUN, "slot_alive"))
    low = (1 << CLUSTER_SHIFT) - 1
    return f"""
define internal ptr @at_other(ptr %t, i64 %off, i64 %n) {{
  %above = lshr i64 %off, {CLUSTER_SHIFT}
  %rank = sub i64 %above, 1
  %is = icmp ult i64 %rank, {cluster}
  %low = and i64 %off, {low}
  %end = add i64 %low, %n
  %s32 = load i32, ptr {size}
  %s = zext i32 %s32 to i64
  %fits = icmp ule i64 %end, %s
  %both = and i1 %is, %fits
  br i1 %both, label %look, label %bad
look:
  %fp = getelementptr i8, ptr %t, i64 {offset(THREAD, "cluster_first")}
  %f32 = load i32, ptr %fp
  %f = zext i32 %f32 to i64
  %slot = add i64 %f, %rank
  %table = load ptr, ptr {alive}
  %ap = getelementptr i64, ptr %table, i64 %slot
  %left = load i64, ptr %ap
  %lives = icmp ne i64 %left, 0
  br i1 %lives, label %good, label %bad
good:
  %stride = load i64, ptr {stride}
  %op = getelementptr i8, ptr %t, i64 {offset(THREAD, "cluster_rank")}
  %o32 = load i32, ptr %op
  %own = zext i32 %o32 to i64
  %by = sub i64 %rank, %own
  %far = mul i64 %by, %stride
  %whole = add i64 %far, %low
  %bp = getelementptr i8, ptr %t, i64 {offset(THREAD, "shared")}
  %b = load ptr, ptr %bp
  %p = getelementptr i8, ptr %b, i64 %whole
  ret ptr %p
bad:
  ret ptr null
}}
define internal void @record_shared(ptr %t, i64 %a, i64 %value, i32 %site) {{
  %off = sub i64 %a, {SHARED_BASE}
  %above = lshr i64 %off, {CLUSTER_SHIFT}
  %own = icmp eq i64 %above, 0
  br i1 %own, label %log, label %other
other:
  %fp = getelementptr i8, ptr %t, i64 {offset(THREAD, "cluster_first")}
  %f32 = load i32, ptr %fp
  %f = zext i32 %f32 to i64
  %slot = add i64 %f, %above
  %high = shl i64 %slot, {CLUSTER_SHIFT}
  %low = and i64 %off, {low}
  %sum = or i64 %high, %low
  %there = add i64 %sum, {SHARED_BASE}
  br label %log
log:
  %address = phi i64 [%a, %0], [%there, %other]
  call void @record(ptr %t, i64 %address, i64 %value, i32 %site)
  ret void
}}
define internal void @record_generic(ptr %t, i64 %a, i64 %value, i32 %site) {{
  %window = lshr i64 %a, 32
  %shared = icmp eq i64 %window, {SHARED_BASE >> 32}
  br i1 %shared, label %in, label %out
in:
  call void @record_shared(ptr %t, i64 %a, i64 %value, i32 %site)
  ret void
out:
  call void @record(ptr %t, i64 %a, i64 %value, i32 %site)
  ret void
}}"""


def prelude(addresses: Addresses, local_size: int, cluster: int = 1, parameter_size: int = 0) -> str:
    """`@at_SPACE(thread, address, size)` gives a machine address or null; `@record` logs an access. `cluster`: blocks
    of a cluster."""
    shared, local = offset(THREAD, "shared"), offset(THREAD, "local")
    return f"""{INTRINSICS}{_in_cluster(addresses, cluster)}
define internal i1 @is_inside(i64 %off, i64 %n, i64 %size) alwaysinline {{
  %in = icmp ult i64 %off, %size
  %end = add i64 %off, %n
  %fits = icmp ule i64 %end, %size
  %both = and i1 %in, %fits
  ret i1 %both
}}
define internal ptr @at_global(ptr %t, i64 %a, i64 %n) alwaysinline {{
  %off = sub i64 %a, {GLOBAL_BASE}
  %zp = getelementptr i8, ptr {pointer(addresses.run)}, i64 {offset(RUN, "arena_size")}
  %z = load i64, ptr %zp
  %in = icmp ult i64 %off, %z
  br i1 %in, label %look, label %bad
look:
  %g = lshr i64 %off, 8
  %tp = getelementptr i8, ptr {pointer(addresses.run)}, i64 {offset(RUN, "granules")}
  %table = load ptr, ptr %tp
  %vp = getelementptr i16, ptr %table, i64 %g
  %v = load i16, ptr %vp
  %valid = zext i16 %v to i64
  %low = and i64 %off, 255
  %end = add i64 %low, %n
  %fits = icmp ule i64 %end, %valid
  br i1 %fits, label %good, label %bad
good:
  %ap = getelementptr i8, ptr {pointer(addresses.run)}, i64 {offset(RUN, "arena")}
  %arena = load ptr, ptr %ap
  %p = getelementptr i8, ptr %arena, i64 %off
  ret ptr %p
bad:
  ret ptr null
}}
define internal ptr @at_shared(ptr %t, i64 %a, i64 %n) alwaysinline {{
  %off = sub i64 %a, {SHARED_BASE}
  %sp = getelementptr i8, ptr {pointer(addresses.run)}, i64 {offset(RUN, "shared_size")}
  %s32 = load i32, ptr %sp
  %s = zext i32 %s32 to i64
  %inside = call i1 @is_inside(i64 %off, i64 %n, i64 %s)
  br i1 %inside, label %good, label %bad
good:
  %bp = getelementptr i8, ptr %t, i64 {shared}
  %b = load ptr, ptr %bp
  %p = getelementptr i8, ptr %b, i64 %off
  ret ptr %p
bad:
  %q = call ptr @at_other(ptr %t, i64 %off, i64 %n)
  ret ptr %q
}}
define internal ptr @at_local(ptr %t, i64 %a, i64 %n) alwaysinline {{
  %off = sub i64 %a, {LOCAL_BASE}
  %inside = call i1 @is_inside(i64 %off, i64 %n, i64 {local_size})
  br i1 %inside, label %good, label %bad
good:
  %bp = getelementptr i8, ptr %t, i64 {local}
  %b = load ptr, ptr %bp
  %p = getelementptr i8, ptr %b, i64 %off
  ret ptr %p
bad:
  ret ptr null
}}
define internal ptr @at_param(ptr %t, i64 %a, i64 %n) alwaysinline {{
  %off = sub i64 %a, {PARAM_BASE}
  %inside = call i1 @is_inside(i64 %off, i64 %n, i64 {parameter_size})
  %p = getelementptr i8, ptr {pointer(addresses.parameters)}, i64 %off
  %good = select i1 %inside, ptr %p, ptr null
  ret ptr %good
}}
define internal ptr @at_generic(ptr %t, i64 %a, i64 %n) {{
  %window = lshr i64 %a, 32
  switch i64 %window, label %global [
    i64 {SHARED_BASE >> 32}, label %shared
    i64 {LOCAL_BASE >> 32}, label %local
    i64 {PARAM_BASE >> 32}, label %param
  ]
global:
  %pg = call ptr @at_global(ptr %t, i64 %a, i64 %n)
  ret ptr %pg
shared:
  %ps = call ptr @at_shared(ptr %t, i64 %a, i64 %n)
  ret ptr %ps
local:
  %pl = call ptr @at_local(ptr %t, i64 %a, i64 %n)
  ret ptr %pl
param:
  %pp = call ptr @at_param(ptr %t, i64 %a, i64 %n)
  ret ptr %pp
}}
define internal void @record(ptr %t, i64 %a, i64 %value, i32 %site) {{
  %cp = getelementptr i8, ptr {pointer(addresses.run)}, i64 {offset(RUN, "cursor")}
  %c = load ptr, ptr %cp
  %np = getelementptr i8, ptr %t, i64 {offset(THREAD, "thread")}
  %n = load i32, ptr %np
  store i64 %a, ptr %c
  %c1 = getelementptr i8, ptr %c, i64 8
  store i64 %value, ptr %c1
  %c2 = getelementptr i8, ptr %c, i64 16
  store i32 %n, ptr %c2
  %c3 = getelementptr i8, ptr %c, i64 20
  store i32 %site, ptr %c3
  %c4 = getelementptr i8, ptr %c, i64 {RECORD_BYTES}
  store ptr %c4, ptr %cp
  %lp = getelementptr i8, ptr {pointer(addresses.run)}, i64 {offset(RUN, "limit")}
  %l = load ptr, ptr %lp
  %full = icmp uge ptr %c4, %l
  br i1 %full, label %flush, label %done
flush:
  %fp = getelementptr i8, ptr {pointer(addresses.run)}, i64 {offset(RUN, "flush")}
  %f = load ptr, ptr %fp
  call void %f()
  br label %done
done:
  ret void
}}
define internal void @record_agent(ptr %t, i64 %a, i64 %value, i32 %site) {{
  %np = getelementptr i8, ptr %t, i64 {offset(THREAD, "thread")}
  %n = load i32, ptr %np
  %gp = getelementptr i8, ptr {pointer(addresses.run)}, i64 {offset(RUN, "agents")}
  %g = load i32, ptr %gp
  %as = add i32 %n, %g
  store i32 %as, ptr %np
  call void @record(ptr %t, i64 %a, i64 %value, i32 %site)
  store i32 %n, ptr %np
  ret void
}}
define internal void @record_outside(ptr %t, i64 %a, i64 %value, i32 %site) alwaysinline {{
  %window = lshr i64 %a, 32
  %is_local = icmp eq i64 %window, {LOCAL_BASE >> 32}
  %is_param = icmp eq i64 %window, {PARAM_BASE >> 32}
  %is = or i1 %is_local, %is_param
  br i1 %is, label %done, label %log
log:
  call void @record_generic(ptr %t, i64 %a, i64 %value, i32 %site)
  br label %done
done:
  ret void
}}
define internal i32 @print(ptr %t, i64 %format, i64 %arguments, i32 %site) noinline {{
  %pp = getelementptr i8, ptr {pointer(addresses.run)}, i64 {offset(RUN, "printer")}
  %p = load ptr, ptr %pp
  %np = getelementptr i8, ptr %t, i64 {offset(THREAD, "thread")}
  %n = load i32, ptr %np
  %lp = getelementptr i8, ptr %t, i64 {offset(THREAD, "local")}
  %l = load i64, ptr %lp
  %r = call i32 %p(i32 %n, i64 %format, i64 %arguments, i64 %l)
  ret i32 %r
}}
define internal i64 @allocate(i64 %size) noinline {{
  %pp = getelementptr i8, ptr {pointer(addresses.run)}, i64 {offset(RUN, "allocator")}
  %p = load ptr, ptr %pp
  %r = call i64 %p(i64 %size)
  ret i64 %r
}}
define internal void @release(i64 %a) noinline {{
  %pp = getelementptr i8, ptr {pointer(addresses.run)}, i64 {offset(RUN, "releaser")}
  %p = load ptr, ptr %pp
  call void %p(i64 %a)
  ret void
}}
define i64 @log(ptr %t, i64 %a, i64 %value, i64 %site) {{
  %s = trunc i64 %site to i32
  call void @record(ptr %t, i64 %a, i64 %value, i32 %s)
  ret i64 0
}}
define internal void @fault(ptr %t, i64 %a, i32 %site, i32 %what) noinline {{
  %sp = getelementptr i8, ptr %t, i64 {offset(THREAD, "status")}
  store i32 4, ptr %sp
  %ip = getelementptr i8, ptr %t, i64 {offset(THREAD, "site")}
  store i32 %site, ptr %ip
  %op = getelementptr i8, ptr %t, i64 {offset(THREAD, "op")}
  store i32 %what, ptr %op
  %ap = getelementptr i8, ptr %t, i64 {offset(THREAD, "a")}
  store i64 %a, ptr %ap
  ret void
}}
define i64 @resume(ptr %h) {{
  call void @llvm.coro.resume(ptr %h)
  ret i64 0
}}
"""
