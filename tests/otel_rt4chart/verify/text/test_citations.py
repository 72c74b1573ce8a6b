"""Citations and quotations are found where they stand, and nothing else is taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.text.citations import Citation, blank_citations, citations, quotations

# Text that is rich in what the patterns look for.
CITING = st.lists(
    st.sampled_from('[]()【】†1,-–^ \n"“”«»²\ud800保')
    | st.sampled_from(["23", "doc", "p", "chunk_id: c4", "plan ", "The ", "MRI ", "لا "]),
    max_size=60,
).map("".join)


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("MRI is covered [2].", ["2"]),
        ("MRI is covered [1, 3].", ["1", "3"]),
        ("MRI is covered [1;3].", ["1", "3"]),
        ("MRI is covered [1-3].", ["1", "2", "3"]),
        ("MRI is covered [1–3, 7].", ["1", "2", "3", "7"]),
        ("MRI is covered [^2].", ["2"]),
        ("MRI is covered [1][2] and free [3].", ["1", "2", "3"]),
        ("MRI is covered 【2†source】.", ["2"]),
        ("MRI is covered [doc-3].", ["doc-3"]),
        ("MRI is covered (doc-3, doc-4).", ["doc-3", "doc-4"]),
        ("MRI is covered (see passage 2).", ["passage 2"]),
        ("MRI is covered (source: p2).", ["p2"]),
        ("MRI is covered, chunk_id: c4.", ["c4"]),
        ('{"text": "MRI", doc_id="kb/12.txt"}', ["kb/12.txt"]),
        ("التصوير مغطى [٢].", ["٢"]),
        ("包括磁共振 [2]。", ["2"]),
    ],
)
def test_every_usual_way_to_cite_is_read(answer: str, named: list[str]) -> None:
    """Numbers, ranges, ids and fields, one or several in a bracket."""
    assert [cited.id for cited in citations(answer)] == named


@pytest.mark.parametrize(
    "answer",
    [
        "See [the handbook](https://example.org).",
        "See [the handbook][1].",
        "The first is row[0][1].",
        "[Smith 2020] says so.",
        "It opened in [2020].",
        "[The plan] covers MRI.",
        "The steps: (1) ask, (2) pay.",
        "The range [3-1] is empty.",
        "A footnote [^note].",
        "A bracket [1, never closed",
        "",
    ],
    ids=range(11),
)
def test_other_brackets_are_no_citations(answer: str) -> None:
    """Links, code, years, insertions and list numbers."""
    assert citations(answer) == ()


def test_a_citation_knows_its_place_and_its_number() -> None:
    """The number is the place of a passage; an id with digits has none."""
    assert citations("MRI [2] (doc-3)") == (
        Citation(4, 7, "[2]", "2", 2),
        Citation(8, 15, "(doc-3)", "doc-3", None),
    )


def test_the_ids_of_passages_make_a_bracket_a_citation() -> None:
    """What passages are called cannot be guessed."""
    answer = "MRI is covered [policy/A, handbook]."

    assert citations(answer) == ()
    assert [one.id for one in citations(answer, ["Policy/A", "handbook"])] == [
        "policy/A",
        "handbook",
    ]


def test_a_range_names_a_bounded_number_of_passages() -> None:
    """Ten characters must not make a thousand citations."""
    assert len(citations("[1-999]")) == 21


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("It says “the policy covers outpatient MRI”.", ["the policy covers outpatient MRI"]),
        ('It says "the policy covers outpatient MRI".', ["the policy covers outpatient MRI"]),
        ("«la police couvre tout le monde»", ["la police couvre tout le monde"]),
        ("“يغطي التأمين التصوير بالرنين المغناطيسي”", ["يغطي التأمين التصوير بالرنين المغناطيسي"]),
        ('"ALL PLANS COVER MRI"', ["ALL PLANS COVER MRI"]),
        ('"The Policy covers outpatient MRI"', ["The Policy covers outpatient MRI"]),
        # SummEdits, Apache-2.0
        (
            'a "specific electrical connection issue that could result in a loss of propulsion."',
            ["specific electrical connection issue that could result in a loss of propulsion."],
        ),
    ],
)
def test_a_quoted_run_of_words_is_a_quotation(text: str, quoted: list[str]) -> None:
    """In any quotation marks, and where every letter is a capital."""
    assert [one.text for one in quotations(text)] == quoted


@pytest.mark.parametrize(
    "text",
    [
        "The “free trial” is not free.",
        'It is in "Terms and Conditions of the Plan".',
        "It is in “2023 Annual Report of the Company”.",
        'It is "never closed and goes on and on',
        '"It breaks off after\nthe end of the line"',
        'Pipes of 5" and of 6" fit the plan.',
        "“" + "word " * 100 + "”",
    ],
    ids=["short", "title", "title with a year", "unclosed", "two lines", "inches", "too long"],
)
def test_a_title_or_a_stray_quotation_mark_is_no_quotation(text: str) -> None:
    """Nothing is searched for that nobody quoted."""
    assert quotations(text) == ()


def test_straight_quotes_are_paired_from_the_left() -> None:
    """The words between two short quotations are the writer's own."""
    text = 'The "A" plan and what it covers for you is "B", as "the policy covers outpatient MRI".'

    assert [one.text for one in quotations(text)] == ["the policy covers outpatient MRI"]


def test_blanking_leaves_every_other_character_in_its_place() -> None:
    """So that offsets still hold."""
    assert (
        blank_citations("MRI [1][2] (doc-3), chunk_id: c4.")
        == "MRI" + " " * 15 + "," + " " * 13 + "."
    )
    assert blank_citations("See chunk_id: c4.") == "See             ."
    assert blank_citations("No citation (at all) [here].") == "No citation (at all) [here]."


@given(CITING | st.text(max_size=80))
def test_blanking_changes_citations_only(text: str) -> None:
    """Of any text: the length stays, and so does each character that no citation holds."""
    read = blank_citations(text)
    cited = {at for one in citations(text) for at in range(one.start, one.end)}

    assert len(read) == len(text)
    assert all(new == (" " if at in cited else text[at]) for at, new in enumerate(read))


@given(CITING | st.text(max_size=80), st.lists(st.text(max_size=5), max_size=3))
def test_a_citation_is_a_slice_of_its_text(text: str, ids: list[str]) -> None:
    """In order, and with the number that its id is."""
    found = citations(text, ids)

    assert all(one.text == text[one.start : one.end] for one in found)
    assert list(found) == sorted(found, key=lambda one: one.start)
    assert all(one.number is None or one.number == int(one.id) for one in found)


@given(CITING | st.text(max_size=80))
def test_a_quotation_is_a_slice_of_its_text(text: str) -> None:
    """Its text stands between its marks, which are one character each."""
    for one in quotations(text):
        assert text[one.start + 1 : one.end - 1] == one.text
