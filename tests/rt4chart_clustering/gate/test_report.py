"""What the gate says, and when it opens."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_clustering.gate.compare import compare
from rt4chart_clustering.gate.evaluate import GateLimits, evaluate_gate
from rt4chart_clustering.gate.report import format_junit, format_markdown, format_text, outcome_json
from rt4chart_clustering.gate.result import CaseResult, GateResult

BOUNDS = GateLimits(max_rate=0.1, max_undecided=0.2)


def result(*cases: CaseResult) -> GateResult:
    """A run over these cases."""
    return GateResult("trial", "rules/7", cases)


GOOD = CaseResult("a", "i1", decided=4)
BAD = CaseResult("b", "i2", decided=4, unfaithful=2, wrong=("baseless: x", "contradicted: y"))


@pytest.mark.parametrize(
    ("cases", "reason"),
    [
        ([GOOD], ""),
        ([GOOD, BAD], "25.0% of the claims are unfaithful or misleading, at most 10.0% is allowed"),
        ([CaseResult("a", "", undecided=2)], "no claim was decided, so there is no rate"),
        ([CaseResult("a", "", 3, 0, 2)], "2 of 5 claims are undecided, at most 20% is allowed"),
        ([GOOD, CaseResult("c", "", error="no answer was given")], "1 of 2 cases have no verdict"),
    ],
)
def test_the_gate_says_why_it_fails(cases: list[CaseResult], reason: str) -> None:
    """And opens where nothing stands against it."""
    found = evaluate_gate(result(*cases), BOUNDS, None)

    assert found.is_open == (not reason)
    assert reason in "".join(found.reasons)


def test_a_risen_rate_within_the_limit_fails() -> None:
    """The baseline holds beside the bound."""
    cases = [CaseResult(str(at), "", 20, 1) for at in range(10)]
    before = result(*(CaseResult(str(at), "", 20, 0) for at in range(10)))

    found = evaluate_gate(result(*cases), BOUNDS, compare(before, result(*cases)))

    assert "worse than the baseline: 0.0% before, 5.0% now over 10 cases" in found.reasons[0]


def test_words_have_the_rate_the_issues_and_the_cases() -> None:
    """What an engineer needs to go on."""
    said = format_text(evaluate_gate(result(GOOD, BAD), BOUNDS, None))

    assert said.startswith("failed: trial, rules/7\nunfaithful 25.0% (95% interval ")
    assert "\nmisleading 0.0% (95% interval " in said
    assert "\nunfaithful or misleading 25.0% (95% interval " in said
    assert "  issue i2: 50.0%" in said
    assert "  b: baseless: x; contradicted: y\n" in said


MISLED = CaseResult(
    "m",
    "i3",
    decided=4,
    misleading=2,
    misled=("cherry_picked: x", "stale: y"),
    statuses={"supported": 2, "cherry_picked": 1, "stale": 1},
    returned=("stale",),
)


@pytest.mark.parametrize(
    ("count", "reason"),
    [
        (Measure.EITHER, "25.0% of the claims are unfaithful or misleading, at most 10.0%"),
        (Measure.MISLEADING, "25.0% of the claims are misleading, at most 10.0%"),
        (Measure.UNFAITHFUL, ""),
    ],
)
def test_misleading_claims_close_the_gate_unless_they_do_not_count(
    count: Measure, reason: str
) -> None:
    """By default both kinds of failure count."""
    found = evaluate_gate(result(GOOD, MISLED), GateLimits(0.1, count=count), None)
    words, suite = format_text(found), fromstring(format_junit(found))  # noqa: S314 - our own

    assert found.is_open == (not reason)
    assert reason in "".join(found.reasons)
    assert ("  m: cherry_picked: x; stale: y\n" in words) == bool(reason)
    assert suite.attrib["failures"] == ("2" if reason else "0")
    assert "\nstatuses: 2 supported, 1 cherry_picked, 1 stale\n" in words


def test_json_has_both_rates_the_statuses_and_what_returned() -> None:
    """`rate` is that of unfaithful claims, as before there were others."""
    found = outcome_json(evaluate_gate(result(BAD, MISLED), BOUNDS, None))

    assert (found["count"], found["rate"]) == ("either", 0.25)
    assert {name: one["rate"] for name, one in found["rates"].items()} == {
        "unfaithful": 0.25,
        "misleading": 0.25,
        "either": 0.5,
    }
    assert found["statuses"] == {"supported": 2, "cherry_picked": 1, "stale": 1}
    assert [case["returned"] for case in found["cases"]] == [(), ("stale",)]


@given(st.text(), st.text(min_size=1))
def test_junit_is_xml_whatever_answers_say(issue: str, text: str) -> None:
    """A test a case and one for the gate; counts are those of its parts."""
    found = evaluate_gate(result(GOOD, CaseResult("b", issue, 1, 1, wrong=(text,))), BOUNDS, None)

    suite = fromstring(format_junit(found))  # noqa: S314 - our own

    assert suite.attrib["tests"] == str(len(suite.findall("testcase"))) == "3"
    assert suite.attrib["failures"] == str(len(suite.findall("testcase/failure"))) == "2"


@given(st.text(min_size=1))
def test_markdown_shows_answers_as_code(text: str) -> None:
    """No cell ends early, and what an answer says is inside one code span, whatever it holds."""
    case = CaseResult("b", "", 1, 1, wrong=(f"![x](http://evil) | @all <img> {text}",))

    row = format_markdown(evaluate_gate(result(case), BOUNDS, None)).splitlines()[-1]

    cells = re.split(r"(?<!\\)\|", row)
    assert (cells[0], cells[1], cells[-1], len(cells)) == ("", " `b` ", "", 4)
    (ticks,) = re.findall(r"^ (`+)", cells[2])
    assert cells[2].endswith(f"{ticks} ")
    assert ticks not in cells[2].strip()[len(ticks) : -len(ticks)]


def test_answers_that_say_nothing_are_counted() -> None:
    """They are no failure, and no support either."""
    found = evaluate_gate(result(GOOD, CaseResult("c", "")), BOUNDS, None)

    assert "1 cases without a decided claim" in format_text(found)


@pytest.mark.parametrize("wrong", [15, -1, float("nan"), True, "0.5"])
def test_a_bound_that_is_no_share_is_refused(wrong: Any) -> None:  # noqa: ANN401
    """A percentage would open the gate to everything."""
    with pytest.raises(InputError, match="max_rate: expected a share from 0 to 1"):
        GateLimits(max_rate=wrong)


def test_json_has_what_the_words_have() -> None:
    """For machines."""
    found = outcome_json(evaluate_gate(result(GOOD, BAD), BOUNDS, None))

    assert (found["open"], found["rate"], len(found["cases"])) == (False, 0.25, 2)
