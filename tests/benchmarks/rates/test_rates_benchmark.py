"""The benchmark of corrected rates on a small world."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from benchmarks.rates.__main__ import AS_LABELLED, main
from benchmarks.rates.comparison import CORRECTED, RAW, SIZES, simulate
from benchmarks.rates.tables import tables
from benchmarks.rates.world import (
    ANSWER_CLAIMS,
    BIASED,
    GOOD,
    Verdict,
    deployment,
    judged,
    routes_of,
    scripted,
    thinned,
    verdicts,
)

DEMO = Path(__file__).parents[3] / "collector/rt4chart_collector/demo/data"


def found(size: int = 600) -> list[Verdict]:
    """Claims of three routes, with rates of 10, 30 and 60%."""
    chance = random.Random(1)  # noqa: S311
    rates = {"docs": 0.1, "chat": 0.3, "mail": 0.6}
    return [
        Verdict(route, str(at // 12), "entailed", 0.2, chance.random() < rate)
        for route, rate in rates.items()
        for at in range(size)
    ]


def test_routes_have_their_claims_in_answers_of_one_document() -> None:
    """Up to five claims each; the rate is people's."""
    routes = routes_of(found(), judged)

    assert [route.name for route in routes] == ["chat", "docs", "mail"]
    assert {len(answer) for route in routes for answer in route.answers} == {ANSWER_CLAIMS, 2}
    assert [round(route.rate, 1) for route in routes] == [0.3, 0.1, 0.6]


def test_a_scripted_judge_has_the_recall_that_is_written() -> None:
    """The same on every call; the biased one differs between routes."""
    routes = scripted(GOOD, found(3_000))
    wrong = [one for route in routes for a in route.answers for one in a if one.is_wrong]

    assert sum(one.stratum == "flagged" for one in wrong) / len(wrong) == pytest.approx(
        0.92, abs=0.02
    )
    assert routes == scripted(GOOD, found(3_000))
    assert scripted(BIASED, found(30)) != scripted(GOOD, found(30))


def test_a_thinned_route_has_the_rate_asked_for() -> None:
    """Right claims stay; a route that is below already stays as it is."""
    routes = {route.name: route for route in routes_of(found(), judged)}

    assert thinned(routes["mail"], 0.05).rate == pytest.approx(0.05, abs=0.01)
    assert thinned(routes["docs"], 0.5) is routes["docs"]


def test_a_deployment_is_the_same_whenever_it_is_asked_for() -> None:
    """And has about the claims asked for."""
    (route, *_) = routes = scripted(GOOD, found())

    answers = deployment(route, 500, random.Random(2))  # noqa: S311
    assert sum(map(len, answers)) == pytest.approx(500, rel=0.1)
    assert simulate(routes, 3, 300) == simulate(routes, 3, 300)


def test_the_tables_have_every_route_and_size() -> None:
    """Five deployments of a good judge: the corrected rates are nearer than the raw ones."""
    runs = [simulate(scripted(GOOD, found()), number, 400) for number in range(5)]

    intervals, routes, order, thresholds = tables("good", runs)

    sizes = [row[1] for row in intervals.rows if row[0] == CORRECTED]
    assert sizes == list(SIZES)
    assert [row[0] for row in routes.rows] == ["chat", "docs", "mail"]
    errors = {row[:2]: row[4] for row in order.rows}
    assert float(errors[CORRECTED, 200] or 1) < float(errors[RAW, 0] or 0) + 0.02
    assert len(thresholds.rows) == 8


def test_the_command_reads_a_folder_and_writes_its_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The verdicts are kept, so that the judge reads the folder once."""
    out, cache = tmp_path / "figures.json", tmp_path / "cache"
    asked = [str(DEMO), "--judges", "good", "--rates", AS_LABELLED, "--deployments", "2",
             "--workers", "1", "--claims", "300", "--split", "all",
             "--cache", str(cache), "--json", str(out)]  # fmt: skip

    main(asked)

    assert "good, as-labelled: intervals" in capsys.readouterr().out
    assert len(json.loads(out.read_text())) == 4
    (kept,) = cache.iterdir()
    assert kept.name == "rules-demo-data-all.jsonl"
    known = verdicts(DEMO, "all", "rules", cache)
    assert {one.route for one in known} == {"summedits"}
    assert len(known) > 500
