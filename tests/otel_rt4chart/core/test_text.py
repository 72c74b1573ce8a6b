"""Names that come from spans."""

from __future__ import annotations

import pytest

from otel_rt4chart.core.text import MAX_NAME_CHARS, bounded_name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("POST /ask", "POST /ask"),
        ("Straße 東京", "Straße 東京"),
        ("a\x1b[31mb\x07\u202ec", "a [31mb  c"),
        ("lone \ud800", "lone ?"),
        ("r" * MAX_NAME_CHARS, "r" * MAX_NAME_CHARS),
    ],
)
def test_short_name_is_kept_without_control_characters(name: str, shown: str) -> None:
    """A name in a log or a terminal must not rewrite it."""
    assert bounded_name(name) == shown


def test_long_names_with_one_beginning_stay_different() -> None:
    """Otherwise the rates of two routes would be mixed."""
    names = [bounded_name("r" * 10**6 + end) for end in ("a", "b", "\ud800", "\x07")]

    assert len(set(names)) == 4
    assert {len(name) for name in names} == {MAX_NAME_CHARS}
    assert all(name.isprintable() and bounded_name(name) == name for name in names)
