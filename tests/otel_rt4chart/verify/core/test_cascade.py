from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import (
    CascadeJudge,
    Endpoint,
    Exchange,
    Label,
    OpenAIJudge,
    Passage,
    Verifier,
)
from otel_rt4chart.verify.core.cascade import threshold_for_error, threshold_for_share

EXCHANGE = Exchange(
    "", [Passage("p", "The pool is heated.")], "The pool is warm. Pools are heated."
)


def judges(sure: float) -> CascadeJudge:
    """A first judge with this confidence, and a second one of another opinion."""
    texts = ("The pool is warm", "Pools are heated")
    first = ScriptedJudge({t: Script(Label.BASELESS, confidence=sure) for t in texts}, id="first")
    second = ScriptedJudge(
        {t: Script(Label.ENTAILED, evidence=("pool",)) for t in texts}, id="second"
    )
    return CascadeJudge(first, second, 0.8)


@pytest.mark.parametrize(("sure", "decided_by"), [(0.9, "first"), (0.8, "first"), (0.79, "second")])
def test_claims_under_the_threshold_go_to_the_second_judge(sure: float, decided_by: str) -> None:
    """At the threshold the first judge's word counts."""
    report = Verifier(judges(sure)).verify(EXCHANGE)

    assert {claim.decided_by for claim in report.claims} == {decided_by}


def test_a_threshold_is_a_probability() -> None:
    """Anything else is refused."""
    with pytest.raises(SettingsError, match="expected 0 to 1"):
        CascadeJudge(ScriptedJudge({}), ScriptedJudge({}), 1.5)


def test_judges_that_could_not_be_asked_in_a_row_are_refused() -> None:
    """An endpoint first, or a cascade in a cascade, fails when it is built and says why."""
    plain = ScriptedJudge({})
    with pytest.raises(SettingsError, match="in this process"):
        CascadeJudge(OpenAIJudge(Endpoint(base_url="http://127.0.0.1:9/v1")), plain)  # type: ignore[arg-type]
    for first, second in ((judges(0.5), plain), (plain, judges(0.5))):
        with pytest.raises(SettingsError, match="cascade is cascade"):
            CascadeJudge(first, second)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50, unique=True), st.floats(0, 1))
def test_a_threshold_for_a_share_escalates_about_that_share(
    confidences: list[float], share: float
) -> None:
    """Within one claim."""
    threshold = threshold_for_share(confidences, share)
    escalated = sum(one < threshold for one in confidences)

    assert abs(escalated - share * len(confidences)) <= 1


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=50), st.floats(0, 1))
def test_a_threshold_for_an_error_keeps_it(judged: list[tuple[float, bool]], error: float) -> None:
    """The lowest at which at most that share of the kept verdicts is wrong, 1 where none is."""

    def is_enough(threshold: float) -> bool:
        kept = [is_right for confidence, is_right in judged if confidence >= threshold]
        return kept.count(False) <= error * len(kept)

    enough = [confidence for confidence, _ in judged if is_enough(confidence)]
    assert threshold_for_error(judged, error) == min(enough, default=1.0)


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_targets_are_shares(share: float) -> None:
    """Anything else is refused."""
    with pytest.raises(ValueError, match="expected 0 to 1"):
        threshold_for_share([0.5], share)
