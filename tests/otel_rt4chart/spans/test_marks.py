"""Which of a trace's marks holds for an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.spans.exchanges import candidates
from otel_rt4chart.spans.record import Attributes, SpanRecord
from otel_rt4chart.verdict import Decision
from tests.otel_rt4chart.spans.made import CHAIN, LLM, SEARCH, made


def marked(span: SpanRecord, decision: str, rate: float = 0.5) -> SpanRecord:
    """The span as the application marked it."""
    marks: Attributes = {
        "rt4chart.sampled": decision == "sampled",
        "rt4chart.sample_rate": rate,
        "rt4chart.decision": decision,
    }
    return replace(span, attributes={**span.attributes, **marks})


def test_the_mark_of_the_span_that_ended_last_holds() -> None:
    """The local root's decision knows the whole trace, the answer's own may be an earlier one."""
    root = replace(marked(CHAIN, "sampled", 1.0), end_ns=9_000)

    (found,) = candidates([root, SEARCH, marked(LLM, "not_sampled", 0.25)])

    assert (found.sampled, found.sample_rate, found.decision_hint) == (True, 1.0, None)


def test_of_spans_that_end_together_the_outermost_decides() -> None:
    """It is the one that was waited for."""
    root = replace(marked(CHAIN, "throttled"), end_ns=LLM.end_ns)

    (found,) = candidates([root, SEARCH, marked(LLM, "sampled")])

    assert found.decision_hint is Decision.THROTTLED


@pytest.mark.parametrize(
    ("told", "hint"),
    [
        ("throttled", Decision.THROTTLED),
        ("over_budget", Decision.OVER_BUDGET),
        ("not_sampled", Decision.NOT_SAMPLED),
        ("sampled", None),
        ("verified", None),
        ("anything", None),
    ],
)
def test_only_a_reason_to_leave_out_is_a_hint(told: str, hint: Decision | None) -> None:
    """An attribute cannot say that an answer was verified."""
    (found,) = candidates([marked(CHAIN, told), SEARCH, LLM])

    assert found.decision_hint is hint


def test_a_mark_elsewhere_in_the_trace_holds_where_none_is_nearer() -> None:
    """The root may be another service's; spans beside the answer come before those far away."""
    far = marked(made(40, 0, {}), "sampled", 0.125)
    near = marked(SEARCH, "not_sampled", 0.25)

    assert candidates([CHAIN, SEARCH, LLM, far])[0].sample_rate == 0.125
    assert candidates([CHAIN, near, LLM, far])[0].sample_rate == 0.25
    assert candidates([CHAIN, SEARCH, LLM])[0].sampled is None
