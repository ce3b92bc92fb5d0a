"""The sentences of the explorer: headlines, what a thread does, and text alternatives of the drawings."""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.model import Access, Arrival, Dim3, Finding, LaunchSummary, LoopTurn, Verdict
from cuda_lsp.explorer.markup import Markup, code, text

WARP = 32

VERDICTS = {
    Verdict.DATA_RACE: "data race",
    Verdict.BARRIER_DIVERGENCE: "barrier divergence",
    Verdict.ASSERTION_FAILURE: "assertion fails",
    Verdict.LANE_NOT_IN_MASK: "lane not in mask",
    Verdict.MISSING_LANES: "missing lanes",
    Verdict.POSSIBLE_DATA_RACE: "possible data race",
    Verdict.UNKNOWN: "unknown",
    Verdict.BENIGN_RACE: "benign race",
    Verdict.POSSIBLE_ASSERTION_FAILURE: "assertion can fail",
    Verdict.REDUNDANT_BARRIER: "redundant barrier",
    Verdict.BARRIER_AFTER_EXIT: "barrier after exit",
    Verdict.RACE_FREE: "race-free",
}
_WHO = {
    "intra-warp": "Two threads of one warp",
    "intra-block": "Two warps of one block",
    "inter-block": "Threads of two blocks",
}
FACTS = {
    "assert": "checked by the host",
    "dimension": "dimension of the launch",
    "relation": "argument of the launch",
    "loop-bound": "bound of a loop",
    "allocation": "allocated size",
    "user": "given by the user",
}
"""What kind of statement a fact of the host code is."""
_DOES = {"read": "reads", "write": "writes", "atomic": "updates atomically"}


def headline(finding: Finding) -> Markup:
    """What happens, in one line."""
    match finding.code:
        case Verdict.DATA_RACE | Verdict.POSSIBLE_DATA_RACE | Verdict.BENIGN_RACE:
            who = _WHO.get(finding.scope or "", "Two threads")
            where = finding.witness.address if finding.witness is not None and finding.witness.address else ""
            cell = code(where) if where else text("one cell")
            verb = {
                Verdict.DATA_RACE: "collide on ",
                Verdict.POSSIBLE_DATA_RACE: "may collide on ",
                Verdict.BENIGN_RACE: "write the same value to ",
            }[finding.code]
            if finding.code is Verdict.BENIGN_RACE and not all(a.kind == "write" for a in finding.accesses):
                verb = "meet harmlessly on "
            return Markup(text(f"{who} {verb}") + cell)
        case Verdict.BARRIER_DIVERGENCE:
            return text("A thread waits at a barrier that another one misses")
        case Verdict.LANE_NOT_IN_MASK:
            return text("A lane comes that the mask does not name")
        case Verdict.MISSING_LANES:
            return text("Lanes that the mask names do not come")
        case Verdict.BARRIER_AFTER_EXIT:
            return text("Some threads have returned before this barrier")
        case Verdict.REDUNDANT_BARRIER:
            return text("This barrier orders nothing")
        case Verdict.ASSERTION_FAILURE:
            return text("A thread fails this assertion")
        case Verdict.POSSIBLE_ASSERTION_FAILURE:
            return text("A thread can fail this assertion")
        case _:
            return text(VERDICTS[finding.code])


def is_race(finding: Finding) -> bool:
    return finding.code in (Verdict.DATA_RACE, Verdict.POSSIBLE_DATA_RACE, Verdict.BENIGN_RACE)


def is_missed_barrier(finding: Finding) -> bool:
    return finding.code in (Verdict.BARRIER_DIVERGENCE, Verdict.BARRIER_AFTER_EXIT, Verdict.MISSING_LANES)


def does(access: Access) -> str:
    """What a thread does to memory, as a verb."""
    return _DOES.get(access.kind, "comes to")


def rank_of(at: Dim3, size: Dim3) -> int:
    """The linear number of a thread in its block, or of a block in its grid."""
    return at[0] + at[1] * size[0] + at[2] * size[0] * size[1]


def warp_of(thread: Dim3, block: Dim3) -> tuple[int, int]:
    """Warp and lane."""
    rank = rank_of(thread, block)
    return rank // WARP, rank % WARP


def size_text(size: Dim3) -> str:
    """`256` for (256,1,1), `16 × 16` for (16,16,1)."""
    kept = list(size)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return " × ".join(str(part) for part in kept)


def bytes_text(width: int) -> str:
    return count(width, "byte")


def count(number: int, noun: str, nouns: str = "") -> str:
    return f"{number} {noun if number == 1 else nouns or noun + 's'}"


def turn_text(turn: LoopTurn, line: str) -> str:
    if turn.value is not None and turn.variable is not None:
        return f"{turn.variable} = {turn.value} in the loop at {line}"
    over = f" over {turn.variable}" if turn.variable is not None else ""
    return f"iteration {turn.iteration} of the loop{over} at {line}"


def iterations_text(arrival: Arrival) -> str:
    if not arrival.iterations:
        return ""
    if len(arrival.iterations) == 1:
        return f"iteration {arrival.iterations[0]}"
    return f"iterations {', '.join(map(str, arrival.iterations))}"


def dimensions(sizes: Sequence[str]) -> str:
    """Three sizes without the trailing ones that are 1: `(n / 16, 4)`."""
    kept = list(sizes)
    while len(kept) > 1 and kept[-1] == "1":
        kept.pop()
    return kept[0] if len(kept) == 1 else f"({', '.join(kept)})"


def launch_text(launch: LaunchSummary) -> str:
    """The dimensions of a launch, with source text between backquotes."""
    if launch.source == "default":
        return "no launch in sight: any that the hardware allows"
    given = "given by the user: " if launch.source == "user" else ""
    return f"{given}grid `{dimensions(launch.grid)}`, block `{dimensions(launch.block)}`"
