"""`rt4chart report` without a page: tables for people, JSON for machines."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.verify.core.model import ClaimStatus, Label
from otel_rt4chart.verify.criteria.model import CriterionOutcome, CriterionVerdict
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.draws import DrawRequest, draw_claims
from tests.rt4chart_collector.records import SECOND, VERIFIER, verdict
from tests.rt4chart_collector.store.labels.label_rows import label_all

GOOD, BAD = Label.ENTAILED, Label.BASELESS
GOLDEN = """\
 route    service  unfaithful  95%        before  claims  answers
 support  shop     50.0%       5.5–94.5%  0.0%    4       2

 route    service  misleading  95%        before  claims  answers
 support  shop     25.0%       3.7–74.4%  0.0%    4       2

 route    service  status         of claims  before
 support  shop     cherry-picked  25.0%      0.0%

to correct the judge's errors with a few labels: rt4chart label
for a page to share: rt4chart report --html
"""


@pytest.fixture
def run(client: Client, dsn: str) -> Callable[..., int]:
    """The command on two answers of the last hour and one of the hour before."""
    now_ns = time.time_ns()
    ago, before = now_ns - 600 * SECOND, now_ns - 5400 * SECOND
    first = verdict(1, [GOOD, GOOD], start_ns=ago, decided_ns=ago, sample_rate=1.0)
    assert first.report is not None
    one, other = first.report.claims
    claims = (replace(one, status=ClaimStatus.CHERRY_PICKED), other)
    verdicts = [
        replace(first, report=replace(first.report, claims=claims)),
        verdict(2, [BAD, BAD], start_ns=ago, decided_ns=ago, sample_rate=1.0),
        verdict(3, [GOOD], start_ns=before, decided_ns=before, sample_rate=1.0),
    ]
    insert_verdicts(client, verdicts)
    return lambda *argv: main(["report", "--dsn", dsn, "--since", "1h", *argv])


def test_each_measure_has_a_table_of_its_own(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    """With interval, n and the period before; then what is wrong with the claims."""
    assert run() == 0

    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == GOLDEN.splitlines()


def test_json_has_both_rates_with_their_numbers(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of misleading claims in an object of their own."""
    assert run("--json") == 0

    report = json.loads(capsys.readouterr().out)
    (route,) = report["routes"]
    assert route["change"]["unfaithful"]["difference"]["value"] == 0.5
    assert report["change"]["routes"] == 1
    assert report["change"]["unfaithful"] == route["change"]["unfaithful"]
    assert (route["rate"], route["claims"]) == (0.5, 4)
    misleading = route["misleading"]
    assert {name: misleading[name] for name in ("rate", "claims", "answers")} == {
        "rate": 0.25,
        "claims": 4,
        "answers": 2,
    }
    assert misleading["low"] < 0.25 < misleading["high"]
    assert route["before"]["misleading"]["rate"] == 0.0
    assert route["statuses"] == {"cherry_picked": 0.25}
    assert route["corrected"] is None


def test_corrected_rates_are_shown_where_claims_were_drawn(
    run: Callable[..., int], client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    """With too few labels, how many more; with enough, the rate with its interval."""
    now_ns = time.time_ns()
    ago = now_ns - 500 * SECOND
    many = range(11, 41)
    insert_verdicts(
        client,
        [
            verdict(number, [GOOD, BAD], start_ns=ago, decided_ns=ago, sample_rate=1.0)
            for number in many
        ],
    )
    scope = QueryScope(now_ns - 3600 * SECOND, now_ns, VERIFIER)
    queue = draw_claims(client, DrawRequest(scope, 40, "ann"), now_ns=now_ns).queue
    label_all(client, queue[:5])
    run()
    few = capsys.readouterr().out
    label_all(client, queue)

    assert run() == 0
    shown = " ".join(capsys.readouterr().out.split())
    run("--json")
    (route,) = json.loads(capsys.readouterr().out)["routes"]

    head = "route service unfaithful corrected 95% labels needed drawn support shop 50.0%"
    assert f"{head} – 5 15 100.0% " in " ".join(few.split())
    assert f"{head} " in shown
    # These labels do not say whether a claim is misleading.
    head = "route service misleading corrected 95% labels needed drawn support shop 1.6%"
    assert f"{head} – 0 20 100.0%" in shown
    assert route["corrected"]["misleading"]["more_labels"] == 20
    assert "needed: more labels for a corrected rate, then for ± 5 points" in shown
    found = route["corrected"]
    assert (found["labels"], found["covered"], found["more_labels"]) == (40, 1.0, 0)
    assert found["corrected"]["low"] < 0.3 < found["corrected"]["high"]
    assert found["judge"]["labels"] == 40


def test_a_database_of_an_earlier_version_says_what_to_do(
    run: Callable[..., int], client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report does not migrate: a running service decides when."""
    client.command("DROP TABLE rt4chart_criteria")

    assert run() == 2
    assert (
        "has no table rt4chart_criteria: expected a database that `rt4chart up` of this version "
        "has opened; run it once"
    ) in capsys.readouterr().err


def test_the_exit_status_says_whether_a_corrected_rate_is_above_the_limit(
    run: Callable[..., int], client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    """3 without labels and with too few of them, 1 above it, 0 below."""
    without = run("--fail-over", "0.05")
    assert "no claims of this period were drawn for labels" in capsys.readouterr().err
    now_ns = time.time_ns()
    ago = now_ns - 500 * SECOND
    answers = [
        verdict(number, [GOOD, BAD], start_ns=ago, decided_ns=ago, sample_rate=1.0)
        for number in range(11, 61)
    ]
    insert_verdicts(client, answers)
    scope = QueryScope(now_ns - 3600 * SECOND, now_ns, VERIFIER)
    queue = draw_claims(client, DrawRequest(scope, 60, "ann"), now_ns=now_ns).queue
    label_all(client, queue[:5])
    few = run("--fail-over", "0.05")
    assert "support: cannot tell: 15 more labels\n" in capsys.readouterr().err
    label_all(client, queue)

    other = verdict(99, [GOOD], start_ns=ago, decided_ns=ago, sample_rate=1.0)
    other = replace(other, candidate=replace(other.candidate, route="rare"))
    found = [run("--fail-over", limit) for limit in ("0.05", "0.8")]
    insert_verdicts(client, [other])
    texts = capsys.readouterr().err.splitlines()
    with_rare = [run("--fail-over", "0.8"), run("--fail-over", "0.8", "--route", "support")]
    capsys.readouterr()
    run("--json", "--fail-over", "0.05")
    figures = json.loads(capsys.readouterr().out)["fail_over"]

    assert (without, few, found, with_rare) == (3, 3, [1, 0], [3, 0])
    assert texts[0].startswith("support: closed: ")
    assert texts[0].endswith("is above 5% with 95% confidence")
    assert texts[1].startswith("support: open: ")
    verdicts = {one["route"]: one["verdict"] for one in figures["routes"]}
    assert (figures["verdict"], verdicts) == ("above", {"rare": "cannot_tell", "support": "above"})


def test_criteria_are_reported_by_route_and_over_all(
    run: Callable[..., int], client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    """With interval and n, in the table, in the JSON and on the page."""
    ago = time.time_ns() - 500 * SECOND
    outcomes = [CriterionOutcome.PASS, CriterionOutcome.FAIL]
    insert_verdicts(
        client,
        [
            replace(
                verdict(50 + n, start_ns=ago, decided_ns=ago, sample_rate=1.0),
                criteria=(CriterionVerdict("cites", "v1", "must_cite", outcome),),
            )
            for n, outcome in enumerate(outcomes)
        ],
    )

    run()
    table = " ".join(capsys.readouterr().out.split())
    run("--json")
    report = json.loads(capsys.readouterr().out)
    run("--html", "-")
    page = capsys.readouterr().out

    assert "criterion fails 95% answers support shop cites 50.0%" in table
    assert "1 of 2" in table
    (found,) = report["criteria"]
    assert (found["criterion"], found["fails"], found["decided"]) == ("cites", 0.5, 2)
    assert report["routes"][0]["criteria"] == [found]
    assert page.count("<caption>Criteria</caption>") == 2
