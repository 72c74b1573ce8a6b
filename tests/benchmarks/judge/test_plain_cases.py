from __future__ import annotations

from benchmarks.judge.plain_cases import (
    JudgedCase,
    by_part,
    by_status,
    judge_cases,
    overall,
    read_cases,
    wrong_verdicts,
)
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import Label, Verifier

CASES = {case.id: case for case in read_cases()}
WRONG, TRUE, OPEN = CASES["insurance-003"], CASES["insurance-001"], CASES["insurance-004"]
SEALED = next(
    case
    for case in CASES.values()
    if case.is_sealed and case.label == "contradicted" and case.kind == "paraphrase"
)


def judged() -> list[JudgedCase]:
    """Four cases and a judge that contradicts every claim but the excluding one."""
    cases = (TRUE, WRONG, OPEN, SEALED)
    scripts = {
        case.exchange.answer: Script(
            Label.ENTAILED if case is TRUE else Label.CONTRADICTED,
            evidence=(case.exchange.passages[0].text,),
        )
        for case in cases
    }
    return judge_cases(Verifier(ScriptedJudge(scripts)), cases)


def test_the_table_counts_true_and_wrong_cases_and_pairs() -> None:
    """A contradicted verdict on a baseless case is flagged but not right."""
    rows = {row[0]: row for row in overall(judged()).rows}

    assert rows["all"][1:4] == (4, 3, 0.75)
    assert rows["true"][1:4] == (1, 1, 1.0)
    assert rows["wrong"][1:4] == (3, 2, 2 / 3)
    assert rows["wrong"][6:] == (1.0, 0.0, 2 / 3)
    assert rows["pairs"][1:4] == (2, 1, 0.5)


def test_parts_are_listed_from_the_worst() -> None:
    """Each part has its cases, the right ones and their share."""
    table = by_part("Label", judged(), lambda case: case.label)

    assert table.rows == [
        ("baseless", 1, 0, 0.0),
        ("contradicted", 2, 2, 1.0),
        ("entailed", 1, 1, 1.0),
    ]


def test_a_status_is_right_only_with_its_label() -> None:
    """The baseless case was called contradicted: neither its label nor its status is right."""
    rows = {row[0]: row[1:] for row in by_status(judged()).rows}

    assert rows["unsupported"] == (1, 0, 0)
    assert rows["supported"] == (1, 1, 1)


def test_sealed_cases_are_never_listed() -> None:
    """Only the wrong verdict on an unsealed case is printed."""
    wrong = [one._replace(report=judged()[0].report) for one in judged()]

    listed = list(wrong_verdicts(wrong))

    assert {line.partition(" ")[0] for line in listed} == {WRONG.id, OPEN.id}
