"""What is known of loads is known by what they find, not by their number alone."""

from __future__ import annotations

from analyzers.ir import expr as E
from analyzers.ir.events import loaded_name, without_thread


def test_one_load_of_two_objects_has_two_names() -> None:
    one, two = E.addr("cell"), E.addr("s.a")
    assert loaded_name(7, one) == "load:7:cell"
    assert loaded_name(7, one) != loaded_name(7, two)


def test_what_an_opaque_pointer_leads_to_is_named_after_it() -> None:
    assert loaded_name(7, E.opaque("mem:gp:ptr", E.PTR, (), "grid")) == "load:7:mem:gp:ptr"


def test_threads_of_a_question_share_the_name() -> None:
    assert without_thread("load:7:cell@2") == without_thread("load:7:cell") == "load:7:cell"
