"""What the readers of spans read as content is what the redactor rewrites."""

from __future__ import annotations

import pytest

from otel_rt4chart.redaction.content import holds_text
from otel_rt4chart.spans.conventions.convention import FIELDS
from otel_rt4chart.spans.conventions.registry import (
    CONVENTIONS,
    DERIVED_ATTRIBUTES,
    EVENTS,
    VARIABLE_KEYS,
)
from otel_rt4chart.spans.conventions.traceai import REQUEST_PARAMETERS

NAMES = ("model", "prompt_version", "session")
CONTENT = {
    source.key
    for one in CONVENTIONS
    for field in FIELDS
    for source in getattr(one, field)
    if field not in NAMES
}
# A model's parameters are no text of anybody.
WHOLE = DERIVED_ATTRIBUTES.keys() - {REQUEST_PARAMETERS}
IN_EVENTS = {key for one in EVENTS.values() for key in (one.key, one.body) if key} | {
    f"{one.prefix}text" for one in EVENTS.values() if one.prefix
}


@pytest.mark.parametrize("key", sorted(CONTENT | WHOLE | IN_EVENTS | VARIABLE_KEYS.keys()))
def test_what_is_read_as_content_is_redacted(key: str) -> None:
    """A convention that is added is redacted, or this fails."""
    assert holds_text(key)


@pytest.mark.parametrize("key", ["http.route", "gen_ai.request.model", "session.id", "db.system"])
def test_names_and_numbers_are_left(key: str) -> None:
    """They hold no text of anybody."""
    assert not holds_text(key)
