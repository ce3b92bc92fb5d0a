"""Functions that PTX calls and the device runtime provides: ``vprintf``, ``__assertfail``, ``malloc`` and ``free``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gpu_runner.cpu.body import Body, Buffer, UnsupportedHere
from gpu_runner.cpu.layout import Fault, SiteKind
from gpu_runner.ptx import model

External = Callable[[Body, model.Call], None]


def _argument(body: Body, call: model.Call, number: int, llvm: str = "i64") -> str:
    argument = call.arguments[number]
    found = body.lookup(argument.name) if isinstance(argument, model.Symbol | model.Register) else None
    if isinstance(found, Buffer):
        return body.let(f"load {llvm}, ptr {found.place}, align 1")
    return body.read(argument, "b64" if llvm == "i64" else "b32")


def _result(body: Body, call: model.Call, value: str, llvm: str = "i32") -> None:
    for result in call.results:
        found = body.lookup(result.name) if isinstance(result, model.Symbol | model.Register) else None
        if isinstance(found, Buffer):
            body.emit(f"store {llvm} {value}, ptr {found.place}, align 1")
        elif found is not None:
            body.write(result, value, f"b{llvm[1:]}")
        else:
            raise UnsupportedHere("this kind of result")


def _vprintf(body: Body, call: model.Call) -> None:
    """The host formats: it gets the addresses of format and arguments, while the thread stands still."""
    site = body.site(SiteKind.NONE, call)
    form, arguments = _argument(body, call, 0), _argument(body, call, 1)
    count = body.let(f"call i32 @print(ptr %thread, i64 {form}, i64 {arguments}, i32 {site})")
    _result(body, call, count)


def _assert_failed(body: Body, call: model.Call) -> None:
    """The message's address goes along, so that the report can quote it."""
    site = body.site(SiteKind.NONE, call)
    body.fault(Fault.ASSERTION, site, _argument(body, call, 0))


def _malloc(body: Body, call: model.Call) -> None:
    _result(body, call, body.let(f"call i64 @allocate(i64 {_argument(body, call, 0)})"), "i64")


def _free(body: Body, call: model.Call) -> None:
    body.emit(f"call void @release(i64 {_argument(body, call, 0)})")


EXTERNAL: Final[dict[str, External]] = {
    "vprintf": _vprintf,
    "__assertfail": _assert_failed,
    "malloc": _malloc,
    "free": _free,
}
