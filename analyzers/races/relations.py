"""What the host does not say: sizes for which a pair that races would not.

A kernel that works on rows of ``width`` elements as pairs is right for every even width and races for odd ones. With
nothing in the host code on ``width``, both accesses are real and so is the example; but the mistake, if it is one, is
the missing check. Takes a race and tries it with ordinary sizes, moderate and large; where it is proved not to happen
with them, looks for conditions that sizes commonly meet (positive, a multiple of a power of two, one at least as large
as another) and are enough.

Upper bounds are never tried: a pair that races as soon as sizes are large is wrong for ordinary values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import prod

from analyzers.ir import expr as E
from analyzers.ir.context import Constraint
from analyzers.ir.cycles import is_trip_count
from analyzers.ir.expr import Expr, IntType
from analyzers.model import FactNote
from analyzers.races.check import RaceChecker
from analyzers.races.checked import Checked, Race
from analyzers.races.conditions import guard_of, query_of
from analyzers.races.pairs import Pair
from analyzers.races.precedents import Precedents, places_of
from analyzers.races.threads import MAX_GRID, MAX_THREADS, Launch, Mode
from analyzers.solve.effort import Effort
from analyzers.solve.ladder import Budget, Ladder
from analyzers.solve.order import side_of
from analyzers.solve.query import Query, Satisfied

MULTIPLES = (2, 4, 8, 16, 32, 64)
MAX_SIZES = 12
"""Open sizes in the address of a pair beyond which nothing is tried."""
MAX_TRIES = 6
"""Sets of conditions tried on one pair."""
BUDGET = Budget(smt=300_000, rows=20_000, many_rows=0, smallest=False)
"""A condition that takes long to prove is not the one that the programmer has in mind."""

EFFORT = 2_000
"""Units of work for all races of a kernel under one launch; races that come later are shown as they are."""

_FALLBACK = (256, 64, 16, 4, 2, 1)
ORDINARY: tuple[tuple[int, int], ...] = ((1 << 14, 1 << 10), (1 << 15, 1 << 12))
"""(largest size that coordinates are multiplied by, largest other size): products stay within 32 bits, and rows do not
overlap, not even where another size has to be up to twice as large. Further sizes are each half as large as the one
before, so that none is taken for another."""
ORDINARY_LENGTHS: tuple[tuple[int, int], ...] = ((1 << 10, 1 << 10), (1 << 20, 1 << 20))
"""The same where no size is multiplied by a coordinate."""

SMALLER, SMALLER_LENGTHS = (1 << 10, 1 << 6), (1 << 6, 1 << 6)
"""For sizes that the facts limit together: those of an allocation, whose product they keep within 32 bits."""


@dataclass(frozen=True, slots=True)
class Relation:
    """``size`` is a multiple of ``divisor``, or at least ``other``, or positive."""

    size: Expr
    divisor: int = 0
    other: Expr | None = None

    @property
    def _type(self) -> IntType:
        assert isinstance(self.size.ty, IntType)
        return self.size.ty

    @property
    def product(self) -> Expr:
        """The size as a multiple of ``divisor``."""
        quotient = E.cast(self._quotient, E.I64)
        return E.narrow(E.mul(quotient, E.const(self.divisor, E.I64)), self._type)

    @property
    def conditions(self) -> tuple[Expr, ...]:
        if self.divisor:
            ty = self._type
            low, high = (E.const(v // self.divisor, E.I64) for v in (ty.low, min(ty.high, E.I64.high // 2)))
            quotient = E.cast(self._quotient, E.I64)
            return E.compare("le", low, quotient), E.compare("le", quotient, high)
        least = E.const(1, E.I64) if self.other is None else E.cast(self.other, E.I64)
        return (E.compare("le", least, E.cast(self.size, E.I64)),)

    @property
    def _quotient(self) -> Expr:
        return E.sym(f"{self.size.value}/{self.divisor}", self.size.ty)

    @property
    def text(self) -> str:
        """As the host would assert it."""
        name = size_name(self.size)
        if self.divisor:
            return f"{name} % {self.divisor} == 0"
        return f"{name} >= {1 if self.other is None else size_name(self.other)}"

    def weaker(self) -> Iterator[Relation]:
        """Weakest first."""
        for n in MULTIPLES:
            if n < self.divisor:
                yield Relation(self.size, divisor=n)


@dataclass(frozen=True, slots=True)
class Missing:
    """The race is one of sizes that nothing in sight excludes."""

    example: tuple[tuple[str, int], ...]
    """Ordinary sizes with which the pair is proved, by name."""
    relations: tuple[str, ...] = ()
    """Conditions that are enough, where such were found."""
    through_data: bool = False
    """With ordinary sizes the pair still races, but only for particular memory contents."""


@dataclass
class Relations:
    """Looks for missing conditions in one launch context; what settled one pair is tried first on the next."""

    launch: Launch
    warp_lockstep: bool = False
    poll: Callable[[], None] = lambda: None
    effort: Effort = field(default_factory=lambda: Effort(EFFORT))
    precedents: Precedents = field(default_factory=Precedents)
    """Where the pairs collide under some of the conditions, they mostly do so under others."""
    _found: dict[tuple[Relation, ...], _Supposed] = field(default_factory=dict[tuple[Relation, ...], "_Supposed"])
    _supposed: dict[object, _Supposed] = field(default_factory=dict[object, "_Supposed"])
    """By what is put in the place of sizes, and conditions."""
    _sizes: dict[tuple[int, int], dict[object, int]] = field(default_factory=dict[tuple[int, int], dict[object, int]])
    """By the largest sizes to be tried: those with which the last pair happened, by the name of their symbol."""
    _fruitless: set[frozenset[Expr]] = field(default_factory=set[frozenset[Expr]])
    """Sizes about which no conditions were found once: other pairs with the same ones are of the same kind."""

    def missing(self, race: Race) -> Missing | None:
        """What the pair needs and nothing in sight gives; None where it races with ordinary sizes too."""
        inside, around = _sizes(self.launch, race)
        if self.effort.is_spent or not inside or len(inside) > MAX_SIZES:
            return None
        strides = [s for s in _strides(race) if s in inside]
        example: tuple[tuple[str, int], ...] = ()
        through_data = False
        for largest, order in zip(ORDINARY if strides else ORDINARY_LENGTHS, (1, -1), strict=True):
            extents = [s for s in around if s not in strides][::order]
            sizes = self._ordinary(race, strides[::order], extents, largest)
            sizes = sizes or self._ordinary(race, strides[::order], extents, SMALLER if strides else SMALLER_LENGTHS)
            if sizes is None:
                return None
            sized = self._with(sizes)
            out = Checked()
            found = sized.collision(race, out)
            through_data = through_data or (found is not None and _depends_on_data(found))
            if not through_data and (found is not None or not sized.settled(race, out)):
                return None
            example = example or tuple((size_name(s), v) for s, v in sizes.items() if s in inside)
        if through_data:
            return Missing(example, through_data=True)
        relations = self._relations(race, inside, around, strides)
        return Missing(example, tuple(r.text for r in relations))

    # --- with particular sizes

    def _ordinary(
        self, race: Race, strides: Sequence[Expr], extents: Sequence[Expr], largest: tuple[int, int]
    ) -> dict[Expr, int] | None:
        """Values that the facts allow and with which both accesses happen, as near to the preferred ones as may be."""
        place = places_of(race.pair.one, race.pair.two), largest
        for earlier in (self.precedents.sizes.get(place, {}), self._sizes.get(largest, {})):
            known = {s: earlier[s.value] for s in (*strides, *extents) if _fits(s, earlier.get(s.value))}
            if len(known) == len({*strides, *extents}) and self._with(known).happens(race.pair, race.mode):
                return known
        chosen: dict[Expr, int] = {}
        for sizes, top in zip((strides, extents), largest, strict=True):
            for i, s in enumerate(sizes):
                first = top >> i
                # The end of a range lies behind its start, for which the most was taken.
                for value in (first, *(v for v in _FALLBACK if v < first), top + (top >> 1), top << 1):
                    if self._with({**chosen, s: value}).happens(race.pair, race.mode):
                        chosen[s] = value
                        break
                else:
                    return None
        self.precedents.sizes[place] = self._sizes[largest] = {s.value: value for s, value in chosen.items()}
        return chosen

    def _with(self, sizes: Mapping[Expr, int]) -> _Supposed:
        return self._changed({s: _constant(s, v) for s, v in sizes.items()}, ())

    # --- under conditions

    def _relations(
        self, race: Race, inside: list[Expr], around: list[Expr], strides: list[Expr]
    ) -> tuple[Relation, ...]:
        for known, supposed in self._found.items():
            if supposed.settles(race):
                return known
        if frozenset(inside) in self._fruitless:
            return ()
        for candidate in islice(_candidates(inside, around, strides), MAX_TRIES):
            settled = self._under(candidate).settles(race)
            if settled:
                weakest = self._weaken(candidate, race)
                self._found[weakest] = self._under(weakest)
                return weakest
            if settled is None:
                break
        self._fruitless.add(frozenset(inside))
        return ()

    def _under(self, relations: Iterable[Relation]) -> _Supposed:
        """The launch with these relations. A multiple is put in as a product, which arithmetic sees through."""
        relations = tuple(relations)
        return self._changed(
            {r.size: r.product for r in relations if r.divisor}, [c for r in relations for c in r.conditions]
        )

    def _weaken(self, relations: tuple[Relation, ...], race: Race) -> tuple[Relation, ...]:
        """As few of them as are enough, each as weak as may be."""
        kept = self._alone(relations, race) or list(relations)
        for r in tuple(kept):
            rest = tuple(k for k in kept if k is not r)
            if rest and self._under(rest).settles(race):
                kept.remove(r)
        for i, r in enumerate(kept):
            # What a multiple of a small number is enough for, one of a greater number is enough for.
            weaker = list(r.weaker())
            low, high = 0, len(weaker)
            while low < high:
                middle = (low + high) // 2
                enough = self._under((*kept[:i], weaker[middle], *kept[i + 1 :])).settles(race)
                low, high = (low, middle) if enough else (middle + 1, high)
            if low < len(weaker):
                kept[i] = weaker[low]
        return tuple(kept)

    def _alone(self, relations: tuple[Relation, ...], race: Race) -> list[Relation]:
        """One that is enough: mostly a size has to be a multiple."""
        for r in relations:
            if r.divisor and len(relations) > 1 and self._under((r,)).settles(race):
                return [r]
        return []

    def _changed(self, meanings: Mapping[Expr, Expr], conditions: Iterable[Expr]) -> _Supposed:
        """The launch with something in the place of sizes, and more conditions."""
        conditions = tuple(conditions)
        change = (frozenset(meanings.items()), conditions)
        if change not in self._supposed:
            self._supposed[change] = _Supposed(self._checker(meanings, conditions))
        return self._supposed[change]

    def _checker(self, meanings: Mapping[Expr, Expr], conditions: Iterable[Expr]) -> RaceChecker:
        context = self.launch.context
        meant = E.substitution(meanings)
        constraints = [replace(c, condition=meant(c.condition)) for c in context.constraints]
        constraints += [Constraint(meant(c), FactNote("", None, "user")) for c in conditions]
        bindings = {s: meant(v) for s, v in context.bindings}
        bindings.update(meanings)
        changed = replace(context, bindings=tuple(bindings.items()), constraints=tuple(constraints))
        launch = Launch(self.launch.events, changed)
        return RaceChecker(launch, Ladder(BUDGET), self.warp_lockstep, self.poll, self.effort, self.precedents)


@dataclass
class _Supposed:
    """The launch with particular sizes or under more conditions."""

    checker: RaceChecker
    _happening: dict[object, bool] = field(default_factory=dict[object, bool])
    """(mode, guards of both accesses) -> whether they are made: those of many pairs are the same."""

    def settles(self, race: Race) -> bool | None:
        """The pair is proved, wrap-around of unsigned arithmetic aside, and both accesses still happen. None: not
        decided."""
        out = Checked()
        return self.collision(race, out) is None and self.settled(race, out)

    def collision(self, race: Race, out: Checked) -> Race | None:
        """Some way in which the pair of ``race`` collides, wrap-around of unsigned arithmetic aside."""
        for found in self.checker.collisions(race.pair, out):
            self.checker.precedents.add(places_of(race.pair.one, race.pair.two), (found.mode, "race"), found.values)
            if not self.checker.needs_wrap(found):
                return found
        return None

    def settled(self, race: Race, out: Checked) -> bool | None:
        """Whether it means something that no collision was found: both accesses still happen. None: not decided."""
        return None if out.undecided else self.happens(race.pair, race.mode)

    def happens(self, pair: Pair, mode: Mode) -> bool:
        """Two threads can make the two accesses at all."""
        launch = self.checker.launch
        guards = tuple(tuple(guard_of(launch, a, n, mode)) for n, a in enumerate((pair.one, pair.two), 1))
        if (mode, guards) not in self._happening:
            self._happening[mode, guards] = self._happens(pair, mode, guards)
        return self._happening[mode, guards]

    def _happens(self, pair: Pair, mode: Mode, guards: Iterable[Iterable[Expr]]) -> bool:
        checker, launch = self.checker, self.checker.launch
        if any(f.condition is E.FALSE for f in launch.facts) or not _is_possible(launch):
            return False
        parts = [launch.distinct(mode), *(c for guard in guards for c in guard)]
        parts += [f.condition for f in launch.facts if f.tag >= 0]
        query = query_of(launch, parts, mode)
        if query is None:
            return False
        places = places_of(pair.one, pair.two)
        answer = checker.recall.answer(places, (mode, "happen"), query) or checker.asker.answer(query)
        if isinstance(answer, Satisfied):
            checker.precedents.add(places, (mode, "happen"), answer.values)
        return isinstance(answer, Satisfied)


def _depends_on_data(race: Race) -> bool:
    """With its sizes, threads and iterations alone the conditions of the race are not met yet."""
    counted = ((s, v) for s, v in race.values.items() if s.op == "sym" or is_trip_count(s))
    known = {s: E.const(v, s.ty) for s, v in counted if isinstance(s.ty, IntType)}
    return any(E.substitute(c, known) is not E.TRUE for c in race.query.conjuncts)


def size_name(size: Expr) -> str:
    """``rows`` of ``host:3:rows`` and of ``param:rows``."""
    name = str(size.value)
    return name.split(":", 2)[2] if name.startswith("host:") else name.removeprefix("param:")


def _sizes(launch: Launch, race: Race) -> tuple[list[Expr], list[Expr]]:
    """Integers that the host passes and does not fix: those in the addresses of the pair, and those in all that is
    known about the two threads."""
    query = race.query
    if query.overlap is None:
        return [], []
    inside = E.symbols(query.overlap.left, query.overlap.right)
    dimensions = [v for s, v in launch.context.bindings if s in (*E.BDIM, *E.GDIM)]
    around = E.symbols(*query.conjuncts, *dimensions)
    return [s for s in inside if _open_size(s, query)], [s for s in around if _open_size(s, query)]


def _open_size(s: Expr, query: Query) -> bool:
    return (
        s.op == "sym"
        and isinstance(s.ty, IntType)
        and s.ty.width >= 16
        and str(s.value).startswith(("param:", "host:"))
        and s not in query.ranges
    )


def _strides(race: Race) -> list[Expr]:
    """Symbols that a coordinate or counter of a thread is multiplied by in an address of the pair."""
    overlap = race.query.overlap
    assert overlap is not None
    found: dict[Expr, None] = {}
    for node in E.walk((overlap.left, overlap.right)):
        if node.op == "mul":
            factors = [E.symbols(a) for a in node.args]
            for own, other in (factors, factors[::-1]):
                if any(side_of(s) for s in other):
                    found.update(dict.fromkeys(s for s in own if not side_of(s)))
    return list(found)


def _candidates(inside: list[Expr], around: list[Expr], strides: list[Expr]) -> Iterator[tuple[Relation, ...]]:
    tidy = [Relation(s) for s in inside] + [Relation(s, divisor=MULTIPLES[-1]) for s in inside]
    yield tuple(tidy)
    rows = [Relation(stride, other=e) for stride in strides for e in around if e is not stride and e.ty == stride.ty]
    yield from ((r,) for r in rows)
    yield from ((*tidy, r) for r in rows)


def _fits(size: Expr, value: int | None) -> bool:
    return value is not None and isinstance(size.ty, IntType) and size.ty.low <= value <= size.ty.high


def _is_possible(launch: Launch) -> bool:
    """Sizes may give a launch that the driver refuses."""
    grid = zip(launch.grid, MAX_GRID, strict=True)
    return prod(b or 1 for b in launch.block) <= MAX_THREADS and all(g is None or g <= most for g, most in grid)


def _constant(size: Expr, value: int) -> Expr:
    assert isinstance(size.ty, IntType)
    return E.const(value, size.ty)
