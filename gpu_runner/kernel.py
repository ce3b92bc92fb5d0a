"""A kernel that is ready to run, whatever runs it."""

from __future__ import annotations

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

    def run(
        self,
        consume: Consumer | None = None,
        seed: int = 0,
        seconds: float = 60.0,
        resident: int | None = None,
    ) -> Execution:
        """Execute the launch. `consume` gets the records in batches, as rows of three words (see `cpu.layout`)."""
        ...

    def slots(self, resident: int) -> int:
        """How many blocks have shared memory at once, where so many are asked for."""
        ...
