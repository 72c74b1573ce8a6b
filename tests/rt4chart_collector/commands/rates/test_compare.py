"""`rt4chart compare`: the outcome for people, all figures as JSON, and what it refuses."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from otel_rt4chart.cli import main
from rt4chart_collector.cli.compare import KINDS
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.version_scope import VersionKind
from tests.rt4chart_collector.comparison.releases import (
    DENIED,
    GOOD,
    HOUR,
    NEW,
    OLD,
    WRONG,
    answered,
)


@pytest.fixture
def run(client: Client, dsn: str) -> Callable[..., int]:
    """The command on two releases of the last hours, with the same questions."""
    now_ns = time.time_ns()
    insert_verdicts(
        client,
        [
            answered(
                1000 * side + at,
                release,
                DENIED if at < wrong else GOOD,
                question=f"Question {at}?",
                start_ns=now_ns - (3 - side) * HOUR,
            )
            for side, (release, wrong) in enumerate([(OLD, 1), (NEW, 30)])
            for at in range(60)
        ],
    )
    return lambda *argv: main(["compare", "--dsn", dsn, *argv])


def test_the_outcome_comes_first_then_rates_and_answers(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    """The answers to a question below each other, with the wrong words."""
    assert run() == 0

    out = capsys.readouterr().out
    first, routes, *_ = out.splitlines()
    assert first.startswith("unfaithful claims: 2.4.0 is worse than 2.3.0 by 48.3 points, between ")
    assert routes == "of the one route that both versions have"
    assert "contradicted" in out
    assert "60 questions were asked of both; 2.4.0 has more unfaithful claims in 29" in out
    assert f"  {NEW}: {WRONG} ✗ “30 days”" in out


def test_json_has_rates_differences_and_pairs(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    """As shares; the other way round the difference has the other sign."""
    assert run("--json") == 0
    there = json.loads(capsys.readouterr().out)
    assert run("--json", NEW, OLD) == 0
    back = json.loads(capsys.readouterr().out)

    rate = there["rates"]["unfaithful"]
    assert (there["a"]["version"], there["b"]["version"]) == (OLD, NEW)
    assert rate["difference"]["value"] == pytest.approx(29 / 60)
    assert rate["claims"] == [60, 60]
    assert back["rates"]["unfaithful"]["difference"]["value"] == pytest.approx(-29 / 60)
    assert there["issues"] == []
    assert len(there["questions"]["pairs"]) == 20
    pair = there["questions"]["pairs"][0]
    assert (pair["a"]["failed"], len(pair["b"]["failed"])) == ([], 1)
    assert pair["b"]["failed"][0]["clashes"] == [{"claimed": "30 days", "found": "14 days"}]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("3.0",), "Release 3.0 has no verified answers here. In this time range there are 2.4.0"),
        ((NEW, NEW), "Both versions are release 2.4.0"),
        (("--by", "model"), "there is only m-1 (120 answers)"),
        (("--route", "other"), "There are no verified answers in this time range"),
        (("--by", "time", "x"), "Expected a span of time such as"),
    ],
)
def test_what_cannot_be_compared_is_said(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], said: str
) -> None:
    """With the versions that there are, and a status for scripts."""
    assert run(*argv) == 2

    assert said in capsys.readouterr().err


def test_every_kind_of_version_can_be_chosen() -> None:
    """The declared options are those of the store, which declaring must not load."""
    assert list(map(str, VersionKind)) == [*KINDS]
