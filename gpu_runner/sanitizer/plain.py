"""The program that ``compute-sanitizer`` looks at: one kernel as its compiler made it, launched once on the GPU.

    python -m gpu_runner.sanitizer.plain REQUEST.json

prints one line of JSON, ``{"status": …, "message": …}`` (`gpu_runner.request.Status`). Arrays are allocations of their
own, so that an access behind one is outside of all.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Final

from gpu_runner.arguments import arguments_of
from gpu_runner.cpu.launch import Launch, LaunchError, argument_values, check_launch
from gpu_runner.gpu.driver import Device, DriverError, NoGpu, find
from gpu_runner.naming import entry_named
from gpu_runner.ptx.lexer import PtxSyntaxError
from gpu_runner.ptx.parse import parse
from gpu_runner.request import Request, Status, from_json

_PAUSE: Final = 0.001
_GRID_WORKSPACE: Final = ("%envreg1", "%envreg2")
"""Where a barrier of the whole grid has its workspace: only a cooperative launch gives one."""


def main() -> int:
    """The exit code, 0 whatever came of it: the answer says."""
    request: Request = from_json(Request, json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    try:
        status, message = launched(request, find())[:2]
    except NoGpu as error:
        status, message = "device", str(error)
    sys.stdout.write(json.dumps({"status": status, "message": message}) + "\n")
    return 0


def launched(request: Request, device: Device) -> tuple[Status, str, list[bytes]]:
    """Launch the kernel of a request that has its PTX, and wait for its end: how it ended, and the arrays then."""
    assert request.ptx is not None
    try:
        module = parse(request.ptx)
        entry = entry_named(module, request.kernel)
        function = module.definition(entry)
        assert function is not None
        arguments = arguments_of(request, module, entry)
        launch = Launch(request.grid, request.block, arguments, request.dynamic_shared)
        check_launch(function, launch)
        loaded = device.load(request.ptx, entry, lines=True)
        if launch.dynamic_shared:
            device.allow_shared(loaded, launch.dynamic_shared)
        addresses = [device.allocate(max(1, len(array.data))) for _, array in launch.arrays]
        arrays = launch.contents(addresses)
        for address, data in zip(addresses, arrays, strict=True):
            device.write(address, data)
        values = argument_values(function, launch, addresses)
        grid_wide = any(name in request.ptx for name in _GRID_WORKSPACE)
        device.launch(loaded, launch.grid, launch.block, launch.dynamic_shared, values, grid_wide)
        while device.running():  # whoever started this program ends it when its time is over
            time.sleep(_PAUSE)
        found = [device.read(address, len(data)) for address, data in zip(addresses, arrays, strict=True)]
    except (LaunchError, PtxSyntaxError, KeyError) as error:
        return "launch", str(error), []
    except DriverError as error:
        return "device", str(error), []
    return "finished", "", found


if __name__ == "__main__":
    sys.exit(main())
