"""Golden spans: for each row of a convention's table a span, and what is read from it."""

from __future__ import annotations

import pytest

from otel_rt4chart.spans.reading.reader import read_span
from tests.otel_rt4chart.spans.conventions.golden.all import GOLDEN
from tests.otel_rt4chart.spans.conventions.golden.case import Golden, said


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda one: one.name)
def test_a_span_is_read_as_its_convention_means_it(golden: Golden) -> None:
    """The kind and every field; what is not named is as on a span that says nothing."""
    assert said(read_span(golden.record)) == golden.expected
