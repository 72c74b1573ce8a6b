"""Citations are checked against what was retrieved: ids, quotations, and what a passage says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify import (
    Chunk,
    DraftClaim,
    Exchange,
    Finding,
    Judgement,
    Passage,
    RulesJudge,
    Verifier,
)
from otel_rt4chart.verify.findings.citations import citation_findings
from otel_rt4chart.verify.findings.scanner import BoundedScanner

MRI = Passage("p1", "The policy covers outpatient MRI with prior authorization.")
COSMETIC = Passage("p2", "Cosmetic procedures are excluded from coverage.")
BOTH = [MRI, COSMETIC]
COVERED = "The policy covers outpatient MRI with prior authorization"


def checked(answer: str, passages: Sequence[Passage] = BOTH) -> list[tuple[str, tuple[str, ...]]]:
    """The kind and the passages of each finding that needs no judge."""
    return [
        (one.kind, one.passage_ids)
        for one in citation_findings(answer, passages, (), BoundedScanner(RulesJudge()))
    ]


def unsupported(answer: str, passages: Sequence[Passage] = BOTH) -> list[Finding]:
    """The claims that their cited passages do not say, in a whole verification."""
    report = Verifier(RulesJudge()).verify(Exchange("What is covered?", passages, answer))
    return [one for one in report.findings if one.kind == "does_not_support"]


@pytest.mark.parametrize(
    ("answer", "unknown"),
    [
        ("It is covered [9].", ["9"]),
        ("It is covered [0].", ["0"]),
        ("It is covered [1-3].", ["3"]),
        ("It is covered [1][9].", ["9"]),
        ("It is covered (source: p7).", ["p7"]),
        ("It is covered, chunk_id: c4.", ["c4"]),
        ("It is covered [9] and free [8], as said [9].", ["9", "8"]),
    ],
)
def test_an_id_that_was_not_retrieved_is_found_once(answer: str, unknown: list[str]) -> None:
    """In the order of the answer."""
    assert checked(answer) == [("unknown_id", (name,)) for name in unknown]


@pytest.mark.parametrize(
    "answer",
    [
        "It is covered [1].",
        "It is covered [1-2].",
        "It is covered [1][2].",
        "It is covered [P1, p2].",
        "It is covered (source: p2).",
        "It is covered, chunk_id: p1.",
        "It is covered by [the plan], see row[9] and [this](https://example.org).",
    ],
)
def test_an_id_that_was_retrieved_is_known_by_name_or_place(answer: str) -> None:
    """Case does not matter, and what is no citation is not checked."""
    assert checked(answer) == []


def test_where_passages_are_called_by_numbers_their_places_are_not_meant() -> None:
    """[1] is then the passage called 1, which was not retrieved."""
    passages = [Passage("7", "MRI is covered."), Passage("9", "MRI is free.")]

    assert checked("It is covered [7], [9] and [1].", passages) == [("unknown_id", ("1",))]


def test_without_passages_every_citation_is_unknown_and_no_quotation_is_searched() -> None:
    """There is nothing that it could stand in."""
    assert checked("“the policy covers outpatient MRI” [1]", []) == [("unknown_id", ("1",))]


@pytest.mark.parametrize(
    "answer",
    [
        "It says “the policy covers outpatient MRI” [1].",
        'It says "The POLICY covers: outpatient MRI".',
        "It says “the policy covers [...] with prior authorization”.",
        "It says “The policy … with prior authorization” [1].",
        "It says “[the plan] covers outpatient MRI with prior authorization”.",
        "It says “the policy covers outpatient\u00a0MRI”.",
        "It is in “The Terms and Conditions of Dental Plans”.",
    ],
    ids=["cited", "case", "omission", "ellipsis", "insertion", "spacing", "title"],
)
def test_a_quotation_that_stands_there_is_no_finding(answer: str) -> None:
    """Case, punctuation and what a quotation may leave out do not matter."""
    assert checked(answer) == []


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("It says “the policy covers inpatient MRI always”.", ()),
        ("It says “the policy covers [...] without any authorization”.", ()),
        ('The "A" and the "B" say "the policy covers inpatient MRI".', ()),
        ("It says “the policy covers outpatient MRI” [2].", ("p2",)),
        ("It says “Cosmetic procedures are excluded” (p1) [2].", ("p1",)),
    ],
)
def test_a_quotation_that_stands_nowhere_is_found(answer: str, passage: tuple[str, ...]) -> None:
    """It is searched in the passage cited right behind it, else in all."""
    assert checked(answer) == [("quote_not_found", passage)]


def test_a_quotation_changed_by_one_word_is_found() -> None:
    """SummEdits, Apache-2.0: "propulsion" became "power"."""
    passage = Passage(
        "news",
        "Lordstown will recall 19 pickups over a specific electrical connection issue that could "
        "result in a loss of propulsion while driving.",
    )
    answer = 'It is an "electrical connection issue that could result in a loss of {}".'

    assert checked(answer.format("propulsion"), [passage]) == []
    assert checked(answer.format("power"), [passage]) == [("quote_not_found", ())]


def test_a_quotation_in_arabic_is_searched_like_any_other() -> None:
    """“Covers” became “excludes”."""
    passage = Passage("ar", "يغطي التأمين التصوير بالرنين المغناطيسي بعد الموافقة المسبقة.")

    assert checked("“يغطي التأمين التصوير بالرنين المغناطيسي”", [passage]) == []
    assert checked("“يستثني التأمين التصوير بالرنين المغناطيسي”", [passage]) == [
        ("quote_not_found", ())
    ]


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        (f"{COVERED} [2].", ("p2",)),
        (f"{COVERED}. [2]", ("p2",)),
        (f"{COVERED} (source: p2).", ("p2",)),
        ("Cosmetic procedures are covered [1][2].", ("p1", "p2")),
        ("Bananas grow on Mars [1].", ("p1",)),
    ],
)
def test_a_cited_passage_that_does_not_say_it_is_found(answer: str, cited: tuple[str, ...]) -> None:
    """Whether another passage says it, or none."""
    (finding,) = unsupported(answer)

    assert (finding.claim, finding.passage_ids) == (0, cited)


@pytest.mark.parametrize(
    "answer",
    [
        f"{COVERED} [1].",
        f"{COVERED}. [1]",
        f"{COVERED} [1, 2].",
        f"{COVERED} [1][2].",
        f"{COVERED} [9].",
        f"{COVERED}.",
        f"{COVERED} [1]. Cosmetic procedures are excluded [2].",
        "Is it covered? [2]",
        "",
    ],
)
def test_one_cited_passage_that_says_it_is_enough(answer: str) -> None:
    """Claims without a citation, or with an unknown one, are not asked about."""
    assert unsupported(answer) == []


def test_what_is_cited_need_not_share_a_script_with_what_is_not() -> None:
    """The Chinese claim is in the Chinese passage, not in the Arabic one."""
    passages = [
        Passage("ar", "يغطي التأمين التصوير بالرنين المغناطيسي."),
        Passage("zh", "保险涵盖门诊磁共振成像检查。"),
    ]

    assert unsupported("保险涵盖门诊磁共振成像检查 [2]。", passages) == []
    assert [
        one.passage_ids for one in unsupported("保险涵盖门诊磁共振成像检查 [1]。", passages)
    ] == [("ar",)]


def test_a_cited_passage_without_text_says_nothing() -> None:
    """And the scanner is not asked about it."""
    (finding,) = unsupported(f"{COVERED} [2].", [MRI, Passage("p2", "")])

    assert finding.passage_ids == ("p2",)


class Failing(RulesJudge):
    """A scanner whose every call fails."""

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """Never."""
        raise JudgeError("the model did not answer")


def test_a_scanner_that_fails_does_not_keep_the_other_findings_back() -> None:
    """What it could not confirm stays unconfirmed."""
    answer = f"{COVERED} [2][9]."
    claims = Verifier(RulesJudge()).verify(Exchange("", BOTH, answer)).claims

    found = list(citation_findings(answer, BOTH, claims, BoundedScanner(Failing())))

    assert [one.kind for one in found] == ["unknown_id", "does_not_support"]


CITING = st.lists(
    st.sampled_from('“”"…[]\n\ud800保')
    | st.sampled_from(["[1]", "[2-9]", "(p2)", "[...]", "the policy ", "covers ", "chunk_id: x"]),
    max_size=40,
).map("".join)


@given(CITING | st.text(max_size=80), st.lists(st.text(max_size=30), max_size=3))
def test_no_text_breaks_the_check(answer: str, texts: list[str]) -> None:
    """A quotation of a whole passage stands in it, whatever the passage is."""
    passages = [Passage(str(number), text) for number, text in enumerate(texts)]

    assert all(
        one.name == "citation"
        for one in citation_findings(answer, passages, (), BoundedScanner(RulesJudge()))
    )
    for passage in passages:
        quoted = f"“{passage.text}”"
        assert "quote_not_found" not in [kind for kind, _ in checked(quoted, [passage])]
