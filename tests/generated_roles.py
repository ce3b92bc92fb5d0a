"""Random kernels in which some warps fill what others empty, most of them with a mistake.

``kernel(seed)`` is a kernel of its own name with the launch that it is made for. It begins as a ring of buffers with
a barrier in memory, or a number, for each direction; then an operation may be left out, made twice, moved, put under a
condition, or made of another barrier, phase or count.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

HEADER = """#include <cuda/barrier>
#include <utility>
using barrier = cuda::barrier<cuda::thread_scope_block>;
"""
WARP = 32


@dataclass(frozen=True)
class Operation:
    """One statement of a role: ``{slot}``, ``{phase}`` and a ``{number}`` for names are put in."""

    text: str
    slot: str
    phase: str = "0"
    guard: str = ""

    def written(self, number: int) -> str:
        made = self.text.format(slot=self.slot, phase=self.phase, number=number)
        return f"if ({self.guard}) {{ {made} }}" if self.guard else made


@dataclass
class Role:
    """What the threads of one side do: in front of their loop, in it and behind it."""

    before: list[Operation] = field(default_factory=list[Operation])
    inside: list[Operation] = field(default_factory=list[Operation])
    after: list[Operation] = field(default_factory=list[Operation])
    first: str = "0"
    end: str = "n"

    def lists(self) -> list[list[Operation]]:
        return [self.before, self.inside, self.after]


@dataclass
class Draft:
    size: int
    """Buffers."""
    producers: int
    consumers: int
    """Warps of each role."""
    style: str
    counts: dict[str, str]
    producer: Role
    consumer: Role


def _draft(random: Random) -> Draft:
    style = random.choice(("sync", "parity", "token", "numbers"))
    size = 1 if style in ("token", "numbers") else random.choice((1, 2, 3))
    producers, consumers = random.choice(((1, 1), (1, 2), (2, 1)))
    slot = "0" if size == 1 else f"i % {size}"
    threads = WARP * (producers + consumers)
    everybody, filling, emptying = str(threads), str(WARP * producers), str(WARP * consumers)
    write = Operation("s[{slot}][w] = i + w;", slot)
    read = Operation("sum += s[{slot}][x];", slot)
    producer, consumer = Role(), Role()
    counts = {"full": everybody, "empty": everybody}
    if style == "parity":
        counts = {"full": filling, "empty": emptying}
        turn = f"i / {size} % 2" if size > 1 else "i % 2"
        producer.inside = [
            Operation("empty[{slot}].wait_parity({phase});", slot, f"({turn}) ^ 1"),
            write,
            Operation("auto k{number} = full[{slot}].arrive();", slot),
        ]
        consumer.inside = [
            Operation("full[{slot}].wait_parity({phase});", slot, turn),
            read,
            Operation("auto k{number} = empty[{slot}].arrive();", slot),
        ]
    elif style == "sync":
        producer.inside = [
            Operation("empty[{slot}].arrive_and_wait();", slot),
            write,
            Operation("auto k{number} = full[{slot}].arrive();", slot),
        ]
        consumer.before = [Operation("auto k{number} = empty[{slot}].arrive();", str(at)) for at in range(size)]
        consumer.inside = [
            Operation("full[{slot}].arrive_and_wait();", slot),
            read,
            Operation("auto k{number} = empty[{slot}].arrive();", slot),
        ]
    elif style == "token":
        producer.before = [Operation("token = empty[{slot}].arrive();", "0")]
        producer.inside = [
            Operation("empty[{slot}].wait(std::move(token));", "0"),
            write,
            Operation("auto k{number} = full[{slot}].arrive();", "0"),
            Operation("token = empty[{slot}].arrive();", "0"),
        ]
        consumer.before = [Operation("auto k{number} = empty[{slot}].arrive();", "0")]
        consumer.inside = [
            Operation("full[{slot}].arrive_and_wait();", "0"),
            read,
            Operation("auto k{number} = empty[{slot}].arrive();", "0"),
        ]
    else:
        wait, arrive = (
            f'asm volatile("bar.{half} {{slot}}, {everybody};" ::: "memory");' for half in ("sync", "arrive")
        )
        producer.inside = [Operation(wait, "2"), write, Operation(arrive, "1")]
        consumer.before = [Operation(arrive, "2")]
        consumer.inside = [Operation(wait, "1"), read, Operation(arrive, "2")]
    return Draft(size, producers, consumers, style, counts, producer, consumer)


def _mistake(random: Random, draft: Draft) -> None:
    role = random.choice((draft.producer, draft.consumer))
    where = random.choice([ops for ops in role.lists() if ops])
    at = random.randrange(len(where))
    slots = ["1", "2"] if draft.style == "numbers" else ["0", "i % 2", "i % 3", "(i + 1) % 3", "(i + 1) % 2", "i & 1"]
    match random.randrange(12):
        case 0:
            del where[at]
        case 1:
            where.insert(at, where[at])
        case 2:
            other = random.randrange(len(where))
            where[at], where[other] = where[other], where[at]
        case 3:
            target = random.choice(role.lists())
            moved = where.pop(at)
            target.insert(random.randint(0, len(target)), moved)
        case 4 | 5:
            where[at] = replace(where[at], slot=random.choice(slots))
        case 6:
            role.end = random.choice(("n - 1", "n + 1", "2"))
        case 7:
            role.first = "1"
        case 8 | 9:
            guards = ("i > 0", "i + 1 < n", "t % 2 == 0", "t % 32 < 16", "i % 2 == 0", "i != 1", "n > 3")
            where[at] = replace(where[at], guard=random.choice(guards))
        case 10:
            phases = ("i % 2", "(i % 2) ^ 1", "i / 2 % 2", "(i / 2 % 2) ^ 1", "0", "1", "(i + 1) / 2 % 2")
            where[at] = replace(where[at], phase=random.choice(phases))
        case _:
            some = random.choice(("full", "empty"))
            draft.counts[some] = random.choice(("32", "64", "96", "1", "16"))


def _role(role: Role, name: str, numbers: Random) -> list[str]:
    def written(operations: list[Operation], at: str) -> list[str]:
        texts = (o.written(numbers.randrange(10**9)) for o in operations)
        return [f"      {text}" if at == "i" else f"    {{ int i = {at}; {text} }}" for text in texts]

    return [
        f"    // {name}",
        *written(role.before, "0"),
        f"    for (int i = {role.first}; i < {role.end}; ++i) {{",
        *written(role.inside, "i"),
        "    }",
        *written(role.after, "n"),
    ]


def kernel(seed: int) -> str:
    """A kernel named ``roles_SEED``; every fourth one is without a mistake."""
    random = Random(seed)
    draft = _draft(random)
    for _ in range(seed % 4 and random.choice((1, 1, 2))):
        _mistake(random, draft)
    width = WARP * max(draft.producers, draft.consumers)
    threads = WARP * (draft.producers + draft.consumers)
    lines = [
        f"// cuda-lsp: launch grid=(1) block=({threads}) n={random.choice((3, 4, 5))}",
        f"__global__ void roles_{seed}(int *out, int n) {{",
        f"  __shared__ int s[4][{width}];",
        "  __shared__ barrier full[4], empty[4];",
        "  int t = threadIdx.x, sum = 0;",
        "  if (t < 4) {",
        f"    init(&full[t], {draft.counts['full']});",
        f"    init(&empty[t], {draft.counts['empty']});",
        "  }",
        "  __syncthreads();",
        "  barrier::arrival_token token = 0;",
        f"  if (t < {WARP * draft.producers}) {{",
        "    int w = t;",
        *_role(draft.producer, "fills", random),
        "  } else {",
        f"    int x = {WARP * draft.producers} - 1 - (t - {WARP * draft.producers}) % {WARP * draft.producers};",
        *_role(draft.consumer, "empties", random),
        "    out[t] = sum;",
        "  }",
        "}",
    ]
    return "\n".join(lines) + "\n"
