"""One request from beginning to end, in the process that calls it: compile, translate, run under each seed, and name
what was found. `gpu_runner.harness` calls this in a process of its own, with limits."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from gpu_runner.arguments import arguments_of
from gpu_runner.compile import (
    Compiled,
    CompileError,
    CompileOptions,
    CompilerTrouble,
    NoCompiler,
    compile_source,
    newer_arch,
)
from gpu_runner.cpu import execute
from gpu_runner.cpu.body import Unsupported
from gpu_runner.cpu.execute import prepare, resident_blocks
from gpu_runner.cpu.handover import Consumer
from gpu_runner.cpu.launch import Execution, Launch, LaunchError, Seen, check_size
from gpu_runner.cpu.layout import FIRST_SITE, GLOBAL_BASE, SHARED_BASE, Fault, SiteKind
from gpu_runner.cpu.layout import Status as ThreadStatus
from gpu_runner.cpu.machine import Notice, Outcome
from gpu_runner.cpu.undefined import used
from gpu_runner.cpu.variables import sizes
from gpu_runner.detector import detect, shadow
from gpu_runner.detector.detect import CELL, NOTHING_SILENT, Shape, Silent
from gpu_runner.detector.shards import ShardedDetector
from gpu_runner.gpu import execute as on_gpu
from gpu_runner.gpu.driver import Device, DriverError, NoGpu, find
from gpu_runner.kernel import AnyKernel
from gpu_runner.naming import Names, Shapes, entry_named
from gpu_runner.ptx import model
from gpu_runner.ptx.guesses import with_relaxed_guesses
from gpu_runner.ptx.inlined import with_calls
from gpu_runner.ptx.lexer import PtxSyntaxError
from gpu_runner.ptx.parse import parse
from gpu_runner.request import (
    Argument,
    ArrayArgument,
    Dim3,
    Element,
    FaultKind,
    Focus,
    PointersArgument,
    RecordArgument,
    Request,
    RunAccess,
    RunFault,
    RunRace,
    RunResult,
    Status,
)
from gpu_runner.search import constants_of, sought
from gpu_runner.shown import is_at, memory_of
from gpu_runner.shrinking import sized

_MOST_RESIDENT_THREADS: Final = 1 << 18
"""About what a large GPU holds at once."""
_NULL: Final = 1 << 16
"""Addresses below this are of null pointers or a little behind them."""
_SCOPES: Final = ("intra-warp", "intra-block", "inter-block")
_KINDS: Final = {shadow.READ: "read", shadow.WRITE: "write", shadow.ATOMIC_WRITE: "atomic"}
_FAULTS: Final[Mapping[Fault, tuple[FaultKind, str]]] = {
    Fault.OUT_OF_BOUNDS: ("out-of-bounds", "access outside of every array"),
    Fault.MISALIGNED: ("misaligned", "misaligned access"),
    Fault.ASSERTION: ("assertion", "assertion failed"),
    Fault.TRAP: ("trap", "trap"),
    Fault.UNREACHABLE: ("unreachable", "branch to nowhere"),
    Fault.STACK: ("trap", "functions that call themselves go deeper than their memory, 32 KiB of a thread, lets them"),
    Fault.CALL: ("unreachable", "call through a pointer to no function of this kind, or of one that calls itself"),
}


_NAMELESS: Final = re.compile(r"\((?:lambda|unnamed|anonymous) ")
"""As clang writes types that have none, and what is in a namespace that has none."""


def serve(request: Request, compiled: Callable[[bool], None] | None = None) -> RunResult:
    """Answer a request. `compiled` is called when no compiler is needed any more, before the kernel runs, and told
    whether it runs on a GPU."""
    compiler, text = "", request.ptx
    unnamed = next((each for each in request.instances if _NAMELESS.search(each)), None)
    if text is None and unnamed is not None:
        reason = f"the instance {unnamed}: a type without a name cannot be named where the kernel is compiled alone"
        return RunResult("unsupported", "the kernel is a template for something without a name", (reason,))
    if text is None:
        options = CompileOptions(
            request.build, request.arch, request.flags, request.compiler, request.instances, request.folder
        )
        try:
            done = _compiled(request, options)
        except CompileError as error:
            return refused(str(error))
        except NoCompiler as error:
            return RunResult("compiler", str(error))
        compiler, text = done.compiler, done.ptx
        if done.reason:
            compiler += f" for sm_{done.arch}, {done.reason}"
    try:
        device = on_gpu_or_not(request.device)
        if compiled is not None:
            compiled(device is not None)
        module = with_calls(with_relaxed_guesses(parse(text)))
        result = run_module(request, module, None, device)
        return replace(result, compiler=compiler, device="" if device is None else device.name)
    except NoGpu as error:
        return RunResult("device", str(error), compiler=compiler)
    except PtxSyntaxError as error:
        return RunResult("unsupported", f"PTX that cannot be read: {error}", compiler=compiler)


_KNOWN: Final = (
    (
        re.compile(r"\((\d+)\): error: kernel launch from __device__ or __global__ functions"),
        "launches of kernels from the device: run the inner kernel by itself",
    ),
    (
        re.compile(r"\((\d+)\): error: texture is not a template"),
        "texture references, which CUDA has no longer, nor a run: give the kernel the data as an array",
    ),
)
"""What compilers say of what no run has, and what to say of it."""
_MESSAGE: Final = re.compile(r"(?:\(\d+\)|^\w[^:]*): (?:catastrophic )?(error|warning|note|remark)\b")
_COMPILER_LINES: Final = 24
"""Of what a compiler says; further errors mostly follow from the first ones."""


def refused(log: str) -> RunResult:
    """The answer where the compiler does not take a kernel."""
    for pattern, reason in _KNOWN:
        found = pattern.search(log)
        if found is not None:
            reasons = (f"{reason} (line {found[1]})",)
            return RunResult("unsupported", "the kernel uses what the CPU executor cannot run", reasons)
    lines = _errors(log)
    if len(lines) > _COMPILER_LINES:
        lines = [*lines[:_COMPILER_LINES], f"… and {len(lines) - _COMPILER_LINES} more lines"]
    return RunResult("compile", "\n".join(lines))


def _errors(log: str) -> list[str]:
    """The lines of a compiler's log that belong to errors; all where it marks none."""
    kept: list[str] = []
    kind = "error"
    for line in log.splitlines():
        begins = _MESSAGE.search(line)
        kind = begins[1] if begins is not None else kind
        if kind == "error" and (line.strip() or kept):
            kept.append(line)
    return kept if any(_MESSAGE.search(line) for line in kept) else log.splitlines()


def _compiled(request: Request, options: CompileOptions) -> Compiled:
    """For a newer architecture where the source does not compile for the one asked for. Raises `CompileError` and
    `NoCompiler`."""
    try:
        return _for_arch(request, options)
    except CompilerTrouble:
        raise
    except CompileError:
        plain = request.source if request.plain is None else request.plain
        arch = newer_arch(plain or "", request.path, options)
        if arch is None:
            raise
        done = _for_arch(request, replace(options, arch=arch))
        return replace(done, reason=f"as it does not compile for sm_{options.arch}")


def _for_arch(request: Request, options: CompileOptions) -> Compiled:
    """Raises `CompileError` and `NoCompiler`."""
    try:
        return compile_source(request.source or "", request.path, options)
    except CompileError:
        if request.plain is None:
            raise
        return compile_source(request.plain, request.path, options)


def on_gpu_or_not(wanted: Literal["cpu", "gpu", "auto"]) -> Device | None:
    """The GPU, or None for the processor. Raises `NoGpu` where there is none and it has to be one."""
    if wanted == "cpu":
        return None
    try:
        return find()
    except NoGpu:
        if wanted == "auto":
            return None
        raise


def run_module(
    request: Request, module: model.Module, known: dict[str, AnyKernel] | None = None, device: Device | None = None
) -> RunResult:
    """Answer a request for a kernel of a module that was compiled and parsed already. `known`: kernels of the
    module that were translated by earlier calls, which are used again where they can be. `device`: the GPU to run on
    instead of the processor."""
    kernels: dict[str, AnyKernel] = {} if known is None else known
    started = time.monotonic()
    whole = request.seconds

    def once(asked: Request, watch: Consumer | None = None) -> RunResult:
        left = whole - (time.monotonic() - started)
        if left < 0.9 * whole:  # not the first run
            asked = replace(asked, seconds=max(0.1, min(left, asked.seconds)))
        return _launched(asked, module, kernels, watch, device)

    request, result = sized(request, once)
    result = replace(result, arguments=request.arguments)
    if request.goal is None:
        return replace(result, seconds=time.monotonic() - started)
    constants = constants_of(module, request.kernel)
    with contextlib.suppress(MemoryError):  # no other input fits beside the first one
        result = sought(request, result, once, constants)
    return replace(result, seconds=time.monotonic() - started)


def _launched(
    request: Request,
    module: model.Module,
    known: dict[str, AnyKernel],
    watch: Consumer | None,
    device: Device | None,
) -> RunResult:
    try:
        entry = entry_named(module, request.kernel)
    except KeyError:
        names = ", ".join(f.name for f in module.functions if f.kind == "entry")
        return RunResult("launch", f"no kernel {request.kernel} in the PTX; there are: {names or 'none'}")
    try:
        function = module.definition(entry)
        assert function is not None
        check_size(function, request.grid, request.block)
        arguments = arguments_of(request, module, entry)
        launch = Launch(request.grid, request.block, arguments, request.dynamic_shared)
        kernel = known.get(entry)
        if kernel is not None:
            kernel.relaunch(launch)
        elif device is not None:
            # No limit of the system's holds for a process that talks to the driver.
            if CELL.itemsize // 4 * sum(len(array.data) for _, array in launch.arrays) > request.memory:
                raise MemoryError
            kernel = on_gpu.prepare(module, entry, launch, device)
        else:
            kernel = prepare(module, entry, launch, request.lock_step)
        known[entry] = kernel
    except LaunchError as error:
        return RunResult("launch", str(error))
    except Unsupported as error:
        executor = "CPU" if device is None else "GPU"
        return RunResult("unsupported", f"the kernel uses what the {executor} executor cannot run", error.reasons)
    except DriverError as error:
        return RunResult("device", str(error))
    shapes = Shapes(request.variables, sizes(module, entry))
    names = Names(module, kernel, kernel.layout.shared, _named_arrays(request), shapes)
    try:
        return _seeds(request, kernel, names, watch)
    except DriverError as error:
        return RunResult("device", str(error))


def _looking_at(request: Request, kernel: AnyKernel, names: Names, consume: Consumer) -> Consumer:
    """The consumer, which gets of the plain accesses only those that are looked at."""
    if not request.focus:
        return consume
    sites = kernel.sites
    plain = np.zeros(len(sites), bool)
    wanted: list[tuple[NDArray[np.bool_], int | None]] = []
    for focus in request.focus:
        here = np.zeros(len(sites), bool)
        for number, site in enumerate(sites, FIRST_SITE):
            plain[number] = site.order == "weak" and site.kind in (SiteKind.READ, SiteKind.WRITE)
            here[number] = is_at(focus, names.places(number))
        wanted.append((here, _number(focus, kernel.launch)))

    def some(records: NDArray[np.uint64]) -> None:
        site = (records[:, 2] >> np.uint64(32)).astype(np.int64) & 0xFFFFFF
        thread = (records[:, 2] & np.uint64(0xFFFFFFFF)).astype(np.int64)
        kept = ~plain[site]
        for here, number in wanted:
            kept |= here[site] & (True if number is None else thread == number)
        consume(records[kept])

    return some


def _both(watch: Consumer | None, consume: Consumer) -> Consumer:
    if watch is None:
        return consume

    def both(records: NDArray[np.uint64]) -> None:
        watch(records)
        consume(records)

    return both


def _number(focus: Focus, launch: Launch) -> int | None:
    """The number of a thread in records."""
    if focus.block is None or focus.thread is None:
        return None
    return linear(focus.block, launch.grid) << launch.shift | linear(focus.thread, launch.block)


def linear(point: Dim3, size: Dim3) -> int:
    """The number of a coordinate, x fastest."""
    return point[0] + size[0] * (point[1] + size[1] * point[2])


def _named_arrays(request: Request) -> dict[str, tuple[str, Element]]:
    """Name and element type of the arrays among the arguments, by their numbers as in `Launch.arrays`."""
    found: dict[str, tuple[str, Element]] = {}

    def note(number: str, name: str, argument: Argument) -> None:
        if isinstance(argument, ArrayArgument):
            found[number] = (name, argument.element)
        elif isinstance(argument, PointersArgument):
            found[number] = (name, "u64")
            for at in range(argument.count):
                note(f"{number}/{at}", f"{name}[{at}]", argument.target)
        elif isinstance(argument, RecordArgument):
            for at, part in enumerate(argument.parts):
                note(f"{number}.{at}", part.name, part.argument)

    for number, argument in enumerate(request.arguments):
        name = request.names[number] if number < len(request.names) else f"argument {number}"
        note(str(number), name, argument)
    return found


@dataclass(slots=True)
class _Found:
    races: dict[tuple[object, ...], RunRace] = field(default_factory=dict["tuple[object, ...]", RunRace])
    faults: dict[object, RunFault] = field(default_factory=dict[object, RunFault])
    printed: str = ""
    runs: int = 0
    ended: int = 0
    accesses: int = 0
    shuffles: set[int] = field(default_factory=set[int])
    """Sites of those of which is known whether what is undefined in them was used."""

    def note(self, fault: RunFault) -> None:
        self.faults.setdefault((fault.kind, fault.access.places, fault.access.instruction), fault)


def _seeds(request: Request, kernel: AnyKernel, names: Names, watch: Consumer | None = None) -> RunResult:
    found = _Found()
    detect.CODE.load()
    execute.SCHEDULER.load()
    started = time.monotonic()
    status: Status = "finished"
    message = ""
    waiting: tuple[RunAccess, ...] = ()
    spinning = False
    threads, resident = kernel.launch.threads_per_block, resident_blocks(kernel.launch)
    for seed in request.seeds:
        left = request.seconds - (time.monotonic() - started)
        if left <= 0:
            status, message = (
                "time",
                f"stopped after {request.seconds:.3g} s and {found.runs} of {len(request.seeds)} runs",
            )
            break
        while True:
            execution = _one(request, kernel, names, watch, seed, left, resident, found)
            if not execution.starved or resident * threads >= _MOST_RESIDENT_THREADS:
                break
            resident *= 8
        found.runs += 1
        found.accesses += execution.records
        found.printed = found.printed or execution.printed
        for seen in execution.seen:
            if seen.kind is not Notice.UNDEFINED_LANE:
                found.note(_fault(kernel, names, seen, seed))
        left = request.seconds - (time.monotonic() - started)
        for fault in _undefined(kernel, names, execution, seed, left, resident, found):
            found.note(fault)
        status, message, waiting = _ending(execution, names, request.seconds)
        spinning = execution.endless or execution.starved
        if status != "finished":
            break
        found.ended += 1
    return RunResult(
        status,
        message,
        (),
        _of_different_values_first(found),
        tuple(found.faults.values()),
        waiting,
        found.printed,
        found.runs,
        found.ended,
        found.accesses,
        time.monotonic() - started,
        spinning=status == "deadlock" and spinning,
    )


def _undefined(
    kernel: AnyKernel, names: Names, execution: Execution, seed: int, seconds: float, resident: int, found: _Found
) -> Iterator[RunFault]:
    """Uses of what shuffles read from lanes that took no part. What a GPU gives there cannot be chosen."""
    if not isinstance(kernel, execute.Kernel):
        return
    for each in used(kernel, execution, seed, seconds, resident, found.shuffles):
        read = each.read
        what = "what the kernel does" if each.address is None else names.address(each.address)
        text = f"{what} depends on what a shuffle reads from lane {read.address}, which takes no part in it"
        yield RunFault("undefined-shuffle", text, names.access(read.site, read.thread), None, seed)
    found.shuffles |= {seen.site for seen in execution.seen if seen.kind is Notice.UNDEFINED_LANE}


def _one(
    request: Request,
    kernel: AnyKernel,
    names: Names,
    watch: Consumer | None,
    seed: int,
    seconds: float,
    resident: int,
    found: _Found,
) -> Execution:
    """One run and its races. The detector's memory is gone before that of the next one is taken."""
    count = kernel.shards if watch is None else 1
    detector = ShardedDetector(shape_of(kernel, resident, names.silent()), kernel.sites.table(), count)
    consumers = [_both(watch, _looking_at(request, kernel, names, consume)) for consume in detector.consumers]
    execution = kernel.run(consumers, seed, seconds, resident, results=False)
    shift = kernel.launch.shift
    left = frozenset(seen.thread >> shift for seen in execution.seen if seen.kind is Notice.FAULT)
    _note_races(found, detector, names, seed, bool(request.focus), left)
    return execution


def shape_of(kernel: AnyKernel, resident: int, silent: Silent = NOTHING_SILENT) -> Shape:
    """What a detector has to know of a kernel of which so many blocks are asked to be under way at once. `silent`: see
    `Names.silent`."""
    launch = kernel.launch
    return Shape(
        launch.blocks,
        launch.threads_per_block,
        launch.shift,
        GLOBAL_BASE,
        kernel.arena.size,
        SHARED_BASE,
        kernel.shared_size,
        kernel.slots(resident),
        kernel.clustered,
        kernel.uses_agents,
        silent,
    )


def _ending(execution: Execution, names: Names, seconds: float) -> tuple[Status, str, tuple[RunAccess, ...]]:
    if execution.outcome is Outcome.DONE:
        return "finished", "", ()
    places: dict[object, RunAccess] = {}
    for waiting in execution.waiting:
        if waiting.site >= FIRST_SITE:  # else it has not begun
            access = names.access(waiting.site, waiting.thread)
            key = access.places, access.instruction
            known = places.get(key)
            places[key] = access if known is None else replace(known, others=known.others + 1)
    count = len(execution.waiting)
    if not count:  # of a GPU it is known only who waits at a barrier
        return "time", f"stopped after {seconds:.3g} s; the kernel had not ended", ()
    found = tuple(places.values())
    threads = f"{count} thread{'s' * (count != 1)}"
    wait = f"{threads} wait{'s' * (count == 1)} for"
    if execution.starved:
        return "deadlock", f"{wait} blocks that do not fit on a GPU at the same time", found
    if execution.abandoned:
        return "time", f"given up: {threads} went on waiting after a fault had ended another", found
    if execution.endless:
        looping = sum(waiting.status == ThreadStatus.READY for waiting in execution.waiting)
        text = _who_loops(looping, count, "nobody writes any more" if execution.own else "no thread writes")
        # What an input says may be another in truth, or written by the host meanwhile.
        return ("deadlock", text, found) if execution.own else ("time", f"given up: {text}", found)
    if execution.outcome is Outcome.STUCK:
        return "deadlock", f"{wait} {'each other' if count != 1 else 'what never comes'}", found
    return "time", f"stopped after {seconds:.3g} s; {threads} had not ended", found


def _who_loops(looping: int, count: int, what: str) -> str:
    """`looping` of `count` threads wait in loops, the others at barriers and in collectives."""
    s = "s" * (looping == 1)
    text = f"{looping} thread{'s' * (looping != 1)} wait{s} in a loop for what {what}"
    left = count - looping
    return f"{text}, and {left} for {'it' if looping == 1 else 'them'}" if left else text


def _note_races(
    found: _Found, detector: ShardedDetector, names: Names, seed: int, focused: bool, left: Set[int]
) -> None:
    """`left`: blocks in which a fault has ended a thread: what that was to write, others read unwritten."""
    for row in detector.races():
        first_kind, second_kind = int(row["kinds"]) & 15, int(row["kinds"]) >> 4
        second = names.access(int(row["second_site"]), int(row["second"]), _KINDS[second_kind])
        address = int(row["address"])
        if first_kind == shadow.UNWRITTEN and (focused or names.block(int(row["second"])) in left):
            continue  # it may have been written in a line that is not looked at
        if first_kind == shadow.UNWRITTEN:
            text = f"{names.address(address)} is read before anybody has written it"
            key = ("uninitialised", second.places, second.instruction)
            found.faults.setdefault(key, RunFault("uninitialised", text, second, None, seed))
            continue
        first = names.access(int(row["first_site"]), int(row["first"]), _KINDS[first_kind])
        relation = int(row["relation"])
        race = RunRace(
            first,
            second,
            _SCOPES[relation & 15],
            "shared" if names.space(address) == "shared" else "global",
            names.address(address),
            bool(relation & shadow.SAME_VALUE),
            int(row["count"]),
            seed,
        )
        sides = sorted(((a.places, a.kind, a.instruction) for a in (first, second)), key=str)
        key = (*sides, race.scope, memory_of(race.address), race.same_value)
        known = found.races.get(key)
        found.races[key] = race if known is None else replace(known, count=known.count + race.count)


def _of_different_values_first(found: _Found) -> tuple[RunRace, ...]:
    """The races; what wrote the same in one run and not in another counts as the latter only."""
    keys = set(found.races)
    return tuple(race for key, race in found.races.items() if not (race.same_value and (*key[:-1], False) in keys))


def _fault(kernel: AnyKernel, names: Names, seen: Seen, seed: int) -> RunFault:
    access = names.access(seen.site, seen.thread)
    if seen.kind is Notice.DIVERGENT_BARRIER:
        other = names.access(seen.other_site, seen.other_thread)
        return RunFault("divergent-barrier", "threads of one block wait at different barriers", access, other, seed)
    if seen.kind is Notice.LANE_NOT_IN_MASK:
        return RunFault(
            "lane-not-in-mask", "a thread takes part in a collective whose mask it is not in", access, None, seed
        )
    kind, text = _FAULTS[Fault(seen.op)]
    if seen.op == Fault.ASSERTION:
        text = f"assertion failed: {kernel.arena.text(seen.address)}"
    elif seen.op in (Fault.OUT_OF_BOUNDS, Fault.MISALIGNED):
        is_null = seen.address < _NULL
        text = f"{'access through a null pointer' if is_null else text}: {names.address(seen.address)}"
        if kind == "out-of-bounds" and not is_null:
            return RunFault(kind, text, access, None, seed, names.array(seen.address))
    return RunFault(kind, text, access, None, seed)
