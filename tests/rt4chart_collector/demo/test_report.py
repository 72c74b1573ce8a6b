from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.verify import AnswerLabel, AnswerRange, Claim, Evidence, Label
from otel_rt4chart.verify.core.rates import AnswerSums
from rt4chart_collector.demo.application import empty_database_folder
from rt4chart_collector.demo.command import picture
from rt4chart_collector.demo.labels import LabelAgreement
from rt4chart_collector.demo.people import CorrectedLine
from rt4chart_collector.demo.report import show
from rt4chart_collector.demo.result import (
    DemoResult,
    IssueLine,
    RouteLine,
    pick_example,
    route_line,
    total_of,
)
from rt4chart_collector.store.answers.answers import StoredAnswer
from rt4chart_collector.store.rates.claim_rates import RouteSums

COUNTED = AnswerSums(answers=2, claims=4, wm=4, wx=1, wwm=4, wwxx=1, wwxm=2, wwmm=8)
SUMS = RouteSums(
    service="rag-app",
    route="sales_call",
    answers=2,
    unverified=0,
    unfaithful_answers=1,
    entailed=3,
    contradicted=1,
    baseless=0,
    undecided=0,
    misleading=0,
    sums=COUNTED,
    misleading_sums=replace(COUNTED, wx=0, wwxx=0, wwxm=0),
)
CLAIM = Claim(
    text="It lasts 30 days.",
    label=Label.CONTRADICTED,
    local_label=Label.CONTRADICTED,
    decided_by="local",
    kind="numeric",
    sentence=0,
    confidence=0.9,
    answer_range=AnswerRange(9, 16),
    reason="“30 days” in the answer, “14 days” in the passage",
    evidence=(Evidence("p1", 0, 17, "It lasts 14 days.", "contradicts"),),
)
ANSWER = StoredAnswer(
    trace_id="a" * 32,
    span_id="b" * 16,
    verifier="local/1",
    service="rag-app",
    route="sales_call",
    question="How long?",
    answer="It lasts 30 days.\x1b[2J",
    label=AnswerLabel.CONTRADICTED,
    metadata="{}",
    claims=(CLAIM,),
)
ROUTE = route_line(SUMS, LabelAgreement(claims=4, marked=2, both=1, flagged=1))
RESULT = DemoResult(
    routes=(ROUTE,),
    total=ROUTE,
    agreement=LabelAgreement(claims=4, marked=2, both=1, flagged=1),
    issues=(
        IssueLine(
            "01",
            "Number differs · sales_call",
            5,
            "30 days",
            "14 days",
            is_evidence=True,
        ),
    ),
    example=ANSWER,
    dsn="chdb:///data/demo/db",
    rank_correlation=0.6,
)


def shown(result: DemoResult) -> str:
    """The report as plain text, 80 columns wide."""
    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    show(result, console)
    console.file.close()
    return console.export_text()


def test_a_route_line_has_shares_and_an_interval_around_the_rate() -> None:
    """Contradicted and baseless apart, and people's rate beside ours."""
    assert (ROUTE.contradicted, ROUTE.baseless, ROUTE.rate, ROUTE.people) == (0.25, 0.0, 0.25, 0.5)
    assert ROUTE.low is not None
    assert ROUTE.high is not None
    assert 0 < ROUTE.low < 0.25 < ROUTE.high < 1


def test_all_routes_together_are_the_sum_of_the_routes() -> None:
    """Counts and moments add up."""
    total = total_of([SUMS, SUMS])

    assert (total.answers, total.claims, total.sums.wwmm) == (4, 8, 16)


def test_the_report_names_the_rate_the_issue_the_evidence_and_the_database() -> None:
    """What a newcomer needs is on the page, within 80 columns."""
    text = shown(RESULT)

    for part in (
        "sales_call",
        "25% [",
        "Number differs · sales_call · 5 claims",
        "contradicts · passage p1 [0:17]",
        "chdb:///data/demo/db",
        "rt4chart issues --dsn chdb:///data/demo/db",
    ):
        assert part in text
    assert max(len(line) for line in text.partition("query:")[0].splitlines()) <= 80


def test_the_table_has_the_share_of_undecided_claims_within_80_columns() -> None:
    """Of five claims one is undecided; the widest values leave every column whole."""
    line = replace(
        route_line(replace(SUMS, undecided=1), LabelAgreement()),
        route="sales_email",
        answers=50_000,
        claims=123_456,
        people=1.0,
        rate=1.0,
        low=0.995,
        high=1.0,
        contradicted=1.0,
        baseless=1.0,
    )
    text = shown(replace(RESULT, routes=(line,), total=replace(line, undecided=1.0)))

    rows = [row.split() for row in text.splitlines()]
    assert line.undecided == 0.2
    assert ["route", "answers", "claims", "undecided", "contradicted", "baseless"] in [
        row[:6] for row in rows
    ]
    assert ["sales_email", "50000", "123456", "20%", "100%", "100%", "100%", "[100–100]"] in [
        row[:8] for row in rows
    ]
    assert max(len(row) for row in text.partition("query:")[0].splitlines()) <= 80


def test_corrected_rates_stand_beside_raw_and_human_ones_within_80_columns() -> None:
    """The note says what each is of, and on how many routes the interval has people's rate."""
    lines = (
        CorrectedLine("sales_email", 0.29, 0.73, 0.53, 0.87, 25, 0.63),
        CorrectedLine("scitldr", 0.18, 1.0, 0.995, 1.0, 25, 0.93),
        CorrectedLine("news", 0.24, None, None, None, 18, 0.37),
    )
    result = replace(RESULT, corrected=lines, corrected_rank_correlation=0.9)
    text = shown(result)

    rows = [row.split() for row in text.splitlines()]
    assert "The same rates, corrected by 68 human labels" in text
    assert ["sales_email", "29%", "73%", "[53–87]", "63%", "yes", "25"] in rows
    assert ["scitldr", "18%", "100%", "[100–100]", "93%", "no", "25"] in rows
    assert ["news", "24%", "–", "37%", "no", "18"] in rows
    words = " ".join(text.split())
    assert "raw: the share of the claims that the judge decided which it flags." in words
    assert "human: the share of all claims that the data set labels as wrong." in words
    assert "The intervals contain it on 1 of 3 routes." in words
    assert "rank correlation of the corrected rates with the human rates is 0.90" in words
    assert max(len(row) for row in text.partition("query:")[0].splitlines()) <= 80


def test_without_labels_there_is_no_table_of_corrected_rates() -> None:
    """Nothing was drawn in a run without answers."""
    assert "corrected" not in shown(RESULT)


def test_an_issue_shows_the_words_in_which_claim_and_passage_differ() -> None:
    """However far from the start of their sentences they are."""
    far = "and so on, as everybody knows who has read it, " * 8
    issue = replace(
        RESULT.issues[0],
        claim=f"It was {far} 30 days.",
        sentence=f"It was {far} 14 days {far}.",
        claimed=("30 days",),
        found=("14 days",),
    )
    text = " ".join(shown(replace(RESULT, issues=(issue,), example=None)).split())

    assert "30 days. passage …" in text
    assert "14 days and so on" in text


def test_control_characters_of_an_answer_do_not_reach_the_terminal() -> None:
    """An answer cannot clear the screen of whoever reads about it."""
    assert "\x1b" not in shown(RESULT)


def test_a_report_without_answers_and_issues_says_so() -> None:
    """An empty run is readable too."""
    empty = RouteLine("all routes", 0, 0, None, None, None, None, None, None)
    text = shown(
        replace(RESULT, routes=(), total=empty, agreement=LabelAgreement(), issues=(), example=None)
    )

    assert "No issue" in text
    assert "No answer was verified" in text


def test_the_example_has_a_contradicted_claim_beside_an_entailed_one() -> None:
    """An answer that shows both is preferred; any answer is better than none."""
    entailed = replace(CLAIM, label=Label.ENTAILED)
    both = replace(ANSWER, claims=(entailed, CLAIM), trace_id="c" * 32, answer="x" * 500)

    assert pick_example([ANSWER, both]) is both
    assert pick_example([ANSWER]) is ANSWER
    assert pick_example([]) is None


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    """The demo removes its own database only."""
    (tmp_path / "thesis.txt").write_text("years of work")

    with pytest.raises(SettingsError, match="has other files"):
        empty_database_folder(tmp_path)
    assert (tmp_path / "thesis.txt").exists()


def test_an_earlier_demos_database_is_removed(tmp_path: Path) -> None:
    """Each run starts empty."""
    database = empty_database_folder(tmp_path / "demo")
    database.mkdir()
    (database / "old").touch()

    assert empty_database_folder(tmp_path / "demo") == database
    assert not database.exists()


def test_the_picture_asks_for_nothing_from_outside() -> None:
    """An SVG of the report loads no font and no script from anywhere."""
    svg = picture(RESULT)

    assert "sales_call" in svg
    assert "url(http" not in svg.replace("&quot;", "")
    assert "@font-face" not in svg
