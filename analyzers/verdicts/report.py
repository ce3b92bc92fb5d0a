"""Findings from decisions: verdict, severity, one-line message, the two accesses, the witness."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final, Literal

from analyzers.barriers.unnamed import MODE
from analyzers.coordinates import written
from analyzers.ir import expr as E
from analyzers.ir.clusters import own_object
from analyzers.ir.context import DISTINCT, LaunchContext
from analyzers.ir.evaluate import evaluate
from analyzers.ir.events import AccessEvent, BarrierEvent, KernelEvents
from analyzers.ir.expr import Expr
from analyzers.ir.kernel import Kernel
from analyzers.ir.surfaces import is_surface
from analyzers.ir.uniformity import is_uniform
from analyzers.model import (
    Access,
    ContextResult,
    FactNote,
    Finding,
    Reason,
    Remark,
    Severity,
    SourceSpan,
    Verdict,
    Witness,
)
from analyzers.races.acquire_release import AcquireRelease
from analyzers.races.pairs import place
from analyzers.races.relations import Missing
from analyzers.races.scans import NO_WRAP as SUMS
from analyzers.races.scans import assumes_no_wrap
from analyzers.races.tensors import OWN_CELLS, uses_accessors
from analyzers.races.threads import GRID_FITS, WARP, Launch
from analyzers.races.tickets import NO_WRAP as TICKETS
from analyzers.races.tickets import tickets
from analyzers.races.witness import Concrete, access_of, address_text, concretize, lane_beside, witness_of
from analyzers.reference.launch import linear
from analyzers.verdicts import shown
from analyzers.verdicts.asserted import ASSERTED, assertion_finding
from analyzers.verdicts.decide import Decision, DivergenceDecision, RaceDecision, UnnamedDecision
from analyzers.verdicts.replay import concrete_launch
from analyzers.verdicts.routes import same_turns, with_ways
from analyzers.verdicts.said import said

NO_OVERFLOW = "signed arithmetic does not overflow"
NO_WRAP = (
    "unsigned indices and sizes do not wrap around (no array has 2^32 elements, or 2^63 bytes where 64 bits count)"
)
ALIGNED = "accesses are aligned to their type (the hardware stops at a misaligned one)"
IN_BOUNDS = "subscripts of declared arrays are in bounds"
TERMINATES = "every loop ends"
LOADED_POINTERS = "pointers found at different places in memory point to different objects"

MAX_SIZES_SHOWN = 4
_UNSEEN = "No launch of this kernel is in sight; any launch the hardware allows was considered."

Scope = Literal["intra-warp", "intra-block", "inter-block"]


def report(events: KernelEvents, context: LaunchContext, decision: Decision, milliseconds: float) -> ContextResult:
    """The result of one context. ``events`` may be a fresh summary of the same kernel at other positions."""
    launch = Launch(events, context)
    findings = [_race_finding(launch, r) for r in decision.races]
    findings += [_divergence_finding(launch, d) for d in decision.divergences]
    findings += [_missing_lanes(launch, d) for d in decision.missing_lanes]
    findings += [_unnamed(launch, d) for d in decision.unnamed]
    findings += [_redundant_finding(events.kernel, events.barriers[i]) for i in decision.redundant]
    asserted = [(d, launch.events.assertions[d.assertion].site.span) for d in decision.assertions]
    failing = [assertion_finding(launch, d, _anchor(events.kernel, span)) for d, span in asserted]
    findings += [f for f in failing if f is not None]
    findings = _distinct(findings)
    reasons = (*_reasons(events, decision), *_unfollowed_pointers(launch))
    return ContextResult(
        launch=context.summary,
        verdict=_verdict(findings, reasons),
        findings=tuple(sorted(findings, key=lambda f: (f.code.rank, f.span))),
        reasons=reasons,
        assumptions=_assumptions(launch, decision),
        facts=_facts(launch, decision),
        milliseconds=milliseconds,
        rungs=decision.rungs,
        said=said(context),
    )


def unsupported_result(events: KernelEvents, context: LaunchContext, milliseconds: float) -> ContextResult:
    """``unknown``: the kernel contains code whose effects are not modelled."""
    return ContextResult(
        launch=context.summary,
        verdict=Verdict.UNKNOWN,
        reasons=_reasons(events, Decision()),
        milliseconds=milliseconds,
        said=said(context),
    )


def _reasons(events: KernelEvents, decision: Decision) -> tuple[Reason, ...]:
    found = [Reason(u.kind, u.text, u.site.span) for u in events.unsupported]
    for one, two, kind, text in decision.undecided:
        if one < 0:
            b = events.barriers[two]
            found.append(
                Reason(kind, f"could not decide whether all threads reach `{b.site.text}`: {text}", b.site.span)
            )
        else:
            a, b2 = events.accesses[one], events.accesses[two]
            found.append(
                Reason(
                    kind, f"could not decide whether `{a.site.text}` and `{b2.site.text}` collide: {text}", a.site.span
                )
            )
    return tuple(dict.fromkeys(found))


def _unfollowed_pointers(launch: Launch) -> list[Reason]:
    """The host put a pointer into a device variable, or into an array of a parameter, that points where another pointer
    of the kernel does."""
    found: list[Reason] = []
    stored = launch.context.stored
    for variable, allocation in dict.fromkeys(stored):
        loaded = [a for a in launch.events.accesses if a.root.op == "opaque" and _loaded_from(a) == variable]
        same = [a for a in launch.events.accesses if place(launch, a).allocation == f"host:{allocation}"]
        if not loaded or not (same or stored.count((variable, allocation)) > 1):
            continue
        if any(a.writes for a in (*loaded, *same)):
            text = f"the host stores a pointer in `{variable}` to memory that the kernel reaches in another way too"
            found.append(Reason("pointer", text, loaded[0].site.span))
    return found


def _loaded_from(access: AccessEvent) -> str:
    """The object that holds the pointer of an access, as ``mem:gp:ptr`` and ``load:7:gp`` tell it."""
    kind, _, rest = str(access.root.value[0]).partition(":")
    return rest.partition(":")[0] if kind == "mem" else rest.partition(":")[2] if kind == "load" else ""


# --- races --------------------------------------------------------------------------------------------------


def _race_finding(launch: Launch, race: RaceDecision) -> Finding:
    events = launch.events
    a, b = events.accesses[race.one], events.accesses[race.two]
    where = place(launch, a)
    roots = tuple(c.condition for e in (a, b) for c in e.guard)
    bound = tuple(launch.side(r, t, race.mode) for r in roots for t in (1, 2))
    concrete = concretize(launch, race.values, race.mode, bound)
    one, two = (
        replace(access_of(launch, e, concrete, t, race.mode), turns=shown.turns_of(launch, e, concrete, t, race.mode))
        for e, t in ((a, 1), (b, 2))
    )
    if race.mode == "thread":
        # One of the two is made for the thread by another lane.
        one, two = (replace(one, thread=lane_beside(concrete, a)), two) if a.lanes else (
            one, replace(two, thread=lane_beside(concrete, b))
        )  # fmt: skip
    data, ways = (), race.ways
    if race.certainty == "not-asked":
        pass
    elif race.certainty != "confirmed":
        data, ways = shown.executed_data(launch, concrete, (a, b), race.mode, zeros=race.address is not None)
    elif ways is not None and not all(map(same_turns, (one, two), ways)):
        ways = shown.ways_at(launch, concrete, (a, b), race.mode, race.address)
    reached = (where.offset, place(launch, b).offset)
    mentioned = shown.parameters(launch, concrete, (*shown.roots_of((a, b)), *reached, *_steering(launch, race)))
    if one.span > two.span:
        one, two, a, b = two, one, b, a
        ways = (ways[1], ways[0]) if ways is not None else None
    code, severity = _grade(launch, race, a, b)
    lacking = () if race.benign else AcquireRelease(launch).missing(a, b, race.mode)
    display, address = _address(launch, a, race, concrete)
    scope: Scope = "inter-block" if race.mode == "grid" else "intra-warp" if race.intra_warp else "intra-block"
    space: Literal["shared", "global"] = "shared" if where.space == "shared" else "global"
    write = one if one.kind != "read" else two
    element, extents = _layout(events.kernel, a)
    if race.mode != "thread":
        # The lane beside was not executed. Bytes of what has no name count from nowhere that could be told.
        start = _start(launch, a, concrete) if where.space != "shared" else 0
        one, two = with_ways(events, (one, two), ways, start if element else None)
    return Finding(
        code=code,
        severity=severity,
        message=_race_message(code, one, two, display, address, scope, space)
        + _unless(race)
        + "".join(f"; {remark.brief}" for remark in lacking[:1]),
        span=one.span,
        accesses=(one, two),
        group=f"race:{display}:{_anchor(events.kernel, write.span)}",
        scope=scope,
        space=space,
        object=display,
        witness=replace(
            witness_of(concrete, address, race.certainty == "confirmed"),
            parameters=mentioned,
            data=data,
            element=element,
            extents=extents,
        ),
        explanation=(
            *_one_allocation(launch, a, b),
            *_race_explanation(launch, race, lacking, executed=bool(data)),
        ),
        relations=race.missing.relations if race.missing is not None and not race.missing.through_data else (),
        signalled=race.signalled or bool(lacking),
    )


def is_certain(context: LaunchContext) -> bool:
    """Whether the launch is one that takes place: only then a race is definite that was executed."""
    return context.summary.source != "default" and not context.uncertain


def _grade(launch: Launch, race: RaceDecision, a: AccessEvent, b: AccessEvent) -> tuple[Verdict, Severity]:
    if race.benign:
        return Verdict.BENIGN_RACE, Severity.INFORMATION
    if race.wraps:
        return Verdict.POSSIBLE_DATA_RACE, Severity.INFORMATION
    if race.signalled:
        return Verdict.POSSIBLE_DATA_RACE, Severity.WARNING
    if race.certainty == "confirmed":
        milder = race.missing is not None
        if not is_certain(launch.context):
            return Verdict.POSSIBLE_DATA_RACE, Severity.INFORMATION if milder else Severity.WARNING
        return Verdict.DATA_RACE, Severity.WARNING if milder else Severity.ERROR
    if race.certainty in ("not-replayed", "not-asked"):
        return Verdict.POSSIBLE_DATA_RACE, Severity.INFORMATION
    if not race.data_in_address or _read_modify_write(launch.events, a, b):
        return Verdict.POSSIBLE_DATA_RACE, Severity.WARNING
    return Verdict.POSSIBLE_DATA_RACE, Severity.INFORMATION


def _read_modify_write(events: KernelEvents, a: AccessEvent, b: AccessEvent) -> bool:
    """The cell is both read and written at one place by plain accesses: updates get lost."""

    def twin(x: AccessEvent) -> bool:
        return x.kind == "write" and any(
            y.kind == "read" and y.root is x.root and y.offset is x.offset for y in events.accesses
        )

    return twin(a) or twin(b)


def _address(launch: Launch, a: AccessEvent, race: RaceDecision, concrete: Concrete) -> tuple[str, str]:
    root = own_object(a.root)
    if is_surface(root):
        return "the surface", "the surface"
    if root.op != "addr":
        return "memory behind a loaded pointer", "memory behind a loaded pointer"
    o = launch.events.kernel.object(root.value)
    display = o.display or o.name
    if race.address is not None:
        # What was replayed counts from the start of the allocation, the text from where the pointer points.
        offset = race.address - _start(launch, a, concrete)
    else:
        side = launch.side(a.offset, 1, race.mode)
        offset = evaluate(side, {s: concrete.values.get(s, 0) for s in E.symbols(side)})
    return display, address_text(display, offset, o.element, o.extents, o.kind == "declared")


def _layout(kernel: Kernel, a: AccessEvent) -> tuple[int, tuple[int, ...]]:
    """Bytes of an element and the extents of the object of an access, as declared; (0, ()) where it has no name."""
    root = own_object(a.root)
    if is_surface(root) or root.op != "addr":
        return 0, ()
    o = kernel.object(root.value)
    return o.element, o.extents


def _start(launch: Launch, a: AccessEvent, concrete: Concrete) -> int:
    """How many bytes into its allocation the pointer of an access points, as the launch passes it."""
    aliases = concrete_launch(launch, concrete).aliases
    starts = (aliases.get(p.name) for p in launch.events.kernel.parameters if p.object == a.root.value)
    return next((start[1] for start in starts if start is not None), 0)


def _anchor(kernel: Kernel, span: SourceSpan) -> str:
    """A name for a place that stays when code around the function moves: the function and the offset in it."""
    functions = [(kernel.base_name, kernel.extent), *kernel.functions]
    around = [
        (e.end_offset - e.start_offset, name, e)
        for name, e in functions
        if e.path == span.path and e.start_offset <= span.start_offset and span.end_offset <= e.end_offset
    ]
    if not around:
        return f"{span.path.rsplit('/', 1)[-1]}+{span.start_offset}"
    _, name, extent = min(around, key=lambda a: a[0])
    return f"{name}+{span.start_offset - extent.start_offset}"


def _race_message(code: Verdict, one: Access, two: Access, display: str, address: str, scope: Scope, space: str) -> str:
    names = {
        Verdict.DATA_RACE: "Data race",
        Verdict.POSSIBLE_DATA_RACE: "Possible data race",
        Verdict.BENIGN_RACE: "Benign race: the same value is written",
    }
    if code is Verdict.BENIGN_RACE and "write" not in (one.kind, two.kind):
        names[code] = "Benign race: a compare-and-swap checks the value that is read"
    same = one.span == two.span and one.kind == two.kind
    other = "itself" if same else f"the {two.kind} `{two.text}`"
    if scope == "inter-block":
        who = " and ".join(f"{written(access.thread)} of block {written(access.block)}" for access in (one, two))
    else:
        group = "warp" if scope == "intra-warp" else "block"
        who = f"{written(one.thread)} and {written(two.thread)} of one {group}"
    pair = f"the {one.kind} `{one.text}` and {other}"
    return f"{names[code]} on {space} `{display}`: {pair}, by threads {who}, meet at {address}"


def _steering(launch: Launch, race: RaceDecision) -> list[Expr]:
    """The parameters that decide whether a barrier stands between the accesses: those of the question, and those of
    barriers that some threads miss. The question leaves these out; the replay has passed such a barrier or has not."""
    if race.mode == "grid":
        return []
    sides = [launch.events.accesses[i] for i in (race.one, race.two)]
    found: list[Expr] = []
    for barrier in launch.events.barriers:
        ahead = any(barrier.order < a.order or set(barrier.loops) & set(a.loops) for a in sides)
        missed = ahead and any(not is_uniform(launch.bind(c.condition)) for c in barrier.guard if c.kind != "assume")
        for s in E.symbols(*(c.condition for c in barrier.guard)):
            if s.op == "sym" and (missed or E.symbols(launch.bind(s)) & race.values.keys()):
                found.append(s)
    return found


def _unless(race: RaceDecision) -> str:
    if race.missing is None:
        return ""
    if race.missing.through_data:
        return f"; with {_sizes(race.missing)} only if memory holds certain values"
    if race.missing.relations:
        return f"; not if {' and '.join(race.missing.relations)}"
    return f"; not with {_sizes(race.missing)}"


def _sizes(missing: Missing) -> str:
    if len(missing.example) > MAX_SIZES_SHOWN:
        return "ordinary sizes"
    return ", ".join(f"{name} = {value}" for name, value in missing.example)


def _one_allocation(launch: Launch, a: AccessEvent, b: AccessEvent) -> tuple[Remark, ...]:
    """What the launch passes for two pointers that the accesses go through, where it is one allocation."""
    if a.root is b.root:
        return ()
    pointers = dict(launch.context.pointers)
    passed: list[str] = []
    for root in (a.root, b.root):
        if root.op != "addr":
            return ()
        name = next((p.name for p in launch.events.kernel.parameters if p.object == root.value), None)
        argument = pointers.get(name) if name is not None else None
        if name is None or argument is None:
            return ()
        # Of a member only the whole argument is known as text.
        written = argument.text if "." not in name else ""
        passed.append(f"`{written}` for `{name}`" if written else f"a pointer for `{name}`")
    return (Remark((f"The launch passes {passed[0]} and {passed[1]}: both point into one allocation.",)),)


def _race_explanation(
    launch: Launch, race: RaceDecision, lacking: tuple[Remark, ...], *, executed: bool
) -> tuple[Remark, ...]:
    lines = list[str]()
    if race.relation not in ("any", "same iteration"):
        lines.append(f"The two threads are in {race.relation}.")
    if race.wraps:
        lines.append(
            "Only if unsigned arithmetic wraps around: nothing in sight limits the sizes it works on. "
            "An assertion in the host code that does would settle it."
        )
    if race.signalled and not lacking:
        lines.append(
            "The kernel signals between threads with fences and an atomic or volatile variable; "
            "that this orders these accesses was not proved."
        )
    if race.missing is not None:
        needed = " and ".join(f"`{m}`" for m in race.missing.relations)
        if race.missing.through_data:
            lines.append(
                f"It depends on sizes that no host code in sight limits: with {_sizes(race.missing)} "
                "it takes particular memory contents."
            )
        elif needed:
            lines.append(
                f"There is no race if {needed}, wrap-around of unsigned arithmetic aside; "
                "an assertion of it in the host code would settle the matter."
            )
        else:
            lines.append(
                f"It depends on sizes that no host code in sight limits: with {_sizes(race.missing)} there is no race. "
                "An assertion of what the kernel needs would settle the matter."
            )
    if executed:
        lines.append("Whether it happens depends on what memory holds; with the values shown, it was executed.")
    elif race.certainty == "data-dependent":
        lines.append("Whether it happens depends on what memory holds.")
    elif race.certainty == "not-replayed":
        lines.append(
            "The two threads were not replayed to the collision: "
            "it may be impossible for a reason the analysis does not see."
        )
    if launch.context.uncertain:
        lines.append(f"Only if {launch.context.uncertain}.")
    elif launch.context.summary.source == "default":
        lines.append(_UNSEEN)
    return (*map(_sentence, lacking), *(Remark((line,)) for line in lines))


def _sentence(remark: Remark) -> Remark:
    """With a capital letter and a full stop."""
    first, *rest = remark.texts
    texts = [first[:1].upper() + first[1:], *rest]
    texts[-1] += "."
    return replace(remark, texts=tuple(texts))


def _distinct(findings: list[Finding]) -> list[Finding]:
    """One finding per code and pair of places: the most certain, of the closest threads."""
    best: dict[tuple[object, ...], Finding] = {}
    order = list(Severity)
    for f in findings:
        key = tuple((a.span, a.kind, a.calls) for a in f.accesses) if f.scope else (f.code, f.span)
        known = best.get(key)
        if known is None or (f.code.rank, order.index(f.severity)) < (known.code.rank, order.index(known.severity)):
            best[key] = f
    return list(best.values())


# --- barriers -----------------------------------------------------------------------------------------------


def _divergence_finding(launch: Launch, d: DivergenceDecision) -> Finding:
    kernel, barrier = launch.events.kernel, launch.events.barriers[d.barrier]
    concrete = concretize(launch, d.values, d.mode)
    sides = with_ways(launch.events, _sides_of(barrier, concrete), d.ways)
    group = "cluster" if d.mode == "grid" and barrier.scope == "cluster" else d.mode
    after_exit = d.kind == "after-exit"
    if after_exit:
        code, severity = Verdict.BARRIER_AFTER_EXIT, Severity.HINT
        message = (
            f"`{barrier.site.text}` is not reached by threads of the {group} that returned earlier, "
            f"e.g. {written(sides[1].thread)}; CUDA counts them as arrived"
        )
    else:
        code = Verdict.BARRIER_DIVERGENCE
        severity = Severity.WARNING if d.certainty in ("not-replayed", "not-asked") else Severity.ERROR
        message = (
            f"Barrier divergence: thread {written(sides[0].thread)} waits at `{barrier.site.text}`, "
            f"thread {written(sides[1].thread)} of the same {group} does not get there"
        )
    return Finding(
        code=code,
        severity=severity,
        message=message,
        span=barrier.site.span,
        accesses=sides,
        group=f"{code.value}:{_anchor(kernel, barrier.site.span)}",
        witness=_witness_at(launch, barrier, concrete),
        explanation=_given(launch),
    )


def _sides_of(barrier: BarrierEvent, concrete: Concrete) -> tuple[Access, ...]:
    """The two threads, one that comes to a barrier or an exchange and one that does not."""
    site = barrier.site
    return tuple(
        Access(barrier.id, site.span, "barrier", 0, site.text, block, thread, calls=site.calls)
        for block, thread in zip(concrete.blocks, concrete.threads, strict=True)
    )


def _witness_at(launch: Launch, barrier: BarrierEvent, concrete: Concrete) -> Witness:
    parameters = shown.parameters(launch, concrete, shown.roots_of((barrier,)))
    return replace(witness_of(concrete, "", False), parameters=parameters, data=())


def _given(launch: Launch) -> tuple[Remark, ...]:
    """What is not known of the launch."""
    if launch.context.uncertain:
        return (Remark((f"Only if {launch.context.uncertain}.",)),)
    return (Remark((_UNSEEN,)),) if launch.context.summary.source == "default" else ()


def _missing_lanes(launch: Launch, d: DivergenceDecision) -> Finding:
    exchange = launch.events.exchanges[d.barrier]
    concrete = concretize(launch, d.values, d.mode)
    site, code = exchange.site, Verdict.MISSING_LANES
    sides = _sides_of(exchange, concrete)
    return Finding(
        code=code,
        severity=Severity.WARNING,
        message=f"Missing lanes: thread {written(sides[0].thread)} comes to `{site.text}`, which waits for thread "
        f"{written(sides[1].thread)} of the same warp, too, and that one does not come",
        span=site.span,
        accesses=sides,
        group=f"{code.value}:{_anchor(launch.events.kernel, site.span)}",
        witness=_witness_at(launch, exchange, concrete),
        explanation=(Remark((_NAMED,)), *_given(launch)),
    )


_NAMED: Final = "What the lanes get that do come is undefined; they may wait for ever."


def _unnamed(launch: Launch, d: UnnamedDecision) -> Finding:
    event = (launch.events.exchanges if d.exchange else launch.events.barriers)[d.event]
    asked = (*shown.roots_of((event,)), *([event.mask] if event.mask is not None else []))
    concrete = concretize(launch, d.values, MODE, tuple(launch.side(e, 1, MODE) for e in asked))
    site, code = event.site, Verdict.LANE_NOT_IN_MASK
    side = _sides_of(event, concrete)[0]
    values = shown.parameters(launch, concrete, asked)
    with_values = ", ".join(f"{name} = {value}" for name, value in values) if d.open else ""
    lane = linear(concrete.threads[0], concrete.block) % WARP
    return Finding(
        code=code,
        severity=Severity.WARNING if d.open or d.certainty in ("not-replayed", "not-asked") else Severity.ERROR,
        message=f"Lane not in mask: thread {written(side.thread)} comes to `{site.text}`, whose mask does not name its "
        f"lane, {lane}" + (f", with {with_values}" if with_values else ""),
        span=site.span,
        accesses=(side,),
        group=f"{code.value}:{_anchor(launch.events.kernel, site.span)}",
        witness=replace(witness_of(concrete, "", d.certainty == "confirmed"), parameters=values, data=()),
        explanation=(Remark((_UNNAMED,)), *_given(launch)),
    )


_UNNAMED: Final = "What happens then is undefined: lanes may get any value, or wait for ever, and nothing is ordered."


def _redundant_finding(kernel: Kernel, barrier: BarrierEvent) -> Finding:
    access = Access(barrier.id, barrier.site.span, "barrier", 0, barrier.site.text, calls=barrier.site.calls)
    return Finding(
        code=Verdict.REDUNDANT_BARRIER,
        severity=Severity.HINT,
        message=f"`{barrier.site.text}` orders nothing: every pair of accesses stays ordered or disjoint without it",
        span=barrier.site.span,
        accesses=(access,),
        group=redundancy_group(kernel, barrier),
    )


def redundancy_group(kernel: Kernel, barrier: BarrierEvent) -> str:
    """The group of the claim that a barrier is redundant, whether it is made or not."""
    return f"redundant-barrier:{_anchor(kernel, barrier.site.span)}"


# --- what the verdict rests on ------------------------------------------------------------------------------


def _assumptions(launch: Launch, decision: Decision) -> tuple[str, ...]:
    events = launch.events
    out = [*events.assumptions, *launch.context.assumptions]
    out += [OWN_CELLS] if uses_accessors(events) else []
    if decision.used_no_overflow:
        out.append(NO_OVERFLOW)
    if decision.used_no_wrap:
        out.append(NO_WRAP)
    if decision.used_alignment:
        out.append(ALIGNED)
    if any(c.kind == "assume" for a in events.accesses for c in a.guard):
        out.append(IN_BOUNDS)
    passed = {n for n, p in launch.context.pointers if p.allocation is not None}
    pointees = [p for p in events.kernel.parameters if p.object is not None and p.name not in passed]
    if len(pointees) > 1:
        out.append(DISTINCT)
    if events.loops:
        out.append(TERMINATES)
    if tickets(launch):
        out.append(TICKETS)
    if assumes_no_wrap(launch):
        out.append(SUMS)
    if any(a.root.op == "opaque" for a in events.accesses):
        out.append(LOADED_POINTERS)
    out += decision.assumed
    if decision.assertions_assumed:
        out.append(ASSERTED)
    if None in launch.block or None in launch.grid:
        out.append(GRID_FITS)
    return tuple(dict.fromkeys(out))


def _facts(launch: Launch, decision: Decision) -> tuple[FactNote, ...]:
    """Constraints that proofs used, and the launch's own values of symbols the kernel mentions."""
    found = [
        launch.context.constraints[t].note for t in sorted(decision.core) if 0 <= t < len(launch.context.constraints)
    ]
    notes = dict(launch.context.binding_notes)
    if notes:
        events = launch.events
        roots = [c.condition for e in (*events.accesses, *events.barriers, *events.meetings) for c in e.guard]
        roots += [a.offset for a in launch.events.accesses]
        used = E.symbols(*roots)
        found += [note for symbol, note in notes.items() if symbol in used and not _says_nothing(note)]
    return tuple(dict.fromkeys(found))


def _says_nothing(note: FactNote) -> bool:
    """``n = n``: the host's name of a parameter is the kernel's."""
    left, _, right = note.text.partition(" = ")
    return note.kind == "relation" and left == right


def without_redundant(result: ContextResult, dropped: Callable[[Finding], bool]) -> ContextResult:
    """Drop claims of redundancy."""
    findings = tuple(f for f in result.findings if f.code is not Verdict.REDUNDANT_BARRIER or not dropped(f))
    if len(findings) == len(result.findings):
        return result
    return replace(result, findings=findings, verdict=_verdict(findings, result.reasons))


def _verdict(findings: Iterable[Finding], reasons: Iterable[Reason]) -> Verdict:
    """The worst finding; what could not be decided outweighs everything that is no race."""
    codes = [f.code for f in findings] + [Verdict.UNKNOWN for _ in reasons]
    return min(codes, key=lambda v: v.rank, default=Verdict.RACE_FREE)
