"""``compute-sanitizer`` as a second opinion on a run: found, started on the plain kernel, its report in our terms."""

from typing import Final, Literal

Tool = Literal["memcheck", "racecheck", "synccheck", "initcheck"]
TOOLS: Final[tuple[Tool, ...]] = ("memcheck", "racecheck", "synccheck", "initcheck")
