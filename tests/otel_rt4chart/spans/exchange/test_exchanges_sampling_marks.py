"""Which of a trace's marks holds for an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.record import Attributes, SpanRecord
from otel_rt4chart.spans.model.verdict import Decision
from tests.otel_rt4chart.spans.model.made import CHAIN, LLM, SEARCH, made


def marked(span: SpanRecord, decision: str, rate: float = 0.5) -> SpanRecord:
    """The span as the application marked it."""
    marks: Attributes = {
        "rt4chart.sampled": decision == "sampled",
        "rt4chart.sample_rate": rate,
        "rt4chart.decision": decision,
    }
    return replace(span, attributes={**span.attributes, **marks})


def test_what_was_chosen_anywhere_above_the_answer_is_chosen() -> None:
    """Each process of a trace decides by itself: one that was forced is not taken back outside."""
    gateway = replace(marked(CHAIN, "not_sampled", 0.1), end_ns=9_000)

    (found,) = find_candidates([gateway, SEARCH, marked(LLM, "sampled", 1.0)])

    assert (found.sampled, found.sample_rate, found.decision_hint) == (True, 1.0, None)


@pytest.mark.parametrize(
    ("written", "believed"), [(1e-300, 1e-6), (5e-324, 1e-6), (1e-6, 1e-6), (0.0, 0.0)]
)
def test_rate_below_the_floor_is_not_believed(written: float, believed: float) -> None:
    """One answer must not count 1e300 times: of a smaller rate, the smallest believed one holds."""
    (found,) = find_candidates([CHAIN, SEARCH, marked(LLM, "sampled", written)])

    assert (found.sampled, found.sample_rate) == (True, believed)


@pytest.mark.parametrize(("outer", "inner"), [(1.0, 0.25), (0.25, 1.0)])
def test_of_those_that_chose_the_highest_rate_holds(outer: float, inner: float) -> None:
    """They draw alike, so that it is the probability that any of them chose."""
    spans = [marked(CHAIN, "sampled", outer), SEARCH, marked(LLM, "sampled", inner)]

    (found,) = find_candidates(spans)

    assert (found.sampled, found.sample_rate) == (True, 1.0)


def test_where_nobody_chose_the_span_that_ended_last_tells_why() -> None:
    """The outermost one, where they end together: it is the one that was waited for."""
    inner = marked(LLM, "not_sampled", 0.25)
    for end in (9_000, LLM.end_ns):
        root = replace(marked(CHAIN, "throttled"), end_ns=end)
        (found,) = find_candidates([root, SEARCH, inner])
        assert (found.sampled, found.decision_hint) == (False, Decision.THROTTLED)


def test_a_process_that_saw_no_answer_gives_way_to_one_that_decided() -> None:
    """A gateway writes the rate alone; what the inner one's bounds left out stays out."""
    rate_alone = {"rt4chart.sampled": True, "rt4chart.sample_rate": 0.5}
    gateway = replace(CHAIN, attributes={**CHAIN.attributes, **rate_alone})

    (found,) = find_candidates([gateway, SEARCH, marked(LLM, "throttled")])
    (alone,) = find_candidates([gateway, SEARCH, LLM])

    assert (found.sampled, found.decision_hint) == (False, Decision.THROTTLED)
    assert (alone.sampled, alone.sample_rate) == (True, 0.5)


def test_a_choice_without_a_rate_gives_way_to_one_with_a_rate() -> None:
    """Without one an answer has no weight."""
    bare = replace(CHAIN, attributes={**CHAIN.attributes, "rt4chart.sampled": True})

    (found,) = find_candidates([bare, SEARCH, marked(LLM, "sampled", 0.25)])

    assert (found.sampled, found.sample_rate) == (True, 0.25)


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
    (found,) = find_candidates([marked(CHAIN, told), SEARCH, LLM])

    assert found.decision_hint is hint


def test_a_mark_elsewhere_in_the_trace_holds_where_none_is_nearer() -> None:
    """The root may be another service's; spans beside the answer come before those far away."""
    far = marked(made(40, 0, {}), "sampled", 0.125)
    near = marked(SEARCH, "not_sampled", 0.25)

    assert find_candidates([CHAIN, SEARCH, LLM, far])[0].sample_rate == 0.125
    assert find_candidates([CHAIN, near, LLM, far])[0].sample_rate == 0.25
    assert find_candidates([CHAIN, SEARCH, LLM])[0].sampled is None
