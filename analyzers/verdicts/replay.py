"""Judge a witness by executing its two threads: only what the reference confirms is called definite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from analyzers.barriers.divergence import Divergence
from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate
from analyzers.ir.kernel import Site
from analyzers.races.checked import Race
from analyzers.races.pairs import variable_allocation
from analyzers.races.threads import Launch
from analyzers.races.witness import Concrete
from analyzers.reference.launch import ConcreteLaunch
from analyzers.reference.replay import Replay, Way, replay, replay_assertion, replay_divergence, replay_unnamed

STEPS = 60_000
"""Statements each thread may execute in a replay."""


@dataclass(frozen=True, slots=True)
class ReplayOutcome:
    certainty: Literal["confirmed", "data-dependent", "not-replayed", "not-asked"]
    """``not-replayed`` is also said of what the replay refutes."""
    address: int | None = None
    text: str = ""
    refuted: bool = False
    ways: tuple[Way, Way] | None = None
    """Of the two threads, where the finding was confirmed."""


def concrete_launch(launch: Launch, concrete: Concrete) -> ConcreteLaunch:
    """The launch of a witness. Pointer arguments of one allocation point into one object."""
    aliases: dict[str, tuple[str, int]] = {}
    for name, argument in launch.context.pointers:
        if argument.allocation is None:
            continue
        offset = 0
        if argument.offset is not None:
            bound = launch.bind(argument.offset)
            values = {s: concrete.values.get(s, 1) for s in E.symbols(bound)}
            offset = evaluate(bound, values) or 0
        aliases[name] = (argument.allocation, offset)
    for o in launch.events.kernel.objects if launch.context.variables else ():
        variable = variable_allocation(launch.events.kernel, launch.context, o.name)
        aliases = {n: (o.name if a == variable else a, at) for n, (a, at) in aliases.items()}
    used = [a for a, _ in aliases.values()] + [o.name for o in launch.events.kernel.objects if o.kind == "declared"]
    aliases = {n: (a, o) for n, (a, o) in aliases.items() if used.count(a) > 1 or o}
    shared = evaluate(launch.bind(E.sym("smem.dynamic", E.I64)), concrete.values)
    return ConcreteLaunch(
        grid=concrete.grid,
        block=concrete.block,
        values={**concrete.parameters, **concrete.ranks},
        aliases=aliases,
        cluster=launch.events.kernel.bounds.cluster or (1, 1, 1),
        dynamic_shared=shared if shared is not None and shared > 0 else 1 << 16,
    )


def replay_race(launch: Launch, race: Race, concrete: Concrete) -> ReplayOutcome:
    """Whether the two threads of a witness collide as claimed, for any memory contents or for some."""
    found = replay(
        launch.events.kernel,
        concrete_launch(launch, concrete),
        (concrete.blocks[0], concrete.threads[0]),
        (concrete.blocks[1], concrete.threads[1]),
        race.pair.one.id,
        race.pair.two.id,
        steps=STEPS,
    )
    return _outcome(found)


def replay_of_divergence(launch: Launch, divergence: Divergence, concrete: Concrete) -> ReplayOutcome:
    found = replay_divergence(
        launch.events.kernel,
        concrete_launch(launch, concrete),
        (concrete.blocks[0], concrete.threads[0]),
        (concrete.blocks[1], concrete.threads[1]),
        divergence.barrier.id,
        steps=STEPS,
    )
    return _outcome(found)


def replay_of_assertion(launch: Launch, site: Site, concrete: Concrete) -> ReplayOutcome:
    """Whether the first thread of a witness fails the assertion at ``site``."""
    at = (concrete.blocks[0], concrete.threads[0])
    return _outcome(replay_assertion(launch.events.kernel, concrete_launch(launch, concrete), at, site, steps=STEPS))


def replay_of_unnamed(launch: Launch, event: int, concrete: Concrete) -> ReplayOutcome:
    """Whether the first thread of a witness comes to a barrier or exchange of a warp whose mask does not name it."""
    at = (concrete.blocks[0], concrete.threads[0])
    return _outcome(replay_unnamed(launch.events.kernel, concrete_launch(launch, concrete), at, event, steps=STEPS))


def _outcome(found: Replay) -> ReplayOutcome:
    if found.outcome == "confirmed" and "signed-overflow" not in found.undefined:
        return ReplayOutcome("confirmed", found.address, ways=found.ways)
    if found.outcome == "data-dependent":
        return ReplayOutcome("data-dependent", found.address)
    return ReplayOutcome("not-replayed", None, found.text, found.outcome == "refuted")
