"""How rates, numbers and statuses are worded."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from otel_rt4chart.verify.core.model import ClaimStatus, status_label
from otel_rt4chart.verify.core.rates import AnswerSums, Measure
from rt4chart_collector.console.routes.route_tables import StatusRow, status_rows
from rt4chart_collector.console.view.filters import hourly, plural
from rt4chart_collector.console.view.measures import checked_text, rate_cell
from tests.rt4chart_collector.report.test_page_trend import point

WHOLE = point(0, 10).slice
NOTHING = AnswerSums(0, 0, 0, 0, 0, 0, 0, 0)


def text_of(html: str) -> str:
    """The text of a cell."""
    return re.sub(r"<[^>]*>", "", html)


def test_a_rate_of_a_part_of_the_answers_says_of_how_many() -> None:
    """That of all answers says nothing more."""
    part = replace(WHOLE, misleading_sums=replace(WHOLE.misleading_sums, answers=12))

    assert checked_text(part, Measure.MISLEADING) == "12 of 40 answers checked"
    assert text_of(rate_cell(part, Measure.MISLEADING)) == "0.0% 0.0–12.3% 12 of 40 answers checked"
    assert text_of(rate_cell(part, Measure.UNFAITHFUL)) == "25.0% 14.1–40.4%"


def test_a_missing_rate_says_why() -> None:
    """Answers that were not checked differ from answers without a decided claim."""
    old = replace(WHOLE, misleading_sums=NOTHING)
    undecided = replace(WHOLE, sums=NOTHING, answers=0)

    assert text_of(rate_cell(old, Measure.MISLEADING)) == "not checked yet"
    assert text_of(rate_cell(undecided, Measure.UNFAITHFUL)) == "no decided claims"


def test_statuses_are_in_order_with_their_shares() -> None:
    """The order is that of their precedence; a status of a later version comes last."""
    statuses = {"later": 1.0, "stale": 0.0, "cherry_picked": 4.0, "supported": 5.0}
    decided = WHOLE.misleading_sums.wm

    found = status_rows(replace(WHOLE, statuses=statuses))

    assert found == [
        StatusRow("cherry_picked", 4.0, 4 / decided),
        StatusRow("later", 1.0, 1 / decided),
    ]


def test_every_status_has_words_for_people() -> None:
    """No two have the same; a status of a later version is shown by its name."""
    words = [status_label(status) for status in ClaimStatus]

    assert len(set(words)) == len(words)
    assert "cherry-picked" in words
    assert status_label("half_told") == "half told"


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 claims"), (1, "1 claim"), (1234, "1,234 claims")]
)
def test_one_is_singular(number: int, text: str) -> None:
    """Every other number is plural."""
    assert plural(number, "claim") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.02, "< 0.1"), (0.25, "0.2"), (9.96, "10"), (40.4, "40"), (1234.0, "1,234")],
)
def test_a_rare_event_is_not_rounded_to_never(value: float, text: str) -> None:
    """Small numbers keep a digit."""
    assert hourly(value) == text
