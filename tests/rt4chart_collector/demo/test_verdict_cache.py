from __future__ import annotations

from pathlib import Path

import pytest

from otel_rt4chart.bench.dataset import read_rows
from otel_rt4chart.judges.build import build_verifier
from otel_rt4chart.verify import RulesJudge, Verifier
from otel_rt4chart.verify.core.model import Exchange, Passage, Report
from rt4chart_collector.demo.application import JUDGE, outcomes
from rt4chart_collector.demo.helpdesk import read_helpdesk
from rt4chart_collector.demo.labels import DATA
from rt4chart_collector.demo.traffic import plan_traffic
from rt4chart_collector.demo.verdict_cache import (
    VERDICTS,
    exchange_key,
    read_verdicts,
    verify_all,
    write_verdicts,
)

PASSAGE = Passage("p1", "Refunds take 5 days. The plan costs 9 euros, unless you are a charity.")
EXCHANGES = [
    Exchange("How long?", [PASSAGE], answer)
    for answer in ("Refunds take 9 days.", "The plan costs 9 euros [3].")
]


def rules_verifier() -> Verifier:
    """It opens no model."""
    return Verifier(RulesJudge())


def no_verifier() -> Verifier:
    """To be built where nothing is verified."""
    raise AssertionError("a verifier was built")


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    """With the installed embedded judge."""
    return build_verifier(JUDGE)


@pytest.fixture(scope="module")
def bundled(verifier: Verifier) -> dict[str, Report]:
    """The bundled reports."""
    return read_verdicts(verifier.judge.id)


def test_reports_are_read_as_they_were_written_and_the_file_is_the_same_twice(
    tmp_path: Path,
) -> None:
    """Claims, evidence, clashes, findings and edits, in an order that does not matter."""
    reports = verify_all(EXCHANGES, rules_verifier, {}, lambda done, total: None)
    first, second = tmp_path / "first.gz", tmp_path / "second.gz"

    write_verdicts("rules/1", reports, first)
    write_verdicts("rules/1", dict(reversed(reports.items())), second)

    assert read_verdicts("rules/1", first) == {
        key: Report(**{name: getattr(one, name) for name in ("label", "claims", "findings",
                                                              "usage", "advice")},
                    judge="rules/1")
        for key, one in reports.items()
    }  # fmt: skip
    assert first.read_bytes() == second.read_bytes()


def test_verdicts_of_another_judge_are_ignored(tmp_path: Path) -> None:
    """They are not what the installed judge says."""
    path = tmp_path / "verdicts.gz"
    write_verdicts("rules/1", {}, path)

    assert read_verdicts("rules/2", path) == {}
    assert read_verdicts("rules/1", tmp_path / "none.gz") == {}


def test_only_what_is_not_known_is_verified() -> None:
    """An edited answer has another key, and so no known report."""
    known = verify_all(EXCHANGES[:1], rules_verifier, {}, lambda done, total: None)
    steps: list[tuple[int, int]] = []

    found = verify_all(
        EXCHANGES, rules_verifier, known, lambda done, total: steps.append((done, total))
    )

    assert steps == [(2, 2)]
    assert verify_all(EXCHANGES[:1], no_verifier, known, lambda done, total: None) == known
    assert found == verify_all(EXCHANGES, rules_verifier, {}, lambda done, total: None)
    assert exchange_key(EXCHANGES[0]) != exchange_key(EXCHANGES[1])


def test_the_bundled_verdicts_are_of_this_judge_and_of_all_answers(
    bundled: dict[str, Report],
) -> None:
    """`rt4chart demo --write-verdicts` makes them anew; the file stays small."""
    exchanges = [one.exchange() for one in read_helpdesk().values()]
    exchanges += [row.exchange for row in read_rows(DATA)]

    assert bundled.keys() == {exchange_key(one) for one in exchanges}
    assert VERDICTS.stat().st_size < 300_000


def test_the_judge_says_again_what_is_bundled(
    verifier: Verifier, bundled: dict[str, Report]
) -> None:
    """A sample of the help desk's answers; probabilities may differ between processors."""
    exchanges = [one.exchange() for one in read_helpdesk().values()][::60]

    def verdicts(report: Report) -> list[tuple[str, str, str, object]]:
        return [(one.text, one.label, one.status, one.clashes) for one in report.claims]

    again = {exchange_key(one): verdicts(verifier.verify(one)) for one in exchanges}

    assert again == {key: verdicts(bundled[key]) for key in again}


def test_every_verdict_that_the_demo_shows_of_the_help_desk_agrees_with_the_truth(
    bundled: dict[str, Report],
) -> None:
    """Right or undecided: alerts, issues and examples are of these answers alone."""
    compared = outcomes(bundled)
    given = {one.answer_id for one in plan_traffic(read_helpdesk(), compared, now_s=1.9e9)}

    assert len(given) > 250
    assert [name for name in sorted(given) if compared[name].is_wrong] == []
