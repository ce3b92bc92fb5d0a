"""Loads, stores, atomics, barriers and warp exchanges of one arbitrary thread become events.

The second layer of the symbolic execution: each statement records its event under the current guard and changes the
state that later expressions are read in.
"""

from __future__ import annotations

from typing import Final, Literal

from analyzers.ir import expr as E
from analyzers.ir import kernel as K
from analyzers.ir.agreement import Agreement, agreement
from analyzers.ir.clusters import exists, is_in_block, own_object
from analyzers.ir.events import (
    ARRIVAL,
    AccessEvent,
    AtomicInfo,
    BarrierEvent,
    Broadcast,
    Conjunct,
    Guard,
    Match,
    PhaseOf,
    Scan,
    Staged,
    loaded_name,
)
from analyzers.ir.expr import BOOL, I64, Expr, IntType
from analyzers.ir.memory_state import Cell, contents_of
from analyzers.ir.pointers import pointer_targets
from analyzers.ir.surfaces import is_surface
from analyzers.ir.valuation import Valuation
from analyzers.ir.warp_scans import WARP

MAX_ELEMENTS: Final = 8
"""Elements of an array of the thread's own that are told apart where it is read at a place that differs."""

_SUMS = ("block_scan", "block_total", "warp_scan", "warp_total")

FULL_WARP = 0xFFFFFFFF
"""A mask of all lanes."""

_WHOLE = E.const(32, E.I32)
"""The width of a shuffle that is not within parts of the warp."""


class Effects(Valuation):
    """Records what the thread does to memory and to other threads."""

    def _targets(self, pointer: Expr, site: K.Site) -> list[tuple[Expr, Expr, Expr]]:
        """(condition, root, offset) of what ``pointer`` may point to."""
        found: list[tuple[Expr, Expr, Expr]] = []
        for condition, root, offset in pointer_targets(self.value(pointer)):
            if root.op == "null":
                continue
            if root.op == "addr" and root.value not in self.objects:
                self._reject("untracked-pointer", f"`{site.text}` goes to a variable that is not kept in memory", site)
            elif is_in_block(root):
                found += self._elsewhere(condition, root, offset, site)
            elif (
                root.op == "addr"
                or is_surface(root)
                or (root.op == "opaque" and root.value[0].startswith(("mem:", "load")))
            ):
                found.append((condition, root, offset))
            elif root.op == "opaque" and root.value[0].startswith("rewritten:"):
                text = f"`{site.text}` goes through a pointer read from memory in which the kernel writes pointers"
                self._reject("untracked-pointer", text, site)
            else:
                self._reject("untracked-pointer", f"what `{site.text}` points to is not known", site)
        return found

    def _elsewhere(self, condition: Expr, root: Expr, offset: Expr, site: K.Site) -> list[tuple[Expr, Expr, Expr]]:
        """A target in another block of the cluster: an object in shared memory, and a rank that exists."""
        own, size = root.args[0], self.kernel.bounds.cluster
        if size is not None and own.op == "addr" and self._space(own) == "shared":
            known = exists(root.args[1], size)
            if known is not E.TRUE:
                self.assumptions.setdefault("blocks are asked for by ranks below the size of their cluster")
            return [(E.land(condition, known), root, offset)]
        if own.op != "null":
            self._reject("cluster-memory", f"whose memory `{site.text}` goes to is not known", site)
        return []

    def _local_cell(self, root: Expr, offset: Expr, width: int) -> Cell | None:
        """The cell of an access to a local object; None where more than one may be meant, as for what an allocation
        gives each time it is executed."""
        if root.op != "addr" or offset.op != "const":
            return None
        o = self.objects[root.value]
        if o.space == "local" and o.kind != "unknown":
            return Cell(root.value, offset.value, width)
        return None

    def _space(self, root: Expr) -> str:
        root = own_object(root)
        return self.objects[root.value].space if root.op == "addr" else "global"

    def _bounds(self, pairs: tuple[tuple[Expr, int], ...]) -> Guard:
        out: list[Conjunct] = []
        for index, extent in pairs:
            i = self.value(index)
            if not isinstance(i.ty, IntType) or i.op == "const" or extent <= 0:
                continue
            parts = [E.compare("lt", i, E.const(extent, i.ty))]
            if i.ty.signed:
                parts.append(E.compare("le", E.const(0, i.ty), i))
            out += [Conjunct(p, "assume", len(self.active)) for p in parts if p is not E.TRUE]
        return tuple(out)

    def _record(
        self,
        s: K.Load | K.Store | K.Atomic,
        kind: str,
        target: tuple[Expr, Expr, Expr],
        extra: Guard,
        value: Expr | None,
    ) -> None:
        condition, root, offset = target
        staged = self._staged()
        space = self._space(root)
        if space == "param" and kind != "read":
            self._reject("untracked-pointer", f"`{s.site.text}` changes a parameter by way of a number", s.site)
        if self.recording and space == "local" and kind != "read":
            self.private.add(s.id)
        if not self.recording or space in ("local", "param", "constant"):
            return
        guard = self.guard
        for part in E.conjuncts(condition):
            guard = (*guard, Conjunct(part, "branch", len(self.active)))
        atomic = None
        if isinstance(s, K.Atomic):
            known = [
                v.value if v.op == "const" and isinstance(v.ty, IntType) else None for v in map(self.value, s.operands)
            ]
            atomic = AtomicInfo(
                s.op, s.scope, s.order, known[-1] if known else None, known[0] if s.op == "cas" and known else None
            )
        self.accesses.append(
            AccessEvent(
                id=s.id,
                order=self._tick(),
                kind="atomic" if isinstance(s, K.Atomic) else "read" if kind == "read" else "write",
                root=root,
                offset=offset,
                width=s.width,
                guard=guard + extra,
                loops=self._labels(),
                site=s.site,
                atomic=atomic,
                value=self._private_address(s, value),
                volatile=not isinstance(s, K.Atomic) and s.volatile,
                alignment=K.Alignment(s.width) if isinstance(s, K.Atomic) else s.alignment,
                asynchronous=not isinstance(s, K.Atomic) and s.asynchronous,
                staged=staged,
                lanes="" if isinstance(s, K.Atomic) else s.lanes,
                succeeds=self._success(s) if isinstance(s, K.Atomic) else None,
            )
        )

    def _success(self, s: K.Atomic) -> Expr | None:
        if s.op != "cas" or not isinstance(s.ty, IntType):
            return None
        compared = self.value(s.operands[0])
        if not isinstance(compared.ty, IntType):
            return None
        return E.compare("eq", E.opaque(f"atomic:{s.id}", s.ty, self.counters()), E.cast(compared, s.ty))

    def _staged(self) -> tuple[Staged, ...]:
        out: list[Staged] = []
        for p in self.kernel.pipelines:
            if p.acquired in self.state.variables:
                counts = [self.read_variable(n, E.I32) for n in (p.acquired, p.committed, p.waited, p.released)]
                roles = [self.read_variable(n, BOOL) for n in (p.producer, p.consumer)]
                out.append(Staged(p.name, p.stages, *counts, *roles))
        return tuple(out)

    def _private_address(self, s: K.Load | K.Store | K.Atomic, value: Expr | None) -> Expr | None:
        """The value written, as other threads see it: addresses of a thread's own objects differ from thread to
        thread."""
        if value is None or not self._names_own(value):
            return value
        return E.opaque(f"private:{s.id}", value.ty, self.counters())

    def _names_own(self, e: Expr) -> bool:
        """The address of an object of the thread's own occurs in ``e``."""
        seen: set[int] = set()
        todo = [e]
        while todo:
            node = todo.pop()
            if node.op == "addr" and self.objects[node.value].space == "local":
                return True
            if node.key not in self.public and node.key not in seen:
                seen.add(node.key)
                todo.extend(node.args)
        self.public |= seen
        return False

    def _load(self, s: K.Load) -> None:
        targets = self._targets(s.pointer, s.site)
        extra = self._bounds(s.in_bounds)
        result: Expr | None = None
        for target in reversed(targets):
            condition, root, offset = target
            self._record(s, "read", target, extra, None)
            value = self._loaded(s, root, offset)
            result = value if result is None else E.select(condition, value, result)
        if result is None:
            result = E.opaque(f"havoc:{s.id}", s.ty, self.counters())
        self.assign(s.var, result)

    def _loaded(self, s: K.Load, root: Expr, offset: Expr) -> Expr:
        cell = self._local_cell(root, offset, s.width)
        if cell is not None:
            found = self.state.read_cell(cell, s.ty)
            if found is not None:
                return found
            if self.state.clobbered(cell):
                found = self._kept(s, root, offset)
            else:
                found = E.opaque(f"undefined:{s.id}:{cell.object}+{cell.offset}", s.ty, self.counters())
            self.state.write_cell(cell, found)
            return found
        if self._space(root) == "local":
            return self._element(s, root, offset)
        if s.volatile and s.id not in self.quiet:
            self._see_anew(s.id)
            return E.opaque(f"volatile:{s.id}", s.ty, self.counters())
        if is_in_block(root):
            where = (offset, root.args[1], *self.counters())
            kind = "rewritten" if s.ty == E.PTR else "load"
            return E.opaque(f"{kind}:{s.id}:{root.args[0].value}", s.ty, where)
        if s.ty == E.PTR:
            return self._loaded_pointer(s, root, offset)
        if root.op == "addr" and root.value not in self.written:
            # Shared memory that nobody writes holds something else in each block.
            level = "block" if self._space(root) == "shared" else "grid"
            return E.opaque(f"mem:{root.value}:{s.ty}", s.ty, (offset,), level)
        where = () if root.op == "addr" else root.args
        return E.opaque(
            loaded_name(s.id, root),
            s.ty,
            (offset, *where, *self.counters()),
            # A pipeline, a lock or a signal may put a write between the reads of two threads in one iteration.
            "thread" if self.kernel.pipelines or self._saw_alone(root) else "block",
        )

    def _saw_alone(self, root: Expr) -> bool:
        """The thread gets here by what an atomic or volatile load told it, and no barrier of the block is behind that.
        What a thread writes that waited for another one's read may then come before this read."""
        seen = _observed(self.guard)
        if not seen or (root.op == "addr" and root.value not in self.answered):
            return False
        conditions = {c.condition for c in self.guard}
        for guard, labels, settled in self.settled:
            certain = all(c.kind in ("return", "assume") or c.condition in conditions for c in guard)
            if certain and self._labels()[: len(labels)] == labels:
                seen -= settled
        return bool(seen)

    def _element(self, s: K.Load, root: Expr, offset: Expr) -> Expr:
        """What is read at a place that differs: one of a few elements of an array, each a number that is known."""
        kept = self._kept(s, root, offset)
        if root.op != "addr" or not (isinstance(s.ty, IntType) or s.ty == E.PTR):
            return kept
        cells = [c for c in self.state.cells if c.object == root.value and c.width == s.width]
        known = {c: v for c in cells if (v := self.state.read_cell(c, s.ty)) is not None}
        if len(cells) > MAX_ELEMENTS:
            return kept
        for cell, value in sorted(known.items(), reverse=True):
            kept = E.select(E.compare("eq", offset, E.const(cell.offset, I64)), value, kept)
        return kept

    def _kept(self, s: K.Load, root: Expr, offset: Expr) -> Expr:
        """What is read at a place of the thread's own memory that is not one of its cells."""
        contents = self._contents(root)
        found = self._agreed((contents, offset)) if contents is not None else Agreement("thread")
        return E.opaque(f"local:{s.id}", s.ty, (*self.counters(), *found.inputs), found.level)

    def _keep(self, s: K.Store, root: Expr, stored: tuple[Expr, ...]) -> None:
        """Own memory is written: what it holds depends on what it held and on all that is stored."""
        before = self._contents(root)
        if before is None:
            return
        found = self._agreed((before, *stored))
        given = (*self.counters(), *found.inputs)
        self.assign(contents_of(root.value), E.opaque(f"stored:{s.id}", E.F64, given, found.level))

    def _agreed(self, values: tuple[Expr, ...]) -> Agreement:
        if any(v.ty == E.PTR and self._names_own(v) for v in values):
            return Agreement("thread")
        return agreement(values, self.level)

    def _contents(self, root: Expr) -> Expr | None:
        """What stands for all that a local object holds, where that is followed."""
        known = root.op == "addr" and contents_of(root.value) in self.state.variables
        return self.read_variable(contents_of(root.value), E.F64) if known else None

    def _settle(self, s: K.Barrier) -> None:
        """What led to a barrier of the block is nothing that one thread alone has seen."""
        if s.scope in ("block", "cluster", "grid") and (seen := _observed(self.guard)):
            self.settled.append((self.guard, self._labels(), frozenset(seen)))

    def _see_anew(self, number: int) -> None:
        """An access gives another value."""
        names = (f"atomic:{number}", f"volatile:{number}")
        self.settled = [(g, k, frozenset(x for x in e if x.value[0] not in names)) for g, k, e in self.settled]

    def _loaded_pointer(self, s: K.Load, root: Expr, offset: Expr) -> Expr:
        """A pointer found in memory: of one value during the kernel where nothing changes pointers there.

        One that leads to objects of the type it was found in leads to any of those, as in a list or a tree."""
        origin = root.value if root.op == "addr" else "*"
        if origin in self.rewritten:
            return E.opaque(f"rewritten:{s.id}", E.PTR, self.counters())
        where = () if root.op == "addr" else (*root.args, *self.counters())
        name = f"mem:{root.value}:{s.ty}" if root.op == "addr" else loaded_name(s.id, root)
        level = "grid" if root.op == "addr" else "block"
        if s.linked:
            position = E.opaque(f"linked:{name}", I64, (offset, *where), level)
            return E.ptradd(root, E.mul(position, E.const(s.linked, I64)))
        return E.opaque(name, E.PTR, (offset, *where), level)

    def _store(self, s: K.Store) -> None:
        value = self.value(s.value)
        targets = self._targets(s.pointer, s.site)
        extra = self._bounds(s.in_bounds)
        for target in targets:
            condition, root, offset = target
            self._record(s, "write", target, extra, value)
            if self._space(root) == "local":
                self._keep(s, root, (condition, offset, value))
                cell = self._local_cell(root, offset, s.width)
                if cell is not None and condition is E.TRUE:
                    self.state.write_cell(cell, value)
                elif cell is not None:
                    old = self.state.read_cell(cell, value.ty)
                    self.state.write_cell(
                        cell, E.select(condition, value, old) if old is not None else self._fresh(s, value.ty)
                    )
                else:
                    self.state.clobber(root.value)

    def _fresh(self, s: K.Store, ty: E.Type) -> Expr:
        return E.opaque(f"stored:{s.id}", ty, self.counters())

    def _atomic(self, s: K.Atomic) -> None:
        targets = self._targets(s.pointer, s.site)
        extra = self._bounds(s.in_bounds)
        for target in targets:
            self._record(s, "atomic", target, extra, self.value(s.operands[-1]) if s.operands else None)
            if self._space(target[1]) == "local":
                self.state.clobber(target[1].value)
                if contents_of(target[1].value) in self.state.variables:
                    changed = E.opaque(f"stored:{s.id}", E.F64, self.counters())
                    self.assign(contents_of(target[1].value), changed)
        self._see_anew(s.id)
        if s.var is not None:
            self.assign(s.var, E.opaque(f"atomic:{s.id}", s.ty, self.counters()))

    def _phase(self, s: K.Barrier) -> PhaseOf | None:
        if s.phase is None:
            return None
        place = self._single_root(self.value(s.phase.place))
        if place is None or place[0].op != "addr":
            self._reject("split-barrier", "a barrier at a place that is not known", s.site)
            return None
        awaited = None if s.phase.awaited is None else self.value(s.phase.awaited)
        return PhaseOf(*place, awaited, s.phase.parity)

    def _barrier(self, s: K.Barrier) -> None:
        self._settle(s)
        if self.recording:
            mask = self.value(s.mask) if s.mask is not None else None
            if s.mask is not None and mask is not None and mask.op == "const" and mask.value & FULL_WARP == FULL_WARP:
                mask = None
            self.barriers.append(
                BarrierEvent(
                    s.id,
                    self._tick(),
                    s.scope,
                    self.guard,
                    self._labels(),
                    s.site,
                    mask,
                    s.tile,
                    s.statement,
                    s.in_macro,
                    self._formed(mask),
                    within=s.within,
                    number=s.number,
                    half=s.half,
                    phase=self._phase(s),
                )
            )
        if s.phase is not None and s.phase.token is not None:
            self.assign(s.phase.token, E.opaque(f"{ARRIVAL}{s.id}", E.U64, self.counters()))
        if s.reduce is not None:
            kind, operand, name = s.reduce
            own = self.value(operand)
            result = E.opaque(f"reduced:{s.id}", E.I32, self.counters(), "block")
            zero = E.const(0, E.I32)
            self.assign(name, result)
            truth = E.cast(own, BOOL)
            if kind == "or":
                self._extend(E.lor(E.lnot(truth), E.compare("ne", result, zero)), "assume")
            elif kind == "and":
                self._extend(E.lor(truth, E.compare("eq", result, zero)), "assume")

    def _collective(self, s: K.Collective) -> None:
        operands = [self.value(o) for o in s.operands]
        if s.name in _SUMS:
            self._sum_of_group(s, operands)
            return
        kind = s.name.removeprefix("__").removesuffix("_sync")
        if self.recording:
            self._note_exchange(s, operands)
        if self._is_from_within(kind, operands) and all(self.level(o) in ("block", "grid") for o in operands):
            given = (*(o for o in operands if isinstance(o.ty, IntType)), *self.counters())
            self.assign(s.var, E.opaque(f"warp:{s.id}", s.ty, given, "block"))
            return
        level = "warp" if self._same_for_a_warp(kind, operands) else "thread"
        result = E.opaque(f"warp:{s.id}", s.ty, self.counters(), level)
        self.assign(s.var, result)
        self.warp_scans.forget(result)
        self.broadcasts.pop(result.value[0], None)
        if kind == "shfl":
            self._broadcast(result, operands)
        if kind == "shfl_up" and self._is_whole_warp(operands) and self._all_come_here("warp"):
            self.warp_scans.shuffle(result, operands[1], operands[2], self._reached())
        if kind == "shfl" and level == "warp" and self._all_come_here("warp"):
            self.warp_scans.broadcast(result, operands[2], operands[1], self._reached())
        if kind == "activemask":
            self.formations[result] = tuple(c for c in self.guard if c.kind != "assume")
        if kind == "match_any" and isinstance(operands[1].ty, IntType):
            self.matches[result.value[0]] = Match(result, operands[0], operands[1])
        self.votes.pop(result, None)
        if kind == "ballot" and level == "warp" and self._all_come_here("warp"):
            vote = frozenset(E.conjuncts(E.cast(operands[1], BOOL)))
            self.votes[result] = frozenset(c.condition for c in self.guard) | vote, vote
        if self.names_lanes and isinstance(s.ty, IntType):
            self._own_bit(kind, operands, result)

    def _note_exchange(self, s: K.Collective, operands: list[Expr]) -> None:
        if not s.name.endswith("_sync"):
            return  # takes the lanes that are there
        mask: Expr | None = operands[0]
        if mask.op == "const" and mask.value & FULL_WARP == FULL_WARP:
            mask = None
        width = operands[3] if s.name.startswith("__shfl") and len(operands) > 3 else _WHOLE
        if s.group is not None and s.group < WARP:
            self.exchanged(s.site, s.id, tile=s.group, name=s.stands_for or s.name)
        elif width.op == "const":
            parts = None if width is _WHOLE or s.group is not None else width.value
            self.exchanged(s.site, s.id, mask, scope="warp", tile=parts, name=s.stands_for or s.name)

    def exchanged(
        self,
        site: K.Site,
        number: int = -1,
        mask: Expr | None = None,
        *,
        scope: Literal["warp", "tile"] = "tile",
        tile: int | None,
        name: str = "",
    ) -> None:
        """Note an exchange; those without a number of their own are told apart by their sites."""
        around, formed = self._labels(), self._formed(mask)
        self.exchanges.append(
            BarrierEvent(
                number, self._tick(), scope, self.guard, around, site, mask, tile, formed=formed, exchange=name
            )
        )

    def _sum_of_group(self, s: K.Collective, operands: list[Expr]) -> None:
        """The sum of what the threads before this one in a block or warp gave, or all of them."""
        value, sizes = operands[0], [o.value if o.op == "const" else 0 for o in operands[1:]]
        group: Literal["block", "warp"] = "block" if s.name.startswith("block_") else "warp"
        total = s.name.endswith("_total")
        one_value = total and (group == "block" or sizes == [32])
        result = E.opaque(f"warp:{s.id}", s.ty, self.counters(), group if one_value else "thread")
        self.assign(s.var, result)
        self.warp_scans.forget(result)
        if 0 not in sizes and value.ty == s.ty and self._all_come_here(group):
            scan = Scan(result, value, group, tuple(sizes), total, reached=self._reached())
            self.warp_scans.found[result.value[0]] = scan

    def _reached(self) -> tuple[Expr, ...]:
        """The conditions under which the thread comes here."""
        return tuple(c.condition for c in self.guard if c.kind != "assume")

    def _all_come_here(self, group: Literal["block", "warp"]) -> bool:
        """All threads of a group or none, and in the same iterations."""
        enough = ("block", "grid") if group == "block" else ("warp", "block", "grid")
        return all(c.kind == "assume" or self.level(c.condition) in enough for c in self.guard)

    def _broadcast(self, result: Expr, operands: list[Expr]) -> None:
        """What one lane gives all others that take part, where it is known who these are."""
        if len(operands) < 3 or (len(operands) > 3 and not (operands[3].op == "const" and operands[3].value == 32)):
            return
        met = frozenset(c.condition for c in self.guard if c.kind != "assume")
        if self._is_whole_warp(operands):
            if self.level(operands[2]) != "thread" and self._all_come_here("warp"):
                masks = [m for m in self.votes if m in E.symbols(operands[2]) and m.args == result.args]
                mask, voted = (masks[0], self.votes[masks[0]][1]) if len(masks) == 1 else (None, frozenset[Expr]())
                self.broadcasts[result.value[0]] = Broadcast(result, operands[2], operands[1], met, mask, voted)
            return
        mask = operands[0]
        while mask.op in ("cast", "narrow"):
            mask = mask.args[0]
        nothing = frozenset[Expr]()
        together, vote = self.votes.get(mask, (nothing, nothing))
        if mask in self.formations:
            together = frozenset(c.condition for c in self.formations[mask])
        known = mask in self.votes or mask in self.formations
        if known and vote <= met <= together and mask.args == result.args:
            self.broadcasts[result.value[0]] = Broadcast(result, operands[2], operands[1], met, mask)

    def _formed(self, mask: Expr | None) -> Guard:
        while mask is not None and mask.op in ("cast", "narrow"):
            mask = mask.args[0]
        return self.formations.get(mask, ()) if mask is not None else ()

    def _own_bit(self, kind: str, operands: list[Expr], lanes: Expr) -> None:
        """The thread's own bit of a mask of lanes: its vote; set in that of the active threads, and of those that gave
        the same."""
        if kind not in ("activemask", "match_any", "ballot") or (kind == "ballot" and not operands):
            return
        row = E.mul(E.TID[1], E.BDIM[0])
        plane = E.mul(E.TID[2], E.mul(E.BDIM[0], E.BDIM[1]))
        lane = E.binary("rem", E.add(E.add(E.TID[0], row), plane), E.const(32, E.U32))
        bit = E.binary("and", E.binary("shr", E.cast(lanes, E.U32), lane), E.const(1, E.U32))
        held = E.compare("ne", bit, E.const(0, E.U32))
        if kind != "ballot":
            self._extend(held, "assume")
            return
        vote = E.cast(operands[-1], BOOL)
        self._extend(E.lor(E.land(vote, held), E.land(E.lnot(vote), E.lnot(held))), "assume")

    def _same_for_a_warp(self, kind: str, operands: list[Expr]) -> bool:
        """All 32 lanes take part, and each gets the same result."""
        mask = operands[0] if operands else None
        if mask is None or mask.op != "const" or mask.value & FULL_WARP != FULL_WARP:
            return False
        if kind == "shfl" and len(operands) >= 3:
            return self._is_whole_warp(operands) and self.level(operands[2]) != "thread"
        return kind in ("any", "all", "ballot", "uni") or kind.startswith("reduce_")

    def _is_from_within(self, kind: str, operands: list[Expr]) -> bool:
        """A shuffle in which every lane gets what a lane gave that takes part, whatever the size of the block: a warp
        that is not full has the first lanes."""
        if not kind.startswith("shfl") or not self._is_whole_warp(operands) or not self._all_come_here("warp"):
            return False
        return kind == "shfl_up" or (kind == "shfl" and operands[2].op == "const" and operands[2].value == 0)

    def _is_whole_warp(self, operands: list[Expr]) -> bool:
        """A shuffle that names all lanes, and no parts of a warp."""
        mask = operands[0]
        if len(operands) < 3 or mask.op != "const" or mask.value & FULL_WARP != FULL_WARP:
            return False
        return len(operands) == 3 or (operands[3].op == "const" and operands[3].value == 32)


def _observed(guard: Guard) -> set[Expr]:
    """What atomics and volatile loads gave that the conditions speak of."""
    found = E.symbols(*(c.condition for c in guard))
    return {n for n in found if n.op == "opaque" and n.value[0].startswith(("atomic:", "volatile:"))}
