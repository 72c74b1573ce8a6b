"""The layers of verification: how they are written, what holds for a route, and what is drawn."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import load
from otel_rt4chart.core.settings_parsers import InvalidPartError
from otel_rt4chart.sampling.layers import CHECKS, Layers, parse_layers
from otel_rt4chart.sampling.policy import position
from otel_rt4chart.settings.application import ApplicationSettings
from otel_rt4chart.verify import AnswerLabel, AnswerRange, Claim, Finding, Label, Report
from otel_rt4chart.verify.core.model import AnswerCheck, CheckPlan
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from otel_rt4chart.verify.findings.statuses import with_statuses

NAMES = {
    AnswerCheck.CITATIONS: FindingName.CITATION,
    AnswerCheck.CHERRY_PICKING: FindingName.CHERRY_PICKED,
    AnswerCheck.SYCOPHANCY: FindingName.SYCOPHANTIC,
}
CLAIM = Claim(
    "It is covered.",
    Label.ENTAILED,
    Label.ENTAILED,
    0.9,
    "rules/1",
    "attribute",
    AnswerRange(0, 9),
    0,
)
rates = st.sampled_from((0.0, 0.05, 0.2, 0.25, 0.5, 0.7, 1.0))


def test_the_checks_are_those_of_the_verifier() -> None:
    """A check that a plan does not know could not be switched on."""
    assert set(CHECKS) == {check.value for check in AnswerCheck}


def test_each_route_has_its_own_rates() -> None:
    """Its own, else those of the longest prefix that has any, else those of all routes."""
    layers = parse_layers(
        "citations=1, cherry_picking=0.2; support/*: cherry_picking=0.5, sycophancy=0.3; "
        "support/refunds: cherry_picking=1; GET /v1/{id}:cancel: cherry_picking=0"
    )

    found = {
        route: layers.plan_at(0.0, route, scans_remotely=False)
        for route in ("checkout", "support/chat", "support/refunds", "GET /v1/{id}:cancel")
    }

    assert found == {
        "checkout": CheckPlan(1.0, 0.2, 1.0),
        "support/chat": CheckPlan(1.0, 0.5, 0.3),
        "support/refunds": CheckPlan(1.0, 1.0, 0.3),
        "GET /v1/{id}:cancel": CheckPlan(1.0, 0.0, 1.0),
    }


def test_unused_passages_are_read_by_a_remote_judge_on_a_fifth_of_the_answers() -> None:
    """Each is a call; rules and models in this process read those of every answer."""
    layers = Layers()

    assert layers.plan_at(0.0, "r", scans_remotely=True) == CheckPlan(1.0, 0.2, 1.0)
    assert layers.plan_at(0.0, "r", scans_remotely=False) == CheckPlan()
    assert layers.plan_at(0.3, "r", scans_remotely=True) == CheckPlan(1.0, 0.0, 1.0, False)
    written = parse_layers("cherry_picking=0.5")
    assert written.plan_at(0.0, "r", scans_remotely=True).cherry_picking == 0.5


def test_trails_follow_the_judge_unless_a_rate_is_set() -> None:
    """By default those of a judge in this process; a rate draws by the trace id, as the checks."""
    layers = parse_layers("legal/*: trail=0.5; off: trail=0")
    ids = [f"{number:032x}" for number in range(400)]

    assert layers.traces("a", "shop", is_remote=False)
    assert not layers.traces("a", "shop", is_remote=True)
    assert not any(layers.traces(one, "off", is_remote=False) for one in ids)
    drawn = [one for one in ids if layers.traces(one, "legal/x", is_remote=True)]
    assert 140 < len(drawn) < 260
    assert drawn == [one for one in ids if layers.traces(one, "legal/x", is_remote=False)]


def test_a_route_sends_all_its_claims_to_the_second_judge() -> None:
    """Elsewhere only the borderline ones go."""
    layers = parse_layers("second_judge=borderline; legal/*: second_judge=all")

    assert layers.sends_all_claims("legal/contracts")
    assert not layers.sends_all_claims("support")
    assert not Layers().sends_all_claims("support")


@pytest.mark.parametrize(
    "written",
    [
        "citations=1, cherry_picking=auto, sycophancy=1, trail=auto, earlier_turns=0, "
        "second_judge=borderline",
        "citations=1, cherry_picking=0.05, sycophancy=0.5, trail=0.2, earlier_turns=0, "
        "second_judge=all; a: trail=0",
    ],
)
def test_what_is_shown_can_be_written(written: str) -> None:
    """The settings page, the doctor and the variable have one form."""
    layers = parse_layers(written)

    assert str(layers) == written
    assert parse_layers(str(layers)).by_route.keys() == layers.by_route.keys()


def test_layers_are_read_from_a_file(tmp_path: Path) -> None:
    """An entry a line, comments left out."""
    file = tmp_path / "layers.txt"
    file.write_text("# low stakes\ncherry_picking=0.1\n\nlegal/*: cherry_picking=1\n")

    assert parse_layers(str(file)) == parse_layers("cherry_picking=0.1; legal/*: cherry_picking=1")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            "cherry=1",
            "in 'cherry=1' expected one of citations, cherry_picking, sycophancy, trail, "
            "earlier_turns, second_judge; "
            "write one of these names, = and its value",
        ),
        (
            "judge=0.1",
            "in 'judge=0.1' expected one of citations, cherry_picking, sycophancy, trail, "
            "earlier_turns, second_judge; "
            "set RT4CHART_SAMPLE_RATE: the share of answers that the judge verifies",
        ),
        (
            "a: cherry_picking=20%",
            "in 'cherry_picking=20%' expected a rate from 0 to 1, or auto; write 0.2 for a fifth "
            "of the verified answers",
        ),
        (
            "citations=nan",
            "in 'citations=nan' expected a rate from 0 to 1; write 0.2 for a fifth of the verified "
            "answers",
        ),
        (
            "second_judge=0.7",
            "in 'second_judge=0.7' expected borderline or all; RT4CHART_CASCADE_THRESHOLD says "
            "what borderline is",
        ),
        (": citations=1", "in ': citations=1' expected a route before the colon; write * for all"),
        (
            "citations=1; *: citations=0",
            "in 'citations=0' expected citations once for the route *; leave one of them out",
        ),
        (
            "/no/such/file",
            "in '/no/such/file' expected LAYER=VALUE, or the name of a file of such lines; there "
            "is no file of that name",
        ),
    ],
)
def test_a_wrong_part_is_named(written: str, message: str) -> None:
    """What was expected there, and what to change."""
    with pytest.raises(SettingsError) as caught:
        load(ApplicationSettings, environ={"RT4CHART_LAYERS": written})

    assert str(caught.value).startswith(f"RT4CHART_LAYERS: {message}")


def test_a_file_without_a_layer_is_refused(tmp_path: Path) -> None:
    """It would switch nothing on or off, which cannot be meant."""
    file = tmp_path / "layers.txt"
    file.write_text("# nothing yet\n")

    with pytest.raises(SettingsError, match="expected at least one LAYER=VALUE"):
        load(ApplicationSettings, environ={"RT4CHART_LAYERS": str(file)})


@given(st.text("0123456789abcdef", min_size=32, max_size=32))
def test_a_repeat_draws_the_same_checks(trace_id: str) -> None:
    """Of the trace id alone, and not the number by which the trace was sampled."""
    layers = parse_layers("cherry_picking=0.5, sycophancy=0.2")

    drawn = layers.plan(trace_id, "r", scans_remotely=False)

    assert drawn == layers.plan(trace_id, "r", scans_remotely=False)
    assert drawn.citations == 1.0


def test_the_checks_of_sampled_answers_are_drawn_independently() -> None:
    """Of the traces in a sample of a tenth, half get a check with the rate of a half."""
    layers = parse_layers("cherry_picking=0.5")
    traces = [f"{number:032x}" for number in range(20_000)]
    sampled = [trace_id for trace_id in traces if position(trace_id) < 0.1]

    share = fmean(
        layers.plan(trace_id, "r", scans_remotely=False).cherry_picking > 0 for trace_id in sampled
    )

    assert share == pytest.approx(0.5, abs=0.05)


@given(rates, rates, rates, st.floats(0, 1, exclude_max=True))
def test_a_check_with_a_lower_rate_never_runs_without_one_with_a_higher(
    citations: float, cherry_picking: float, sycophancy: float, drawn: float
) -> None:
    """One number decides on all of them."""
    layers = Layers(
        {"*": {"citations": citations, "cherry_picking": cherry_picking, "sycophancy": sycophancy}}
    )

    plan = layers.plan_at(drawn, "r", scans_remotely=False)

    wanted = dict(zip(CHECKS, (citations, cherry_picking, sycophancy), strict=True))
    assert plan.rates == {name: rate for name, rate in wanted.items() if drawn < rate}


@given(
    st.fixed_dictionaries(dict.fromkeys(CHECKS, rates)),
    st.lists(st.sets(st.sampled_from(list(AnswerCheck))), max_size=5),
)
def test_misleading_claims_are_counted_without_bias(
    wanted: dict[str, float], found_by: list[set[AnswerCheck]]
) -> None:
    """Over all draws, the weights sum to the claims that at least one check would find."""
    layers = Layers({"*": wanted})
    bounds = sorted({0.0, 1.0, *wanted.values()})

    mean = 0.0
    for low, high in pairwise(bounds):
        plan = layers.plan_at(low, "r", scans_remotely=False)
        mean += (high - low) * weight_of_misleading(plan, found_by)

    findable = [checks for checks in found_by if any(wanted[check] for check in checks)]
    assert mean == pytest.approx(len(findable))


def weight_of_misleading(plan: CheckPlan, found_by: list[set[AnswerCheck]]) -> float:
    """The weight that the store gives the misleading claims of an answer with this plan."""
    findings = [
        Finding(NAMES[check], "…", claim=number, kind="does_not_support")
        for number, checks in enumerate(found_by)
        for check in checks
        if plan.rate(check) > 0
    ]
    claims = with_statuses([replace(CLAIM) for _ in found_by], findings, plan)
    report = Report(AnswerLabel.ENTAILED, claims, "rules/1", plan=plan)
    return sum(1 / claim.check_rate for claim in report.misleading)


def test_the_number_of_earlier_turns_is_set_by_route() -> None:
    """Without the layer no turn is read."""
    layers = parse_layers("earlier_turns=2; support/*: earlier_turns=5")

    found = [layers.earlier_turns(route) for route in ("shop", "support/refunds")]

    assert found == [2, 5]
    assert Layers().earlier_turns("shop") == 0


@pytest.mark.parametrize("value", ["-1", "21", "0.5", "auto", "", "٣٣٣"])
def test_a_wrong_number_of_turns_is_refused(value: str) -> None:
    """What is no number up to the limit stops the start."""
    with pytest.raises(InvalidPartError, match="expected a number from 0 to 20"):
        parse_layers(f"earlier_turns={value}")


@given(st.integers(1, 2**128 - 1), st.floats(0, 1), st.floats(0, 1))
def test_where_citations_are_never_checked_they_are_checked_on_no_route(
    number: int, one: float, other: float
) -> None:
    """It is known before the route; without a rate for all routes, those of all are checked."""
    trace_id = f"{number:032x}"
    layers = Layers({"*": {"citations": one}, "legal": {"citations": other}})
    plans = [layers.plan(trace_id, route, scans_remotely=False) for route in ("", "legal")]

    assert layers.never_checks_citations(trace_id) is not any(plan.citations for plan in plans)
    assert not Layers({"legal": {"citations": 0.0}}).never_checks_citations(trace_id)
