from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.judge.__main__ import quality, run
from benchmarks.judge.certainty import TARGETS, escalation
from benchmarks.judge.gold import Judged, known_claims, sample
from benchmarks.judge.speed import quantile, samples, speed
from benchmarks.judge.systems import SYSTEMS, Said, joined, system
from benchmarks.judge.tables import Table, as_markdown, as_text, as_value
from benchmarks.judge.worker import WARM
from otel_rt4chart.bench.dataset import RESPONSES, GoldSpan, LabelledAnswer, read_rows
from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.verify.core.model import AnswerLabel, AnswerRange, Exchange, Label, Passage

DATA = Path(__file__).parents[3] / "collector/rt4chart_collector/demo/data"
ROWS = sample(read_rows(DATA), 40)


def row(
    label: AnswerLabel | None, *spans: GoldSpan, number: int = 1, group: str = "g"
) -> LabelledAnswer:
    """An answer of ten characters."""
    exchange = Exchange("", (Passage("p1", "a"),), "a" * 10)
    is_wrong = label is not AnswerLabel.ENTAILED
    return LabelledAnswer(
        str(number), "s", "", "tiny", group, "dev", exchange, is_wrong, label, spans
    )


def said(start: int, end: int, label: Label = Label.BASELESS) -> Said:
    """A claim on a part of it."""
    return Said(label, 0.8, 0.8, AnswerRange(start, end), AnswerRange(start, end))


def kinds(of: LabelledAnswer, *claims: Said) -> list[Label | None]:
    """What people say of the claims."""
    return [one.kind for one in known_claims([Judged(of, joined(claims))])]


def test_a_claim_has_the_kind_of_the_span_that_it_meets() -> None:
    """Contradicted wins over baseless; a span of no kind tells none; the rest is entailed."""
    marked = row(
        None,
        GoldSpan(AnswerRange(0, 2), "baseless"),
        GoldSpan(AnswerRange(1, 3), "contradicted"),
        GoldSpan(AnswerRange(8, 9), "unspecified"),
    )

    found = kinds(marked, said(0, 3), said(0, 1), said(3, 8), said(8, 10))

    assert found == [Label.CONTRADICTED, Label.BASELESS, Label.ENTAILED, None]


def test_an_answer_marked_as_a_whole_tells_of_its_only_claim() -> None:
    """Of two claims nobody knows which is wrong; of a faithful answer both are right."""
    whole, good = row(AnswerLabel.BASELESS), row(AnswerLabel.ENTAILED)

    assert kinds(whole, said(0, 9)) == [Label.BASELESS]
    assert kinds(whole, said(0, 5), said(5, 9)) == []
    assert kinds(good, said(0, 5), said(5, 9)) == [Label.ENTAILED, Label.ENTAILED]


def test_an_answer_is_as_doubtful_as_its_most_doubtful_claim() -> None:
    """One unfaithful claim decides the label."""
    verdict = joined((Said(Label.ENTAILED, 0.9, 0.1, *[AnswerRange(0, 1)] * 2), said(1, 2)))

    assert (verdict.label, verdict.unfaithful) == (AnswerLabel.BASELESS, 0.8)
    assert joined(()).label is AnswerLabel.NO_CLAIMS


def test_a_sample_is_of_whole_documents_and_the_same_in_any_order() -> None:
    """Twenty answers on ten documents."""
    rows = [row(None, number=at, group=f"g{at % 10}") for at in range(20)]

    chosen = sample(rows, 5)

    assert len(chosen) == 6
    assert {one.group for one in rows if one in chosen}.isdisjoint(
        one.group for one in rows if one not in chosen
    )
    assert sorted(one.id for one in sample(rows[::-1], 5)) == sorted(one.id for one in chosen)
    assert sample(rows, None) == rows


def test_the_tables_of_the_demo_say_what_is_known_of_flagging_everything() -> None:
    """Chance in every ranking, the base rate in every rate, and no system is missing."""
    names = ["flag-all", "coverage", "ai-evaluation", "rules"]

    tables = quality(run(names, ROWS), DATA / RESPONSES)

    wrong = sum(one.is_hallucinated for one in ROWS)
    found = dict(zip(tables[0].head, next(r for r in tables[0].rows if r[0] == "all"), strict=True))
    assert (found["system"], found["n"], found["unfaithful"]) == ("flag-all", len(ROWS), wrong)
    assert found["bAcc"] == found["AUROC"] == 0.5
    assert found["F1"] == found["flag-all F1"] == pytest.approx(2 * wrong / (wrong + len(ROWS)))
    for table in tables:
        assert {cell for one in table.rows for cell in one if cell in SYSTEMS} == set(names)
        assert {len(one) for one in table.rows} == {len(table.head)}
    recalls = [one[3] for one in tables[-1].rows if one[1] == "flag-all"]
    assert recalls == [1.0] * len(recalls)


def test_a_table_is_shown_as_text_as_markdown_and_as_values() -> None:
    """Shares have three digits, large figures fewer, and nothing is a dash."""
    table = Table("T", "what", ("a", "b"), [("x", 0.5), ("y", 123.4), ("z", None), ("n", 7)])

    assert as_text(table).splitlines() == ["T", "what", "", "a      b", "x  0.500", "y    123",
                                           "z      –", "n      7"]  # fmt: skip
    assert "| x | 0.500 |" in as_markdown(table)
    assert as_value(table)["rows"] == [{"a": x, "b": y} for x, y in table.rows]


def test_an_unknown_system_is_refused_with_the_known_ones() -> None:
    """The name goes to the package's judges."""
    with pytest.raises(SettingsError, match="expected one of"):
        system("oracle")


def test_speed_samples_are_of_different_sources_and_single_claims() -> None:
    """No source twice; each quantile is one of the values."""
    answers, claims = samples(ROWS)

    assert len(answers) == len({one.source_id for one in ROWS})
    assert len(claims) >= len(answers)
    assert all(one.answer for one in claims)
    assert [quantile([1.0, 2, 3, 4], share) for share in (0.0, 0.5, 0.95, 1.0)] == [1, 3, 4, 4]
    assert quantile([], 0.5) is None


@pytest.mark.e2e
def test_speed_is_measured_in_processes_of_their_own() -> None:
    """The cheapest system stands beside the rules as a multiple of them."""
    rows = list({one.source_id: one for one in read_rows(DATA)}.values())[: WARM + 2]

    measured, ratios = speed(["flag-all", "rules"], rows, starts=1)

    figures = dict(zip(measured.head, measured.rows[1], strict=True))
    assert [one[0] for one in measured.rows] == ["flag-all", "rules"]
    assert all(isinstance(cell, (int, float)) and cell > 0 for cell in measured.rows[1][1:])
    assert figures["single claims"] == len(samples(rows)[1]) - WARM
    assert ratios.rows[1][2] == 1.0


def test_a_target_that_no_threshold_meets_sends_all_claims_on() -> None:
    """Two claims equally sure, one of them wrong: half is met, a fifth is not."""
    rows = [row(AnswerLabel.ENTAILED), row(AnswerLabel.BASELESS, number=2)]
    table = escalation({"tiny": [Judged(one, joined((said(0, 9),))) for one in rows]})

    targets = {one[1]: one[2:] for one in table.rows if one[1] is not None}

    assert set(targets) == set(TARGETS)
    assert targets[0.2] == (None, 2, 1.0, None, 0.0)
    assert ("tiny", None, 0.8, 2, 0.0, 0.5, 0.5) in table.rows
