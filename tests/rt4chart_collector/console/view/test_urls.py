"""Addresses that nothing on the way rewrites."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.console.view.urls import (
    answer_url,
    answers_url,
    escaped,
    issue_url,
    unescaped,
)


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_a_name_comes_back_from_its_segment(name: str) -> None:
    """Whatever it holds: slashes, dots, tildes, nothing at all."""
    segment = escaped(name)

    assert unescaped(segment) == name
    assert re.fullmatch(r"[A-Za-z0-9._~-]+", segment)
    assert segment not in (".", "..")


def test_usual_names_are_readable() -> None:
    """What people have in a ticket."""
    assert escaped("support") == "support"
    assert escaped("support/refunds") == "support~2Frefunds"
    assert escaped("") == "-"
    assert answer_url("a1", "b2", 3) == "/answers/a1/b2#claim-3"
    assert issue_url(7) == "/issues/0000000000000007"
    assert answers_url(service="a b", label="") == "/answers?service=a+b"
