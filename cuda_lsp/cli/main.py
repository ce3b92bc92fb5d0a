"""The `cuda-lsp` command: reads the arguments and runs one of its subcommands.

`main` returns the exit code (see `exit_codes`); imports that take long happen when their subcommand runs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

from analyzers.model import UserLaunch
from cuda_lsp import __version__
from cuda_lsp.cli import exit_codes
from cuda_lsp.cli.exit_codes import UsageError
from gpu_runner.sanitizer import TOOLS, Tool

BACKEND = "cuda_lsp.backend:create"

_TARGET = "a kernel by name: k, ns::k, 'k<float, 4>', 'k(int *)', or as the linker sees it, _Z1kPi"
_EPILOG = (
    "Exit codes: 0 clean, 1 findings, 2 usage or configuration, 3 input could not be analysed, "
    "4 a run that was stopped before its end. More: cuda-lsp docs cli."
)


def main(argv: Sequence[str] | None = None, backend: str = BACKEND) -> int:
    """Run one command line; `backend` names what the workers run (see `cuda_lsp.backend`)."""
    try:
        arguments = _parser().parse_args(_glued(sys.argv[1:] if argv is None else argv))
        code = _run(arguments, backend)
        sys.stdout.flush()
        return code
    except UsageError as error:
        print(f"cuda-lsp: {error}", file=sys.stderr)
        return exit_codes.USAGE
    except KeyboardInterrupt:
        return exit_codes.INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone, as under `| head`.
        _discard_output()
        return exit_codes.BROKEN_PIPE
    except OSError as error:
        # A full disk behind standard output, no process or file handle left: nothing that a traceback would explain.
        _discard_output()
        where = f"{error.filename}: " if error.filename else ""
        print(f"cuda-lsp: {where}{error.strerror or error}", file=sys.stderr)
        return exit_codes.NOT_ANALYSED


def _discard_output() -> None:
    """Nothing is said when Python closes the stream."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: argparse.Namespace, backend: str) -> int:
    if arguments.command == "serve":
        from cuda_lsp.cli import serve

        return serve.serve(arguments.tcp, arguments.log_level, backend)
    if arguments.command == "check":
        from cuda_lsp.cli import check
        from cuda_lsp.cli import fail_on as fail_on_values

        fail_on = fail_on_values.read(arguments.fail_on) if arguments.fail_on is not None else None
        given = check.CheckArguments(
            tuple(arguments.paths),
            _selection(arguments),
            arguments.format,
            fail_on,
            arguments.jobs,
            arguments.color,
            arguments.verbose,
            arguments.html,
            "" if arguments.no_baseline else arguments.baseline,
            arguments.write_baseline,
        )
        return check.check(given, backend, sys.stdout, sys.stderr)
    if arguments.command == "fix":
        from cuda_lsp.cli import fix

        wanted = fix.FixArguments(tuple(arguments.paths), _selection(arguments), arguments.write, arguments.color)
        return fix.fix(wanted, backend, sys.stdout, sys.stderr)
    if arguments.command == "run":
        from cuda_lsp.cli import run

        launch = run.RunArguments(
            arguments.target,
            _selection(arguments),
            arguments.grid,
            arguments.block,
            tuple(arguments.arg or ()),
            arguments.inputs,
            arguments.shared,
            arguments.seeds,
            arguments.build,
            arguments.arch,
            arguments.seconds,
            arguments.device,
            arguments.sanitizer,
            arguments.format,
            arguments.color,
        )
        return run.run(launch, backend, sys.stdout, sys.stderr)
    if arguments.command == "doctor":
        from cuda_lsp.cli import doctor

        wish = doctor.DoctorArguments(arguments.file, arguments.format, arguments.color)
        return doctor.doctor(wish, backend, sys.stdout)
    if arguments.command == "completion":
        from cuda_lsp.cli import completion

        sys.stdout.write(completion.script(_parser(), arguments.shell))
        return exit_codes.CLEAN
    if arguments.command == "docs":
        from cuda_lsp.cli import docs

        return docs.docs(arguments.page, arguments.path, sys.stdout)
    from cuda_lsp.cli import explain

    target = explain.ExplainArguments(arguments.target, arguments.stage, _selection(arguments))
    return explain.explain(target, backend, sys.stdout, sys.stderr)


def _selection(arguments: argparse.Namespace) -> Any:
    from cuda_lsp.cli.requests import Selection

    return Selection(
        kernels=tuple(getattr(arguments, "kernel", ()) or ()),
        launches=tuple(getattr(arguments, "launch", ()) or ()),
        extra_args=tuple(arguments.extra_arg or ()),
        use_host=not arguments.no_host,
        warp_lockstep=arguments.warp_lockstep,
        wrap_around=arguments.wrap_around,
        database=arguments.database,
        settings=arguments.settings,
        workspace=arguments.workspace,
    )


def _glued(argv: Sequence[str]) -> list[str]:
    """`--extra-arg -DX` as `--extra-arg=-DX`: argparse takes no value that looks like an option."""
    glued: list[str] = []
    for argument in argv:
        if glued and glued[-1] == "--extra-arg":
            glued[-1] += f"={argument}"
        else:
            glued.append(argument)
    return glued


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        raise UsageError(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="cuda-lsp", description="Check the synchronization of CUDA kernels.", epilog=_EPILOG, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"cuda-lsp {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)

    check = _subcommand(commands, "check", "analyse files and folders and print what was found")
    check.add_argument(
        "paths",
        nargs="*",
        default=["."],
        metavar="PATH",
        help="a source file, or a folder to search for .cu and .cuh files (default: this folder)",
    )
    check.add_argument(
        "--format", choices=("text", "json", "sarif", "github"), default="text", help="how to print (default: text)"
    )
    check.add_argument(
        "--fail-on",
        metavar="LIST",
        help="codes that make the exit code 1, separated by commas, or never (default: those that the settings call "
        "error or warning; else data-race,barrier-divergence,assertion-failure,lane-not-in-mask,"
        "missing-lanes,possible-data-race)",
    )
    check.add_argument(
        "-j",
        "--jobs",
        type=_positive,
        metavar="N",
        help="files analysed at once (default: as many as there are processors, up to 8)",
    )
    check.add_argument("-v", "--verbose", action="store_true", help="show assumptions, facts and clean kernels in full")
    known = check.add_mutually_exclusive_group()
    known.add_argument("--baseline", metavar="FILE", help="findings that are known: report only what is new")
    known.add_argument("--no-baseline", action="store_true", help="report also what the settings' baseline knows")
    check.add_argument("--write-baseline", metavar="FILE", help="make what is found known, for --baseline")
    check.add_argument("--html", metavar="FILE", help="also write the findings, drawn, as a page for a browser")
    _add_color(check)
    _add_selection(check, kernels=True)

    fix = _subcommand(commands, "fix", "repair what can be repaired with a proof")
    fix.add_argument("paths", nargs="+", metavar="PATH", help="a source file, or a folder")
    how = fix.add_mutually_exclusive_group()
    how.add_argument("--diff", action="store_true", help="print a unified diff (default)")
    how.add_argument("--write", action="store_true", help="change the files")
    _add_color(fix)
    _add_selection(fix, kernels=True)

    explain = _subcommand(commands, "explain", "print one stage of the analysis of one kernel")
    explain.add_argument("target", metavar="FILE:KERNEL", help=_TARGET)
    explain.add_argument(
        "--pass",
        dest="stage",
        required=True,
        choices=("ir", "events", "lockstep", "pairs", "conditions"),
        help="which stage",
    )
    _add_selection(explain, kernels=False)

    run = _subcommand(commands, "run", "execute a kernel under the race detector")
    run.add_argument("target", metavar="FILE:KERNEL", help=_TARGET)
    run.add_argument(
        "--grid",
        metavar="X[,Y[,Z]]",
        help="blocks; without --grid and --block inputs that the source names and findings of the check are tried",
    )
    run.add_argument("--block", metavar="X[,Y[,Z]]", help="threads of a block")
    run.add_argument(
        "--arg",
        action="append",
        metavar="[NAME=]VALUE",
        help="an argument: a number, or for a pointer how many elements and what they are, as in a=1024:iota",
    )
    run.add_argument("--inputs", metavar="FILE", help="a TOML file with the inputs of one or more runs")
    run.add_argument(
        "--shared",
        type=_bytes,
        metavar="BYTES",
        help="dynamic shared memory (default: that of the host's launch, or 32768 where the kernel has some)",
    )
    run.add_argument("--seeds", type=_positive, default=4, metavar="N", help="schedules to try (default: 4)")
    run.add_argument(
        "--build",
        choices=("confirm", "shipped"),
        default="confirm",
        help="confirm: every access of the source; shipped: optimised code (default: confirm)",
    )
    run.add_argument(
        "--arch", type=_positive, metavar="NN", help="compute capability (default: that of the flags, or else 80)"
    )
    run.add_argument(
        "--device",
        choices=["cpu", "gpu", "auto"],
        default="cpu",
        help="where the kernel runs: on the processor (default), on a GPU, or on a GPU where there is one",
    )
    run.add_argument(
        "--sanitizer",
        type=_tools,
        default=(),
        metavar="TOOLS",
        help="also ask these tools of NVIDIA's compute-sanitizer, which needs a GPU: memcheck, racecheck, synccheck, "
        "initcheck, separated by commas, or all",
    )
    run.add_argument("--seconds", type=_seconds, default=30.0, metavar="S", help="time for all schedules (default: 30)")
    run.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")
    _add_color(run)
    _add_selection(run, kernels=False)

    docs = _subcommand(commands, "docs", "print a page of the documentation, such as the one of a diagnostic")
    docs.add_argument(
        "page", nargs="?", metavar="PAGE", help="a code such as data-race, or another page (default: a list)"
    )
    docs.add_argument("--path", action="store_true", help="print where the page lies instead")

    doctor = _subcommand(commands, "doctor", "print what is installed and found, and what to do where something is not")
    doctor.add_argument("file", nargs="?", metavar="FILE", help="also: the settings and flags that this file has")
    doctor.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")
    _add_color(doctor)

    completion = _subcommand(commands, "completion", "print a script that completes commands in a shell")
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell")

    serve = _subcommand(commands, "serve", "run the language server on standard input and output")
    serve.add_argument("--stdio", action="store_true", help="use standard input and output (default)")
    serve.add_argument("--tcp", type=_address, metavar="HOST:PORT", help="wait for one client on a socket instead")
    serve.add_argument("--log-level", choices=("error", "warning", "info", "debug"), help="what goes to standard error")
    return parser


def _subcommand(commands: Any, name: str, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=text, description=text[0].upper() + text[1:] + ".", epilog=_EPILOG, allow_abbrev=False
    )
    return parser


def _add_color(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours (default: on a terminal, unless NO_COLOR)",
    )


def _add_selection(parser: argparse.ArgumentParser, *, kernels: bool) -> None:
    group = parser.add_argument_group("what to check, and how")
    if kernels:
        group.add_argument("--kernel", action="append", metavar="NAME", help="only this kernel; may be repeated")
    group.add_argument(
        "--launch",
        action="append",
        type=_launch,
        metavar="LAUNCH",
        help="only this launch, as in grid=(4,4),block=(16,16),shared=1024,n=64; may be repeated",
    )
    group.add_argument("--extra-arg", action="append", metavar="ARG", help="a compiler flag to add; may be repeated")
    group.add_argument("--no-host", action="store_true", help="ignore what the host code says about launches")
    group.add_argument("--warp-lockstep", action="store_true", help="let warps run in lock-step, as before Volta")
    group.add_argument(
        "--wrap-around", action="store_true", help="report races that need indices to wrap around at 2^32 too"
    )
    group.add_argument(
        "-p", dest="database", metavar="DIR", help="where compile_commands.json is (default: looked for upward)"
    )
    group.add_argument(
        "--settings",
        type=_settings,
        metavar="JSON",
        help="settings as an editor has them; those of a project file win",
    )
    group.add_argument(
        "--workspace", type=_folder, metavar="DIR", help="the folder that an editor has opened, for the files below it"
    )


def _folder(text: str) -> str:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text}")
    return text


def _settings(text: str) -> Mapping[str, Any]:
    from cuda_lsp.config import from_client

    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise argparse.ArgumentTypeError(f"this is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("expected a table of settings: {…}")
    return from_client(cast("dict[str, Any]", value))


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"“{text}” is not a positive number")
    return number


def _bytes(text: str) -> int:
    try:
        number = int(text, 0)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"“{text}” is not a number of bytes")
    return number


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"“{text}” is not a positive number of seconds")
    return number


def _launch(text: str) -> UserLaunch:
    from analyzers.hostguide.comments import parse_launch

    try:
        return parse_launch(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _tools(text: str) -> tuple[Tool, ...]:
    """Tools of ``compute-sanitizer``, separated by commas, or ``all``: those that tell what a run tells."""
    if text == "all":
        return TOOLS[:3]
    wanted = text.split(",")
    found: tuple[Tool, ...] = tuple(tool for tool in TOOLS if tool in wanted)
    if len(found) != len(wanted):
        raise argparse.ArgumentTypeError(f"{text}: expected all, or some of {', '.join(TOOLS)}, separated by commas")
    return found


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise argparse.ArgumentTypeError(f"“{text}” is not of the form HOST:PORT")
    return host or "127.0.0.1", int(port)
