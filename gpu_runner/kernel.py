"""A kernel that is ready to run, whatever runs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gpu_runner.cpu.arena import Allocation, Arena
from gpu_runner.cpu.body import Layout
from gpu_runner.cpu.handover import Consumer
from gpu_runner.cpu.launch import Execution, Launch
from gpu_runner.cpu.sites import Sites


class AnyKernel(Protocol):
    """With memory for one launch; runs of it start from the same contents."""

    @property
    def launch(self) -> Launch: ...

    @property
    def arena(self) -> Arena:
        """Where global memory lies, by the addresses in records."""
        ...

    @property
    def arrays(self) -> tuple[Allocation, ...]:
        """Of the arguments that are arrays, in order."""
        ...

    @property
    def sites(self) -> Sites: ...

    @property
    def layout(self) -> Layout:
        """Where variables lie."""
        ...

    @property
    def uses_agents(self) -> bool:
        """Whether records name agents of threads."""
        ...

    @property
    def clustered(self) -> bool:
        """Whether blocks get to the shared memory of others."""
        ...

    @property
    def shared_size(self) -> int:
        """Bytes of shared memory of a block."""
        ...

    def relaunch(self, launch: Launch) -> None:
        """Take another launch. Raises `LaunchError`."""
        ...

    @property
    def shards(self) -> int:
        """Among how many consumers the records of a run are best divided."""
        ...

    def run(
        self,
        consumers: Sequence[Consumer] = (),
        seed: int = 0,
        seconds: float = 60.0,
        resident: int | None = None,
        results: bool = True,
    ) -> Execution:
        """Execute the launch. The consumers get the records in batches, as rows of three words (see `cpu.layout`), in
        memory that is used again afterwards. One gets all of them; of several, each gets those of its shard of the
        memory and those that order threads, in a thread of its own. Where `shards` is 1 there may be one at most.
        Without `results` nobody wants to know what is in the arrays afterwards."""
        ...

    def slots(self, resident: int) -> int:
        """How many blocks have shared memory at once, where so many are asked for."""
        ...
