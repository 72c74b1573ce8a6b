"""An incident in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.core.alerts.facts import (
    AttributeChange,
    AttributeValue,
    DriftEvidence,
    MeasuredRate,
)
from rt4chart_collector.incident.asked_before import AskedBefore
from rt4chart_collector.incident.changes import (
    ChangeTime,
    DatedChange,
    SteadyAttribute,
    UncomparedValues,
)
from rt4chart_collector.incident.onset_range import OnsetRange
from rt4chart_collector.incident.roll_back import RollBack, roll_back_change
from rt4chart_collector.incident.wording import (
    asked_words,
    change_words,
    evidence_words,
    passages_words,
    range_words,
    roll_back_words,
    steady_words,
    uncompared_words,
    values_words,
)
from rt4chart_collector.store.answers.passage_use import PassageUse
from tests.rt4chart_collector.console.alerts.test_rate_chart import INCIDENT
from tests.rt4chart_collector.incident.rises import HOUR, MINUTE
from tests.rt4chart_collector.store.alerts.test_drift_states import ROW

NOON = 4_000_017_600 * 10**9
CHANGE = AttributeChange(AttributeValue("release", "2.4", 0.021, 1.0, NOON), "2.3")


def dated(first_ns: int, time: ChangeTime) -> DatedChange:
    """The change, first seen then."""
    return DatedChange(CHANGE, first_ns, time)


@pytest.mark.parametrize(
    ("first_ns", "time", "said"),
    [
        (NOON, ChangeTime.WITH, "first seen 2096-10-02 12:00 UTC, when the rise began"),
        (
            NOON - 190 * MINUTE,
            ChangeTime.BEFORE,
            "first seen 2096-10-02 08:50 UTC, 3 h 10 min before the rise began",
        ),
        (
            NOON + 5 * MINUTE,
            ChangeTime.WITH,
            "first seen 2096-10-02 12:05 UTC, 5 min after the rise began",
        ),
        (
            NOON + HOUR,
            ChangeTime.AFTER,
            "first seen 2096-10-02 13:00 UTC, 1 h 0 min after the rise began: it did not begin it",
        ),
        (0, ChangeTime.UNKNOWN, "in use as far back as was read, a week at most"),
    ],
)
def test_a_change_is_dated_by_the_rise(first_ns: int, time: ChangeTime, said: str) -> None:
    """Never as its cause."""
    assert change_words(dated(first_ns, time), NOON) == said
    assert values_words(dated(first_ns, time)) == "2.3 → 2.4, 2% → 100% of the answers"


def test_a_value_that_only_became_rarer_is_no_new_one() -> None:
    """Something else must have become commoner that nobody names."""
    rarer = AttributeChange(AttributeValue("model", "m-1", 0.9, 0.2))

    assert change_words(DatedChange(rarer, 0, ChangeTime.UNKNOWN), NOON) == "became rarer"


def test_the_interval_names_a_day_once() -> None:
    """Both days where it has two; nothing where it is not known."""
    assert range_words(OnsetRange(NOON - HOUR, NOON)) == (
        "between 2096-10-02 11:00 and 12:00 UTC (95%)"
    )
    assert range_words(OnsetRange(NOON - 13 * HOUR, NOON)) == (
        "between 2096-10-01 23:00 and 2096-10-02 12:00 UTC (95%)"
    )
    assert range_words(OnsetRange(NOON, NOON)) == ""


def test_the_evidence_is_that_of_now_with_that_of_then() -> None:
    """A rule without chance has no such words."""
    facts = replace(INCIDENT.facts, evidence=DriftEvidence(20.0, 9.0))
    fired = replace(INCIDENT, facts=facts)
    calm, strong = (replace(ROW, state=state) for state in ("calm", "page"))

    assert evidence_words(fired)[1].endswith("the monitor wrote nothing in the last hour")
    assert evidence_words(replace(fired, evidence=strong))[0] == "strong"
    word, meaning = evidence_words(replace(fired, evidence=calm))
    assert word == "none"
    assert meaning.startswith("now the rate is as usual, as far as can be told; strong when it")
    by_share = replace(INCIDENT.facts, evidence=DriftEvidence(0.3, 0.1))
    assert evidence_words(replace(INCIDENT, facts=by_share)) == ("", "")


def test_what_stayed_is_named() -> None:
    """Or that no answer names it."""
    assert steady_words(SteadyAttribute("model", ("a", "b"), 3)) == "as before: a, b and 3 more"
    assert steady_words(SteadyAttribute("release")) == "no answer names one"
    left = UncomparedValues("release", 9_800, 10_000)
    assert uncompared_words(left) == "9,800 of 10,000 values, those of the fewest answers"


def test_passages_tell_of_the_retriever() -> None:
    """How many an answer got, and how many of them are new."""
    assert passages_words(PassageUse(10, 5, 40, 10, 0)) == (
        "4.0 an answer in the day before, 2.0 since; the same passages were used in the day before"
    )
    assert passages_words(PassageUse(10, 5, 40, 10, 3)).endswith(
        "30% of those since are of passages that were not used in the day before"
    )
    assert passages_words(PassageUse(10, 0, 40, 0, 0)) == "no answers with passages on both sides"


def test_a_release_that_still_answers_has_its_own_rate() -> None:
    """If that rose too, the new one is not to blame."""
    rate = MeasuredRate(rate=0.3, low=0.2, high=0.4, claims=1, answers=1)
    known = RollBack("prompt_version", "8", "7", NOON, MeasuredRate(), rate, is_better=False)

    assert " ".join(roll_back_words(known, Measure.UNFAITHFUL)) == (
        "8 replaced prompt version 7. It last answered at 2096-10-02 12:00 UTC. Its rate in the "
        "week before the rise is not known. Since the rise, 30.0% (20.0% to 40.0%) of its 1 claim "
        "in 1 answer are unfaithful."
    )


def test_only_what_came_when_the_rise_began_is_undone() -> None:
    """Or what most answers have since then; and only what a team can put back."""
    environment = AttributeChange(AttributeValue("environment", "eu", 0.0, 1.0), "us")
    moved = DatedChange(environment, NOON, ChangeTime.WITH)
    late, with_it = dated(NOON + HOUR, ChangeTime.AFTER), dated(NOON, ChangeTime.WITH)
    alone = replace(with_it, change=replace(CHANGE, replaced=""))

    assert roll_back_change([moved, late, with_it]) == with_it
    assert roll_back_change([moved, late, alone]) is None
    earlier = dated(NOON - 20 * HOUR, ChangeTime.BEFORE)
    assert roll_back_change([earlier]) == earlier
    most_before = replace(CHANGE, new=replace(CHANGE.new, share_before=0.8))
    assert roll_back_change([replace(earlier, change=most_before)]) is None


@pytest.mark.parametrize(
    ("questions", "again", "said"),
    [
        (0, 0, "No answer since the rise has misleading claims that are still stored."),
        (1, 1, "1 question has answers with misleading claims since the rise; it was asked in the"),
        (1, 0, "1 question has answers with misleading claims since the rise; none was asked in"),
        (9, 9, "9 questions have answers with misleading claims since the rise; all were asked in"),
        (
            9,
            1,
            "9 questions have answers with misleading claims since the rise; 1 was asked in the",
        ),
        (9, 4, "9 questions have answers with misleading claims since the rise; 4 were asked in"),
    ],
)
def test_it_says_how_many_questions_were_asked_before(
    questions: int, again: int, said: str
) -> None:
    """In whole sentences."""
    assert asked_words(AskedBefore(questions, again), Measure.MISLEADING).startswith(said)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (AskedBefore(9, 4), ""),
        (
            AskedBefore(9, 4, is_cut_before=True),
            " Of the answers from before it, the newest 20,000 were searched.",
        ),
        (
            AskedBefore(9, 4, is_cut_since=True, is_cut_before=True),
            " Of the answers since the rise and from before it, the newest 20,000 were searched.",
        ),
        (
            AskedBefore(9, 4, is_cut_like=True),
            " Like questions are looked for among the 3,000 that were asked last.",
        ),
    ],
)
def test_it_says_where_not_all_answers_were_searched(found: AskedBefore, said: str) -> None:
    """Numbers of questions are then of those."""
    words = asked_words(found, Measure.UNFAITHFUL)

    assert words.endswith(f"in the week before it too.{said}")


def test_no_faulty_answer_among_the_newest_is_not_none_at_all() -> None:
    """Older ones may be faulty."""
    words = asked_words(AskedBefore(is_cut_since=True), Measure.EITHER)

    assert words.startswith("None of the newest 20,000 answers since the rise has")
