"""Short everyday claims: the file's form, and how many of them each judge gets right."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import pytest

from benchmarks.judge.plain_cases import CASES, JudgedCase, judge_cases, overall, read_cases
from benchmarks.judge.tables import as_text
from otel_rt4chart.verify import LocalJudge, RulesJudge, Verifier
from otel_rt4chart.verify.core.model import AnswerLabel, ClaimStatus

ALL = read_cases()
BY_ID = {case.id: case for case in ALL}
KEYS = {"id", "area", "kind", "sealed", "question", "passages", "claim", "label", "status"}
# The statuses that a case with each label may have.
STATUSES = {
    AnswerLabel.ENTAILED: {
        ClaimStatus.SUPPORTED,
        ClaimStatus.QUALIFIER_DROPPED,
        ClaimStatus.CHERRY_PICKED,
    },
    AnswerLabel.CONTRADICTED: {ClaimStatus.CONTRADICTED, ClaimStatus.CHERRY_PICKED},
    AnswerLabel.BASELESS: {
        ClaimStatus.UNSUPPORTED,
        ClaimStatus.UNLINKED,
        ClaimStatus.OVERREACH,
        ClaimStatus.RESTATES_PREMISE,
    },
}


@pytest.fixture(scope="module", params=["rules", "local"])
def judged(request: pytest.FixtureRequest) -> tuple[str, Sequence[JudgedCase]]:
    """A judge's name and its reports on all cases."""
    judge = RulesJudge() if request.param == "rules" else LocalJudge(threads=1)
    return request.param, judge_cases(Verifier(judge), ALL)


def share_right(judged: Sequence[JudgedCase]) -> float:
    """The share of right labels among the cases that the judge decides."""
    decided = [one for one in judged if one.report.label is not AnswerLabel.UNDECIDED]
    return sum(one.is_right for one in decided) / len(decided)


def share_undecided(judged: Sequence[JudgedCase]) -> float:
    """The share of cases that the judge leaves undecided."""
    return sum(one.report.label is AnswerLabel.UNDECIDED for one in judged) / len(judged)


def test_the_file_is_large_and_a_third_of_it_is_sealed() -> None:
    """Every third case, by position, is kept from those who build a judge."""
    assert len(ALL) >= 300
    assert [case.is_sealed for case in ALL] == [at % 3 == 2 for at in range(len(ALL))]


def test_rows_have_the_documented_keys_only() -> None:
    """A misspelt optional key would silently be the default."""
    rows = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]

    assert {row["id"] for row in rows if not row.keys() >= KEYS} == set()
    assert set().union(*rows) - KEYS == {"accepted", "twin"}


def test_ids_are_unique_and_no_claim_is_repeated() -> None:
    """Two rows never ask the same."""
    asked = Counter((case.exchange.passages[0].text, case.exchange.answer) for case in ALL)

    assert len(BY_ID) == len(ALL)
    assert asked.most_common(1)[0][1] == 1


def test_a_twin_is_a_true_case_with_the_same_passages() -> None:
    """The two differ in the claim alone."""
    twins = [(case, BY_ID[case.twin]) for case in ALL if case.twin]

    assert len(twins) > len(ALL) / 3
    assert {twin.status for _, twin in twins} == {ClaimStatus.SUPPORTED}
    assert [
        case.id for case, twin in twins if case.exchange.passages != twin.exchange.passages
    ] == []


def test_cases_with_the_same_passages_are_sealed_together() -> None:
    """A sealed case is not given away by an unsealed one."""
    sealed: dict[str, set[bool]] = {}
    for case in ALL:
        texts = json.dumps([one.text for one in case.exchange.passages])
        sealed.setdefault(texts, set()).add(case.is_sealed)

    assert {texts for texts, sides in sealed.items() if len(sides) > 1} == set()


def test_no_kind_gives_the_verdict_away() -> None:
    """Each kind has supported claims and others, and about half of all are supported."""
    supported = Counter(case.kind for case in ALL if case.status is ClaimStatus.SUPPORTED)
    kinds = Counter(case.kind for case in ALL)

    assert {kind: n for kind, n in kinds.items() if not 0 < supported[kind] < n} == {}
    assert 0.45 < supported.total() / len(ALL) < 0.55


def test_statuses_fit_their_labels() -> None:
    """A case's status is one that a claim with its label can have."""
    assert [case.id for case in ALL if case.status not in STATUSES[case.label]] == []


def test_judges_keep_their_share_of_right_labels(
    judged: tuple[str, Sequence[JudgedCase]],
) -> None:
    """A change that costs accuracy on plain sentences fails here; a gain raises the floor."""
    name, verdicts = judged
    floors = {"rules": (0.58, 0.47), "local": (0.78, 0.66)}[name]

    for floor, is_sealed in zip(floors, (False, True), strict=True):
        mine = [one for one in verdicts if one.case.is_sealed is is_sealed]
        assert share_right(mine) >= floor, as_text(overall(mine))
        assert share_undecided(mine) <= 0.21, as_text(overall(mine))
