"""Decide every conflicting pair of a kernel under one launch context.

Each pair is asked once per relation of the two threads (one block, different blocks; one warp apart from different
warps where warp barriers matter) and per ordering case; answers go through the ladder and are cached by the question.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

from analyzers.ir import expr as E
from analyzers.ir.evaluate import evaluate
from analyzers.ir.expr import Expr
from analyzers.model import CheckOptions
from analyzers.races.acquire_release import AcquireRelease
from analyzers.races.apart import PlacesApart
from analyzers.races.asking import Asker, Patience
from analyzers.races.checked import Checked, Race
from analyzers.races.conditions import meeting_distances, places_query, query_of, race_query, relies_on_alignment, split
from analyzers.races.extents import INSIDE, Extents
from analyzers.races.ordering import Case, Cases, cases
from analyzers.races.others import is_strong
from analyzers.races.pairs import Pair, by_shape, starts_retry, synchronizes
from analyzers.races.pipelines import is_unclear
from analyzers.races.precedents import Precedents, Question, places_of
from analyzers.races.recall import Recall
from analyzers.races.threads import Launch, Mode
from analyzers.races.written_values import alike, difference
from analyzers.solve.effort import Effort
from analyzers.solve.ladder import QUICK_STEPS, Ladder
from analyzers.solve.query import Answer, Proved, Query, Satisfied, Undecided

MAX_UNDECIDED = 4
"""Questions without an answer after which a context is given up: it is ``unknown`` in any case."""


MAX_RACES = 200
"""Pairs that collide, after which the others of a context are not asked any more."""

MAX_UNASKED = 2_000
"""Pairs that are listed of those that a context which is given up leaves unasked."""

FEW_PAIRS = 4
"""Accesses of a shape up to which each pair with them is looked at on its own."""

MAX_ON_OBJECT = 24
MAX_THROUGH_DATA = 2
"""Races reported for one object, and those of them through data indices: further pairs on it mostly have the same
cause, and are left out until the first ones are mended."""


_COMPUTED = ("after:", "trips:", "iterated:", "leaving:", "set:")
"""Opaque values that loops compute; what memory they depend on is not known of them."""


@dataclass
class RaceChecker:
    """Asks the questions of one launch context, with a cache of answers."""

    launch: Launch
    ladder: Ladder
    warp_lockstep: bool = False
    poll: Callable[[], None] = lambda: None
    """Called between queries; may raise to stop."""
    effort: Effort = field(default_factory=lambda: Effort(CheckOptions().kernel_effort))
    """When it is spent, what is left stays undecided."""
    precedents: Precedents = field(default_factory=Precedents)
    wrap_around: bool = False
    """Unsigned sums and products of sizes that nobody limits may wrap around."""
    every_pair: bool = False
    """Also those on objects on which many others collide already."""
    apart: bool = True
    """Prefer threads of different warps as witnesses."""
    acquire_release: AcquireRelease = field(init=False)
    extents: Extents = field(init=False)
    _inside: dict[tuple[str, Mode], bool] = field(default_factory=dict["tuple[str, Mode]", bool], init=False)
    """(allocation, mode) -> whether some launch stays inside it."""
    asker: Asker = field(init=False)
    recall: Recall = field(init=False)
    _places: PlacesApart = field(init=False)
    _data: dict[Expr, bool] = field(default_factory=dict[Expr, bool], init=False)

    def __post_init__(self) -> None:
        self.acquire_release = AcquireRelease(self.launch)
        self.extents = Extents(self.launch)
        self.asker = Asker(self.launch, self.ladder, self.poll, self.effort, self.wrap_around)
        self.recall = Recall(self.asker, self.precedents)
        self._places = PlacesApart(self.launch, self.asker, self.recall)

    def check(self) -> Checked:
        """Every conflicting pair."""
        out = Checked()
        through_data: Counter[str] = Counter()
        on_object: Counter[str] = Counter()
        told: set[object] = set()
        most = math.inf if self.every_pair else MAX_ON_OBJECT
        given_up = False
        worth_asking = self._worth_asking(out, lambda allocation: given_up or on_object[allocation] >= most)
        for pair in worth_asking:
            where = pair.first.allocation
            written = (pair.one.site, pair.one.kind, pair.two.site, pair.two.kind)
            if written in told:
                continue
            data = self._is_data(pair.first.offset) or self._is_data(pair.second.offset)
            if on_object[where] >= most or (data and not self.every_pair and through_data[where] >= MAX_THROUGH_DATA):
                out.left_out.append(pair)
                continue
            given_up = self._gives_up(pair, out)
            if given_up:
                break
            race = self.decide(pair, out)
            if race is not None:
                self.precedents.add(places_of(pair.one, pair.two), (race.mode, "race"), race.values)
                out.races.append(race)
                on_object[where] += 1
                through_data[where] += data
                if not race.benign and not race.wraps:
                    # What a macro repeats is written once.
                    told.add(written)
            given_up = len(out.undecided) >= MAX_UNDECIDED
            if given_up:
                break
        asked = out.pairs
        rest = list(islice(worth_asking, MAX_UNASKED))
        out.unasked = [pair for pair in rest if not self._is_always_ordered(pair)]
        out.unasked_besides, out.pairs = len(rest) == MAX_UNASKED, asked
        return out

    def _gives_up(self, pair: Pair, out: Checked) -> bool:
        """Whether enough was done; then what was not asked is undecided, beginning with ``pair``."""
        if self.effort.is_spent:
            reason = self.effort.reason
        elif len(out.races) >= MAX_RACES:
            reason = Undecided("not-examined", f"not asked, because {MAX_RACES} other pairs collide already")
        else:
            return False
        out.undecided.append((pair, reason))
        return True

    def _worth_asking(self, out: Checked, full: Callable[[str], bool]) -> Iterator[Pair]:
        """The conflicting pairs, but for those at places where different threads never meet: accesses of one shape are
        told apart once, however many there are. Of allocations that are ``full`` nothing is told apart any more."""
        for group in by_shape(self.launch):
            meet: dict[tuple[int, int], Proved | None] = {}
            for i, one in enumerate(group.accesses):
                shape = group.shapes[i]
                partners: list[int] = []
                for other, members in enumerate(group.members):
                    later = members[bisect_left(members, i) :]
                    conflicting = later if one.writes else [j for j in later if group.accesses[j].writes]
                    if not conflicting:
                        continue
                    if (shape, other) not in meet and full(group.places[i].allocation):
                        partners += conflicting
                        continue
                    # That barriers lie between them is seen at less cost than that they touch different bytes.
                    pairs = [group.pair(i, j) for j in conflicting[:FEW_PAIRS]]
                    few = (shape, other) not in meet and len(pairs) == len(conflicting)
                    if few and all(map(self._is_always_ordered, pairs)):
                        partners += conflicting
                        continue
                    if (shape, other) not in meet:
                        meet[shape, other] = meet[other, shape] = self._apart_places(group.pair(i, conflicting[0]), out)
                    apart = meet[shape, other]
                    if apart is None:
                        partners += conflicting
                    elif apart.used_no_wrap:
                        out.assumed_apart += [group.pair(i, j) for j in conflicting]
                for j in sorted(partners):
                    out.pairs += 1
                    yield group.pair(i, j)

    def _is_always_ordered(self, pair: Pair) -> bool:
        """Barriers lie between every two executions of the accesses by different threads."""
        return not any(self._possible(pair, mode, same).possible for mode, _, same in self._relations(pair))

    def _apart_places(self, pair: Pair, out: Checked) -> Proved | None:
        """A proof that no two threads meet at these places, whatever accesses stand there."""
        data = self._is_data(pair.first.offset) or self._is_data(pair.second.offset)
        if self.warp_lockstep or data or self.effort.is_spent:
            return None
        proofs: list[Proved] = []
        for mode, _, _ in self._relations(pair):
            apart = self._places.proof(pair, mode)
            if apart is None:
                return None
            proofs.append(apart)
        for apart in proofs:
            self._note(apart, pair, out)
        return Proved(used_no_wrap=any(p.used_no_wrap for p in proofs))

    def _note(self, proof: Proved, pair: Pair, out: Checked) -> None:
        if proof.core or proof.used_no_overflow:
            out.proofs.append(proof)
        out.used_no_wrap |= proof.used_no_wrap
        out.used_alignment |= relies_on_alignment(pair)

    def never_meet(self, pair: Pair, limited: Callable[[Mode], Expr] | None = None) -> bool:
        """Whether it is proved that no thread of a block touches with one of the accesses what it or another one
        touches with the other, at any time or as ``limited``."""
        modes: tuple[Mode, ...] = ("thread",) if self.launch.block == (1, 1, 1) else ("thread", "block")
        one, two = ([c.condition for c in access.guard] for access in (pair.one, pair.two))
        for mode in modes:
            both = () if limited is None else (limited(mode),)
            query = places_query(self.launch, pair, mode, one, two, both)
            if query is None:
                continue
            if self.effort.is_spent:
                return False
            found = self.asker.answer(query)
            if not isinstance(found, Proved) and self.asker.unless_wrapped(query, found) is None:
                return False
        return True

    def _is_data(self, offset: Expr) -> bool:
        """An address that comes from memory."""
        if offset not in self._data:
            found = [s for s in E.symbols(offset) if s.op == "opaque"]
            self._data[offset] = any(not s.value[0].startswith(_COMPUTED) for s in found)
        return self._data[offset]

    def decide(self, pair: Pair, out: Checked) -> Race | None:
        """The first way in which the pair races, a harmful one before a benign one, or None (then ``out`` has grown
        by what the proofs used or could not
        decide)."""
        benign: Race | None = None
        for mode, extra, only_same in self._meeting_relations(pair, out):
            found = self._in_relation(pair, mode, extra, only_same, out)
            if found is not None and not found.benign:
                return found
            benign = benign or found
        return benign

    def is_proved_without(self, pair: Pair, barriers: frozenset[int], *, together: bool = False) -> bool:
        """Whether the pair is proved, cheaply and without wrap-around assumed away, not to race where these barriers
        are absent; `together`: in equal iterations of the loops around both. One way to collide is enough, whichever
        it is: it is not shown."""
        ignored = Checked()
        for mode, relation, only_same in self._meeting_relations(pair, ignored, strict=True):
            extra = [*relation, *(self._one_iteration(pair, mode) if together else ())]
            for case in self._possible(pair, mode, only_same, barriers).possible:
                if self.effort.is_spent:
                    return False
                answer, _ = self._ask(pair, case, mode, extra, ignored, strict=True, patience="brief")
                if isinstance(answer, Satisfied):
                    self.precedents.add(places_of(pair.one, pair.two), (mode, "race"), answer.values)
                if answer is not None:
                    return False
        return True

    def collides_without(self, pair: Pair, barriers: frozenset[int]) -> bool:
        """Whether a harmful way in which the pair collides is found at little cost where these barriers are absent,
        without wrap-around. That none is found proves nothing."""
        ignored = Checked()
        for mode, extra, only_same in self._meeting_relations(pair, ignored, strict=True):
            for case in self._possible(pair, mode, only_same, barriers).possible:
                if self.effort.is_spent:
                    return False
                answer, _ = self._ask(pair, case, mode, extra, ignored, patience="brief")
                if not isinstance(answer, Satisfied):
                    continue
                if not self._may_be_benign(pair) or self._same_value(pair, mode, extra, [case]) is None:
                    return True
        return False

    def is_of_one_execution(self, pair: Pair) -> bool:
        """Whether a pair of one access with itself is proved, cheaply and without wrap-around assumed away, to collide
        within a block in equal iterations of all loops only."""
        ignored = Checked()
        for mode, extra, only_same in self._meeting_relations(pair, ignored, strict=True):
            for case in self._possible(pair, mode, only_same).possible if mode != "grid" else ():
                if case.relation == "same iteration" or not pair.one.loops:
                    continue
                if self.effort.is_spent:
                    return False
                answer, _ = self._ask(pair, case, mode, extra, ignored, strict=True, patience="brief")
                if answer is not None:
                    return False
        return True

    def collisions(self, pair: Pair, out: Checked) -> Iterator[Race]:
        """Ways in which the pair collides, as they are found: not the best to show, and benign ones and those by
        wrap-around among them. Ends with the first question without an answer."""
        for mode, extra, only_same in self._meeting_relations(pair, out):
            for case in self._possible(pair, mode, only_same).possible:
                if self.effort.is_spent:
                    out.undecided.append((pair, self.effort.reason))
                    return
                answer, query = self._ask(pair, case, mode, extra, out)
                if isinstance(answer, Undecided):
                    return
                if isinstance(answer, Satisfied) and query is not None:
                    yield Race(pair, mode, case, answer.values, query)

    def may_meet(self, pair: Pair, mode: Mode, ways: Iterable[Case], extra: Collection[Expr] = ()) -> bool:
        """Whether the accesses can touch common bytes in one of ``ways``, whatever they are, under ``extra``
        conditions; undecided counts as yes."""
        ignored = Checked()
        return any(self.effort.is_spent or self._ask(pair, case, mode, extra, ignored)[0] is not None for case in ways)

    def _meeting_relations(
        self, pair: Pair, out: Checked, *, strict: bool = False
    ) -> Iterator[tuple[Mode, tuple[Expr, ...], bool]]:
        """The relations, as in ``_relations``, in which the places of the pair may meet and nothing else orders every
        meeting; ``out`` grows by the proofs for the others. ``strict``: no wrap-around is assumed away."""
        for mode, extra, only_same in self._relations(pair):
            if not strict:
                ways = self._possible(pair, mode, only_same)
                if not ways.possible:
                    for barrier in ways.ordering:
                        out.ordering.setdefault(barrier, []).append(pair)
                    continue
            ordered = self.acquire_release.synchronizes(pair, mode)
            if ordered and set(meeting_distances(pair)) <= {0}:
                out.used_alignment |= relies_on_alignment(pair)
                continue
            apart = self._places.proof(pair, mode, thorough=strict)
            if apart is not None and not (strict and apart.used_no_wrap):
                self._note(apart, pair, out)
                continue
            if ordered:
                extra = (*extra, E.compare("ne", *self._offsets(pair, mode)))
            yield mode, (*extra, *self._one_iteration(pair, mode)) if only_same else extra, only_same

    def _relations(self, pair: Pair) -> Iterator[tuple[Mode, tuple[Expr, ...], bool]]:
        """(mode, extra conditions, only the same-iteration case)."""
        launch = self.launch
        warp_barriers = any(b.scope in ("warp", "tile") for b in launch.events.barriers)
        if launch.block != (1, 1, 1):
            of_warps = _of_warps(pair) or (self._may_be_benign(pair) and _values_of_warps(pair))
            if not warp_barriers and not self.warp_lockstep and not of_warps:
                yield "block", (), False
            else:
                if not launch.single_warp():
                    yield "block", (launch.other_warp("block"),), False
                if not self.warp_lockstep:
                    yield "warp", (launch.same_warp("warp"),), False
                elif pair.one is pair.two:
                    yield "warp", (launch.same_warp("warp"),), True
            if pair.crosses_lanes and not self.warp_lockstep:
                yield "thread", (), False
        if pair.crosses_blocks and launch.grid != (1, 1, 1):
            yield "grid", (), False

    def _offsets(self, pair: Pair, mode: Mode) -> tuple[Expr, Expr]:
        return self.launch.side(pair.first.offset, 1, mode), self.launch.side(pair.second.offset, 2, mode)

    def _in_relation(
        self,
        pair: Pair,
        mode: Mode,
        extra: tuple[Expr, ...],
        only_same: bool,
        out: Checked,
    ) -> Race | None:
        ways = self._possible(pair, mode, only_same)
        for barrier in ways.ordering:
            out.ordering.setdefault(barrier, []).append(pair)
        hits, extra = self._unordered_hits(pair, mode, extra, ways, out)
        hits = self._hits_inside(pair, mode, extra, ways, hits, out)
        if not hits:
            return None
        hit = hits[0]
        same = self._same_value(pair, mode, extra, [h.case for h in hits]) if self._may_be_benign(pair) else None
        if same is not None:
            out.add(same)
            # Volatile stores of one value are what they would be as atomics.
            return None if pair.one.volatile and pair.two.volatile else replace(hit, benign=True)
        if starts_retry(self.launch, pair) and set(meeting_distances(pair)) <= {0}:
            return replace(hit, benign=True)
        if self.needs_wrap(hit):
            return replace(hit, wraps=True)
        found = replace(hit, anywhere=not extra)
        return self.in_other_warps(found) if self.apart else found

    def _unordered_hits(
        self, pair: Pair, mode: Mode, extra: tuple[Expr, ...], ways: Cases, out: Checked
    ) -> tuple[list[Race], tuple[Expr, ...]]:
        """Collisions that neither locks nor signals order, and the conditions they were asked under."""
        tried = Checked()
        hits = self._hits(pair, mode, extra, ways, tried)
        plain, orders = extra, list(self.acquire_release.unordered(pair, mode)) if hits else []
        # The first ones assume the least, the last ones leave the least to collide in and are settled soonest.
        hurried: list[tuple[int, Patience]] = [(i, "brief") for i in range(len(orders) - 1)]
        patient: list[tuple[int, Patience]] = [(i, "patient") for i in reversed(range(len(orders)))]
        strongest = -1
        for i, patience in (*hurried, *patient):
            unordered, assumed = orders[i]
            asked = Checked()
            left = self._hits(pair, mode, (*plain, unordered), ways, asked, patience)
            if not left and not asked.undecided:
                out.add(asked)
                out.assumed |= assumed
                return [], (*plain, unordered)
            if left and patience == "patient" and i > strongest:
                strongest, hits, extra = i, left, (*plain, unordered)
        out.add(tried)
        # Two strong accesses are no race by the language: one that is reported is against the kernel's own protocol.
        protocol = is_strong(pair.one) and is_strong(pair.two) and synchronizes(pair, mode)
        return [replace(h, signalled=bool(orders) or protocol) for h in hits], extra

    def _hits_inside(
        self, pair: Pair, mode: Mode, extra: tuple[Expr, ...], ways: Cases, hits: list[Race], out: Checked
    ) -> list[Race]:
        """The collisions that leave no allocation; where that is open, the given ones."""
        inside = self.extents.conditions(pair, mode) if hits else ()
        if not any(self.extents.fails(inside, h.values) for h in hits):
            return hits
        asked = Checked()
        left = self._hits(pair, mode, (*extra, *inside), ways, asked)
        if left:
            # What is asked about them further is asked of all launches: nothing would list the assumption.
            return [replace(h, signalled=hits[0].signalled) for h in left]
        if asked.undecided or not self._some_launch_is_inside(pair.first.allocation, mode):
            return hits
        out.add(asked)
        out.assumed.add(INSIDE)
        return []

    def _some_launch_is_inside(self, allocation: str, mode: Mode) -> bool:
        """Whether any launch stays inside the allocation: that none leaves it would else prove anything."""
        if (allocation, mode) not in self._inside:
            query = query_of(self.launch, self.extents.corners(allocation), mode)
            answers = (self.asker.answer(part) for part in split(query)) if query is not None else ()
            self._inside[allocation, mode] = any(isinstance(a, Satisfied) for a in answers)
        return self._inside[allocation, mode]

    def _hits(
        self,
        pair: Pair,
        mode: Mode,
        extra: tuple[Expr, ...],
        ways: Cases,
        out: Checked,
        patience: Patience = "patient",
    ) -> list[Race]:
        """The cases in which the pair collides: the first, or all where it matters what is written."""
        hits: list[Race] = []
        for case in ways.possible:
            if self.effort.is_spent:
                out.undecided.append((pair, self.effort.reason))
                break
            answer, query = self._ask(pair, case, mode, extra, out, patience=patience)
            if isinstance(answer, Satisfied):
                assert query is not None
                # Also where it is benign, or another relation is shown in the end.
                self.precedents.add(places_of(pair.one, pair.two), (mode, "race"), answer.values)
                hits.append(Race(pair, mode, case, answer.values, query))
                if not self._may_be_benign(pair):
                    break
        return hits

    def _possible(self, pair: Pair, mode: Mode, only_same: bool, absent: frozenset[int] = frozenset()) -> Cases:
        ways = cases(self.launch, pair.one, pair.two, mode, absent)
        if not only_same:
            return ways
        return replace(ways, possible=tuple(c for c in ways.possible if c.relation in ("any", "same iteration")))

    def needs_wrap(self, race: Race) -> bool:
        """Whether the race is only possible where unsigned sums or products of open sizes wrap around."""
        return self.asker.needs_wrap(race.query, race.values)

    def _one_iteration(self, pair: Pair, mode: Mode) -> list[Expr]:
        """That both are in equal iterations of the loops around both."""
        loops = self.launch.events.loops
        around = [ell for ell in pair.one.loops if ell in pair.two.loops]
        return [E.compare("eq", *(self.launch.side(loops[ell].counter, t, mode) for t in (1, 2))) for ell in around]

    def _ask(
        self,
        pair: Pair,
        case: Case,
        mode: Mode,
        extra: Iterable[Expr],
        out: Checked,
        *,
        strict: bool = False,
        patience: Patience = "patient",
    ) -> tuple[Answer | None, Query | None]:
        query = race_query(self.launch, pair, case, mode, extra)
        if query is None:
            return None, None
        undecided: Undecided | None = None
        places = places_of(pair.one, pair.two)
        for part in split(query):
            if self.effort.is_spent:
                undecided = undecided or self.effort.reason
                break
            for_meant = patience == "patient" and not strict
            suggested = self.recall.answer(places, (mode, "race"), part)
            answer = suggested or self.asker.answer(part, "settled" if for_meant else patience)
            meant: tuple[Proved, str] | None = None
            if isinstance(answer, Undecided) and for_meant:
                # Where it is settled for the sizes that are meant, other ones are not looked into at length.
                meant = self.asker.if_positive(part)
                answer = answer if meant is not None else self.asker.answer(part, patience)
            if not isinstance(answer, Proved) and not strict:
                steps = QUICK_STEPS if patience == "brief" else None
                answer = self.asker.unless_wrapped(part, answer, steps=steps) or answer
                if isinstance(answer, Satisfied) and steps is None:
                    answer = self.asker.without_wrapping(part, answer)
            if isinstance(answer, Undecided) and for_meant and suggested is not None:
                meant = self.asker.if_positive(part)
            if isinstance(answer, Undecided) and meant is not None:
                answer, assumed = meant
                out.assumed.add(assumed)
            if isinstance(answer, Satisfied) and is_unclear(pair):
                answer = Undecided("pipeline", "how many stages of the pipeline were used before them is not known")
            if isinstance(answer, Satisfied):
                return answer, part
            if isinstance(answer, Proved):
                self._note(answer, pair, out)
            else:
                undecided = undecided or answer
        if undecided is not None:
            out.undecided.append((pair, undecided))
            return undecided, query
        return None, None

    def _may_be_benign(self, pair: Pair) -> bool:
        a, b = pair.one, pair.two
        return (
            a.kind == "write"
            and b.kind == "write"
            and a.value is not None
            and b.value is not None
            and a.width == b.width
        )

    def _same_value(self, pair: Pair, mode: Mode, extra: tuple[Expr, ...], hits: list[Case]) -> Checked | None:
        """What the proof rests on that both sides write the same wherever they collide; None where there is none."""
        assert pair.one.value is not None
        assert pair.two.value is not None
        v1, v2 = self.launch.side(pair.one.value, 1, mode), self.launch.side(pair.two.value, 2, mode)
        out = Checked()
        for case in hits:
            differ = difference(v1, alike(v1, v2, partial(self._is_plainly_impossible, pair, case, mode, extra)))
            if differ is None:
                return None
            if not set(meeting_distances(pair)) <= {0}:
                # Equal values that overlap in part put different bytes into the same cells.
                differ = E.lor(differ, E.compare("ne", *self._offsets(pair, mode)))
            if differ is E.FALSE:
                continue
            answer, _ = self._ask(pair, case, mode, (*extra, differ), out)
            if answer is not None:
                return None
        return out

    def _is_plainly_impossible(
        self, pair: Pair, case: Case, mode: Mode, extra: tuple[Expr, ...], condition: Expr
    ) -> bool:
        """Whether the condition is proved by algebra not to hold where the pair collides."""
        query = race_query(self.launch, pair, case, mode, (*extra, condition))
        return query is None or all(self.asker.proof(part, QUICK_STEPS) is not None for part in split(query))

    def in_other_warps(self, race: Race) -> Race:
        """The race with a witness in two different warps, where there is one: it does not depend on how lanes of a warp
        are scheduled."""
        if race.mode != "block" or not race.anywhere or self.launch.single_warp():
            return race
        apart = self.launch.other_warp("block")
        if evaluate(apart, race.values) == 1:
            return race
        # It was looked for in vain under another launch with as many threads, or in another instance.
        places = (*places_of(race.pair.one, race.pair.two), self.launch.block)
        wanted: Question = ("block", "apart")
        if self.precedents.unproved(places, wanted):
            return race
        # The race is one without it: nothing is searched for long.
        answer, query = self._ask(race.pair, race.case, "block", (apart,), Checked(), patience="brief")
        if isinstance(answer, Satisfied) and query is not None:
            return replace(race, values=answer.values, query=query)
        self.precedents.note_unproved(places, wanted)
        return race


def _of_warps(pair: Pair) -> bool:
    """The places or guards of a pair depend on values that the lanes of a warp share."""
    roots = [c.condition for a in (pair.one, pair.two) for c in a.guard]
    found = E.symbols(pair.first.offset, pair.second.offset, *roots)
    return any(s.op == "opaque" and s.value[1] == "warp" for s in found)


def _values_of_warps(pair: Pair) -> bool:
    """What is written is known to be the same for the lanes of a warp, at least in part."""
    values = (v for v in (pair.one.value, pair.two.value) if v is not None)
    return any(s.op == "opaque" and s.value[1] == "warp" for s in E.symbols(*values))
