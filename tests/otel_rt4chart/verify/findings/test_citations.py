"""Citations are checked against what was retrieved: ids, quotations, and what a passage says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify import (
    Chunk,
    ClaimStatus,
    DraftClaim,
    Exchange,
    Finding,
    Judgement,
    Passage,
    RulesJudge,
    Verifier,
)
from otel_rt4chart.verify.findings.citation_marks import CitedPassages, resolve_marks
from otel_rt4chart.verify.findings.citations import (
    BoundedScanner,
    any_part_may_cite,
    check_citations,
    citation_findings,
    count_citations,
    may_cite,
)
from otel_rt4chart.verify.text.citations import quotations

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


def test_a_citation_of_a_paraphrase_is_not_called_wrong() -> None:
    """The rules do not read it as support, but it is about the same thing."""
    passages = (
        Passage("p1", "The Gold plan covers outpatient imaging."),
        Passage("p2", "Outpatient imaging without a hospital stay is paid for under Gold."),
    )
    answer = "The Gold plan covers outpatient imaging [2]."

    report = Verifier(RulesJudge()).verify(Exchange("", passages, answer))

    assert [claim.status for claim in report.claims] == [ClaimStatus.SUPPORTED]


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


TERMS = Passage(
    "p1",
    "The trial lasts 14 days. It is free.",
    metadata={"title": "Trial Terms", "url": "https://shop.example/terms"},
)
REFUNDS = Passage(
    "p2",
    "Refunds are paid within 30 days of purchase.",
    metadata={"title": "Refund Policy 2024", "url": "https://www.shop.example/refunds/"},
)
TRIAL = "The trial lasts 14 days"
REPAID = "Refunds are paid within 30 days"


def told(answer: str, passages: Sequence[Passage] = (TERMS, REFUNDS)) -> list[tuple[str, str]]:
    """The kind and the first passage of each finding of the check without claims."""
    found = check_citations(Exchange("", passages, answer))
    assert {one.claim for one in found} <= {None}
    return [(one.kind, one.passage_ids[0]) for one in found]


@pytest.mark.parametrize(
    "answer",
    [
        f"{TRIAL}.",
        f"{TRIAL} [1].",
        f"{TRIAL} (source: p1).",
        f"{TRIAL}.¹",
        f"{TRIAL}[^1].",
        f"{REPAID}[^1].\n\n[^1]: Refund Policy 2024",
        f"{REPAID} [1].\n\nSources:\n[1] https://shop.example/refunds",
        f"{REPAID} [2].\n\nSources:\n1. Trial Terms\n2. Refund Policy",
        f"{TRIAL} (https://shop.example/terms).",
        f"According to the Trial Terms, {TRIAL.lower()}.",
        f"According to the Refund Policy, {REPAID.lower()}.",
        "The pool has 20 m².",
        "Contact us at https://shop.example/contact.",
        "[Contact us](https://shop.example/contact).",
        "As per the documents, it is free.",
        "According to Monday's schedule it is free.",
    ],
)
def test_right_citations_and_what_is_none_are_not_told(answer: str) -> None:
    """Ids, places, footnotes, lists of sources, links and titles."""
    assert told(answer) == []


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (f"{TRIAL} [7].", "7"),
        (f"{TRIAL} (doc-9).", "doc-9"),
        (f"{TRIAL}.⁹", "9"),
        (f"{TRIAL}[^9].", "9"),
        (f"{TRIAL} (https://shop.example/other).", "https://shop.example/other"),
        (
            f"{TRIAL} [1].\n\nSources:\n[1] https://shop.example/other",
            "https://shop.example/other",
        ),
        (f"According to the Zurich Handbook, {TRIAL.lower()}.", "Zurich Handbook"),
    ],
)
def test_a_source_that_was_not_retrieved_is_told_without_claims(answer: str, name: str) -> None:
    """By whatever it is named."""
    assert told(answer) == [("unknown_id", name)]


def test_a_link_is_unknown_only_where_passages_have_links() -> None:
    """Else it cannot be known what was retrieved."""
    answer = f"{TRIAL} (https://shop.example/other)."

    assert told(answer, [Passage("p1", TERMS.text)]) == []
    mentioned = Passage("p3", "More at https://shop.example/other today.")
    assert told(answer, [TERMS, mentioned]) == []


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        (f"{TRIAL} [2].", "p2"),
        (f"{TRIAL}.²", "p2"),
        (f"{REPAID}[^1].\n\n[^1]: https://shop.example/terms", "p1"),
        (f"{TRIAL} (https://shop.example/refunds).", "p2"),
        (f"According to the Refund Policy, {TRIAL.lower()}.", "p2"),
        (f"{TRIAL} [2]. {REPAID} [2].", "p2"),
    ],
)
def test_a_sentence_that_another_passage_says_is_a_wrong_citation(answer: str, cited: str) -> None:
    """The cited one is about something else; without another one that says it, nothing is sure."""
    assert told(answer) == [("does_not_support", cited)]
    (only,) = [one for one in (TERMS, REFUNDS) if one.id == cited]
    assert told(answer.replace("[2]", "[1]").replace("²", "¹"), [only]) == []


def test_a_claim_that_cites_nothing_retrieved_is_miscited() -> None:
    """The one before the mark, whatever else its sentence says."""
    answer = "The trial is free and lasts 14 days [9]. The pool is heated [8]."

    report = Verifier(RulesJudge()).verify(Exchange("", [TERMS], answer))

    assert [one.claim for one in report.findings if one.kind == "unknown_id"] == [1, 2]
    assert [one.status for one in report.claims] == [
        ClaimStatus.SUPPORTED,
        ClaimStatus.MISCITED,
        ClaimStatus.UNLINKED,
    ]


@given(CITING | st.text(max_size=80), st.lists(st.text(max_size=30), max_size=3))
def test_no_text_breaks_the_check_without_claims(answer: str, texts: list[str]) -> None:
    """And it finds nothing but citations, a bounded number of them."""
    passages = [Passage(str(number), text) for number, text in enumerate(texts)]

    found = check_citations(Exchange("", passages, answer * 3))

    assert len(found) <= 20
    assert {one.name for one in found} <= {"citation"}


PIECES = st.sampled_from(
    [*"[]()“”\"«»【】¹².:,; \n", "p1", "p2", "doc-3", "Chunk_ID: c4", "HTTPS://a.example", "source",
     "ſource", "according", "to", "as", "per", "super", "stated", "in", "İn", "last", "Benefits",
     "the plan lasts for days", "Sources:", "[^1]", "x", "\\n", "\\"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=12), st.data())
def test_what_may_cite_is_what_can_have_a_citation(pieces: list[str], data: st.DataObject) -> None:
    """Whatever was retrieved; and a text of which no part may cite has no such part."""
    text = "".join(pieces)
    has_any = bool(resolve_marks(text, CitedPassages(BOTH)) or quotations(text))

    assert may_cite(text) or not has_any
    assert may_cite(text) or (count_citations(text, BOTH), checked(text)) == (0, [])
    start = data.draw(st.integers(0, len(text)))
    part = text[start : data.draw(st.integers(start, len(text)))]
    assert any_part_may_cite(text) or not may_cite(part)


@pytest.mark.parametrize(
    "answer", ["It is covered (see below).", "per month", "the “Pro” plan", "as stated in: it"]
)
def test_an_answer_that_only_looks_like_citing_does_not(answer: str) -> None:
    """Parentheses, titles and turns of phrase."""
    assert any_part_may_cite(answer)
    assert not may_cite(answer)
