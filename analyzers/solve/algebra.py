"""The algebra rung: proofs from bounds, residues and mixed-radix injectivity, in microseconds to a millisecond.

Takes a prepared query, gives a proof or passes; it never claims a witness. The address difference of the overlap must
lie in a small window; what follows for the coordinates of the two threads is derived in a
:class:`~analyzers.solve.system.System` and held against their distinctness and the guards.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzers.ir.evaluate import atoms_below
from analyzers.ir.expr import BOOL, Expr, IntType, compare, const, lnot, lor, rewrite
from analyzers.solve.narrowing import NO_TAGS
from analyzers.solve.polynomial import combine, constant_part, is_constant, scaled, shifted, variable, variables
from analyzers.solve.prepare import Prepared
from analyzers.solve.query import Answer, Overlap, Proved, Undecided
from analyzers.solve.system import MAX_TOTAL_STEPS, Refuted, System, Tags, Window
from analyzers.solve.translate import Deferred, Translation

RUNG = "algebra"
MAX_SPLITS = 12
"""Cases of one proof."""
MAX_SPLIT_DEPTH = 3

_PASS = Undecided("not-applicable", "no proof by bounds, residues or injectivity", RUNG)

_SPENT = Undecided("budget", "no proof by bounds, residues or injectivity with this effort", RUNG)


def decide(prepared: Prepared, steps: int = MAX_TOTAL_STEPS) -> Answer:
    """A proof of the prepared query (its core in terms of the original facts), or a pass.

    ``steps`` bounds the search for proofs of inequalities; with fewer than the most, no cases are distinguished when
    they are spent."""
    if prepared.contradiction is not None:
        return Proved(prepared.contradiction, prepared.assumed, RUNG)
    proof = _Proof(prepared, steps)
    try:
        proof.start()
        tags = proof.finish(0)
    except Refuted as found:
        tags = found.tags
    if tags is None:
        return _SPENT if proof.state.system.allowance[0] <= 0 else _PASS
    assumed = prepared.assumed or proof.assumed or proof.state.translation.assumed or prepared.intervals.relied
    return Proved(prepared.with_definitions(tags), assumed, RUNG)


@dataclass(slots=True)
class _State:
    """What a case split copies."""

    system: System
    translation: Translation
    clauses: list[tuple[Expr, Tags]] = field(default_factory=list[tuple[Expr, Tags]])
    flags: list[tuple[Expr, Tags]] = field(default_factory=list[tuple[Expr, Tags]])
    """Conditions without arithmetic meaning that must hold."""
    chosen: frozenset[Expr] = frozenset()
    """Selects, minima and maxima whose case is settled."""

    def copy(self) -> _State:
        system = self.system.copy()
        return _State(system, self.translation.copy(system), list(self.clauses), list(self.flags), self.chosen)


class _Proof:
    def __init__(self, prepared: Prepared, steps: int) -> None:
        self.prepared = prepared
        system = System(allowance=[steps])
        self.state: _State = _State(system, Translation(system, prepared.intervals, self._owed))
        self.assumed = False
        self.is_last = steps >= MAX_TOTAL_STEPS
        """Nobody tries again with more steps."""
        self.splits = 0
        self.addressed: set[int] = set()
        """Variables of the address difference."""
        self._owed_memo: dict[int, Tags] = {}

    def _owed(self, e: Expr) -> Tags:
        """The facts that ranges below ``e`` rest on."""
        known = self.prepared.tags
        if not known:
            return NO_TAGS
        found = self._owed_memo.get(e.key)
        if found is None:
            found = self._owed_memo[e.key] = NO_TAGS.union(*(known.get(a, NO_TAGS) for a in atoms_below(e)))
        return found

    # --- setting up

    def start(self) -> None:
        """State the query. Raises Refuted when that is contradictory already."""
        query = self.prepared.query
        conditions = [(c, NO_TAGS) for c in query.conjuncts]
        conditions += [(f.condition, self.prepared.sources[f.tag]) for f in query.facts]
        sides = () if query.overlap is None else (query.overlap.left, query.overlap.right)
        self.state.translation.expect((*(c for c, _ in conditions), *sides))
        deferred: list[tuple[Expr, Tags]] = []
        for c, tags in conditions:
            try:
                self.require(c, tags)
            except Deferred:
                deferred.append((c, tags))
        self.state.translation.defer = False
        for c, tags in deferred:
            self.require(c, tags)
        if self.state.clauses and self.state.system.weigh_identities():
            # What is common is found out before the addresses are compared, whose digits it may be.
            self._propagate()
        if query.overlap is not None:
            self._overlap(query.overlap)
        self.state.system.run()

    def _overlap(self, o: Overlap) -> None:
        digits = self.state.translation.digits
        (left, a), (right, b) = (digits.shorter(*self.state.translation.of(e)) for e in (o.left, o.right))
        window = Window(combine(left, right, -1), 1 - o.left_width, o.right_width - 1, a | b, address=True)
        self.state.system.windows.append(window)
        self.addressed = variables(window.poly)

    def require(self, e: Expr, tags: Tags) -> None:
        """``e`` is defined and true."""
        op = e.op
        system = self.state.system
        if op == "land":
            self.require(e.args[0], tags)
            self.require(e.args[1], tags)
        elif op == "lor":
            self.state.clauses.append((e, tags))
        elif op in ("lt", "le", "eq", "ne") and isinstance(e.args[0].ty, IntType) and e.args[0].ty != BOOL:
            if any(self.state.translation.intervals.of(side).empty for side in e.args):
                raise Refuted(tags | self._owed(e))  # it has no value
            (p, a), (q, b) = self.state.translation.of(e.args[0]), self.state.translation.of(e.args[1])
            tags = tags | a | b
            difference = combine(q, p, -1)
            if op == "eq":
                system.require_zero(difference, tags)
            elif op == "ne":
                if not difference:
                    raise Refuted(tags)
                system.not_zero.append((difference, tags))
            else:
                system.require_at_least_zero(shifted(difference, -1) if op == "lt" else difference, tags)
        else:
            self.state.flags.append((e, tags))

    # --- finding the contradiction

    def finish(self, depth: int) -> Tags | None:
        """Facts that refute the current state, or None."""
        system = self.state.system
        try:
            self._propagate()
            if system.identities:
                system.windows += [Window(p, 0, 0, tags) for p, tags in system.identities]
                system.identities = []
                system.run()
                self._propagate()
            found = system.contradictory()
            if found is not None:
                return found
        except Refuted as found:
            return found.tags
        return self._split(depth)

    def _propagate(self) -> None:
        """Congruence and unit propagation until nothing follows."""
        for _ in range(8):
            changed = self._congruence()
            open_clauses: list[tuple[Expr, Tags]] = []
            pending, self.state.clauses = self.state.clauses, []
            for clause, tags in pending:
                alternatives = _alternatives(clause)
                left: list[Expr] = []
                for a in alternatives:
                    found = self._refuted(a)
                    if found is None:
                        left.append(a)
                    else:
                        tags = tags | found
                if not left:
                    raise Refuted(tags)
                if len(left) == 1:
                    self.require(left[0], tags)
                    changed = True
                else:
                    open_clauses.append((clause, tags) if len(left) == len(alternatives) else (_any(left), tags))
            self.state.clauses += open_clauses
            if not changed:
                return
            self.state.system.run()

    def _refuted(self, e: Expr) -> Tags | None:
        """Facts by which ``e`` cannot be true here."""
        self.state.translation.speculative = True
        try:
            return self._impossible(e)
        finally:
            self.state.translation.speculative = False

    def _impossible(self, e: Expr) -> Tags | None:
        op = e.op
        if op == "land":
            for a in e.args:
                found = self._impossible(a)
                if found is not None:
                    return found
            return None
        if op == "lor":
            both = [self._impossible(a) for a in e.args]
            return None if both[0] is None or both[1] is None else both[0] | both[1]
        if op not in ("lt", "le", "eq", "ne") or not isinstance(e.args[0].ty, IntType) or e.args[0].ty == BOOL:
            return self._owed(e) if self.state.translation.intervals.truth(e) is False else None
        system = self.state.system
        if any(self.state.translation.intervals.of(side).empty for side in e.args):
            return self._owed(e)  # it has no value
        (p, a), (q, b) = self.state.translation.of(e.args[0]), self.state.translation.of(e.args[1])
        d, tags = system.reduced(combine(q, p, -1), a | b)
        if op == "ne":
            return tags | system.owed(d) if system.is_zero(d) else None
        lo, hi = system.bounds(d)
        if op == "eq":
            if lo > 0 or hi < 0:
                return tags | system.owed(d)
            for candidate in (shifted(d, -1), shifted(scaled(d, -1), -1)):
                found = system.nonnegative(candidate)
                if found is not None:
                    return found | tags
            return None
        least = 1 if op == "lt" else 0
        if hi < least:
            return tags | system.owed(d)
        found = system.nonnegative(shifted(scaled(d, -1), least - 1))
        return None if found is None else found | tags

    # --- equal arguments, equal values

    def _congruence(self) -> bool:
        """Identify values of one function at arguments that were found equal; check conditions that became opposite."""
        system, atoms = self.state.system, self.state.translation.atoms
        compound = [e for e in atoms if e.args]
        if (not compound and len(self.state.flags) < 2) or not system.solved:
            return False
        rename, tags = self._renaming()
        memo: dict[int, Expr] = {}
        seen: dict[Expr, Tags] = {}
        for flag, own in self.state.flags:
            image = rewrite(flag, rename.get, memo)
            for opposite in (lnot(image),):
                if opposite in seen:
                    raise Refuted(tags | own | seen[opposite])
            seen[image] = own
        changed = False
        images: dict[Expr, Expr] = {}
        for e in compound:
            image = rewrite(e, rename.get, memo)
            other = images.setdefault(image, e)
            if other is not e:
                changed |= self._equate(variable(atoms[e]), variable(atoms[other]), tags)
        return self._exclusive_or(images, tags) or changed

    def _equate(self, p: dict[tuple[int, ...], int], q: dict[tuple[int, ...], int], tags: Tags) -> bool:
        system = self.state.system
        difference, more = system.reduced(combine(p, q, -1), tags)
        if not difference:
            return False
        system.require_zero(difference, more)
        return True

    def _exclusive_or(self, images: dict[Expr, Expr], tags: Tags) -> bool:
        """From ``p ^ c == q`` follows ``q ^ c == p``, and from ``p ^ c == q ^ c`` that ``p`` and ``q`` are equal."""
        nodes = [(image, e) for image, e in images.items() if e.op == "xor" and image.op == "xor"]
        changed = False
        for i, (x, e) in enumerate(nodes):
            for y, f in nodes[: i + 1]:
                for c in x.args:
                    if c in y.args and x.ty == y.ty:
                        changed |= self._exclusive_or_pair((e, _other(x, c)), (f, _other(y, c)), tags)
        return changed

    def _exclusive_or_pair(self, one: tuple[Expr, Expr], two: tuple[Expr, Expr], tags: Tags) -> bool:
        """``one`` and ``two`` are (node ``p ^ c``, ``p``) with the same ``c``."""
        system = self.state.system
        (p, a), (q, b) = self.state.translation.of(one[1]), self.state.translation.of(two[1])
        first, second = (variable(self.state.translation.atoms[e]) for e, _ in (one, two))
        for x, y, u, v in ((first, second, p, q), (first, q, second, p), (second, p, first, q)):
            difference, used = system.reduced(combine(x, y, -1), tags | a | b)
            if not difference and self._equate(u, v, used):
                return True
        return False

    def _renaming(self) -> tuple[dict[Expr, Expr], Tags]:
        """Symbols found equal to others or to constants, and the facts behind that."""
        system = self.state.system
        groups: dict[frozenset[tuple[tuple[int, ...], int]], Expr] = {}
        out: dict[Expr, Expr] = {}
        tags = NO_TAGS
        for e, v in self.state.translation.atoms.items():
            if e.args or not isinstance(e.ty, IntType):
                continue
            p, own = system.reduced(variable(v), NO_TAGS)
            if is_constant(p):
                out[e] = const(constant_part(p), e.ty)
                tags |= own
                continue
            first = groups.setdefault(frozenset(p.items()), e)
            if first is not e and first.ty == e.ty:
                out[e] = first
                tags |= own | system.solved_tags.get(self.state.translation.atoms[first], NO_TAGS)
        return out, tags

    # --- cases

    def _split(self, depth: int) -> Tags | None:
        spent = self.state.system.allowance[0] <= 0 and not self.is_last
        if depth >= MAX_SPLIT_DEPTH or self.splits >= MAX_SPLITS or spent:
            return None
        cases = self._cases()
        if cases is None:
            return None
        saved = self.state
        used = NO_TAGS
        spans = saved.system.spans()
        for case, tags in cases:
            self.splits += 1
            case_state = saved.copy()
            self.state = case_state
            case_state.system.windows += spans
            try:
                for condition in case:
                    self.require(condition, tags)
                self.state.system.run()
                found = self.finish(depth + 1)
            except Refuted as refuted:
                found = refuted.tags
            self.state = saved
            self.assumed |= case_state.translation.assumed
            if found is None:
                return None
            used |= found
        return used

    def _cases(self) -> list[tuple[list[Expr], Tags]] | None:
        """The next case distinction: a clause, or which way a select, min or max goes."""
        for clause, tags in self.state.clauses:
            alternatives = _alternatives(clause)
            if len(alternatives) <= 3:
                self.state.clauses = [c for c in self.state.clauses if c[0] is not clause]
                return [([a], tags) for a in alternatives]
        for v, e in self.state.translation.choices:
            if v in self.addressed and e not in self.state.chosen:
                self.state.chosen = self.state.chosen | {e}
                return _choice_cases(e)
        return None


def _choice_cases(e: Expr) -> list[tuple[list[Expr], Tags]]:
    if e.op == "select":
        c, a, b = e.args
        return [([c, compare("eq", e, a)], NO_TAGS), ([lnot(c), compare("eq", e, b)], NO_TAGS)]
    a, b = e.args if e.op == "min" else e.args[::-1]
    return [
        ([compare("le", a, b), compare("eq", e, e.args[0])], NO_TAGS),
        ([compare("lt", b, a), compare("eq", e, e.args[1])], NO_TAGS),
    ]


def _other(e: Expr, operand: Expr) -> Expr:
    return e.args[1] if e.args[0] is operand else e.args[0]


def _alternatives(e: Expr) -> list[Expr]:
    if e.op != "lor":
        return [e]
    return [x for a in e.args for x in _alternatives(a)]


def _any(alternatives: list[Expr]) -> Expr:
    return lor(*alternatives)
