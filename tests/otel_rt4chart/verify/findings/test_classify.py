"""The classifier of failures: which kinds are found, and which are not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import ClaimStatus, Clash, Evidence, Finding, Label
from otel_rt4chart.verify.findings.classify import (
    ClaimDifference,
    MeaningChange,
    classify_failure,
    source_texts,
)
from otel_rt4chart.verify.findings.failure_kinds import FailureKind
from otel_rt4chart.verify.language.cues import Cue, cues

HUBBLE = (
    "The Hubble Space Telescope was deployed from Space Shuttle Discovery on April 25, 1990, "
    "during STS-31."
)
AUTHORISED = "Outpatient MRI is covered when prior authorization has been obtained."
EXCLUDED = "Cosmetic procedures are excluded from coverage."
TRIAL = "The free trial lasts 30 days."
AGED = "Eligibility extends to members aged 16 and above."


def difference(
    claim: str,
    sources: Sequence[str],
    *,
    label: str = Label.CONTRADICTED,
    question: str = "",
    clashes: Sequence[Clash] = (),
) -> ClaimDifference:
    """How a contradicted claim departs from its sources, unless another label is named."""
    return classify_failure(claim, label, sources, question=question, clashes=clashes)


@pytest.mark.parametrize(
    ("claim", "evidence", "expected"),
    [
        (
            "The free trial lasts 14 days.",
            TRIAL,
            MeaningChange(FailureKind.NUMBER, "14 days", "30 days"),
        ),
        (
            "Coverage applies to members under 18.",
            AGED,
            MeaningChange(FailureKind.NUMBER, "18", "16"),
        ),
        (
            "Hubble launched on April 24, 1990.",
            HUBBLE,
            MeaningChange(FailureKind.DATE, "April 24, 1990", "April 25, 1990"),
        ),
        (
            "The free trial lasts 30 weeks.",
            TRIAL,
            MeaningChange(FailureKind.UNIT, "30 weeks", "30 days"),
        ),
        (
            "Hubble launched from Space Shuttle Atlantis.",
            HUBBLE,
            MeaningChange(FailureKind.ENTITY, "Atlantis", "Discovery"),
        ),
        (
            "Cosmetic procedures are covered.",
            EXCLUDED,
            MeaningChange(FailureKind.EXCLUSION, found="Cosmetic procedures"),
        ),
        (
            "The plan covers all surgery.",
            "The plan covers all surgery except cosmetic surgery.",
            MeaningChange(FailureKind.EXCLUSION, found="cosmetic surgery"),
        ),
        (
            "Verification is not required for the trial.",
            "Verification is required for the trial.",
            MeaningChange(FailureKind.POLARITY, "not required", "required"),
        ),
        (
            "The company is decreasing its dividend.",
            "The company is increasing its dividend.",
            MeaningChange(FailureKind.DIRECTION, "decreasing", "increasing"),
        ),
        (
            "The policy applies to all users.",
            "The policy applies to verified users.",
            MeaningChange(FailureKind.SCOPE, "all"),
        ),
        (
            "The policy covers outpatient MRI.",
            AUTHORISED,
            MeaningChange(FailureKind.QUALIFIER, found="prior authorization has been obtained"),
        ),
        (
            "The drug reduces pain.",
            "The drug may reduce pain.",
            MeaningChange(FailureKind.HEDGE, found="may reduce pain"),
        ),
        (
            "The tool gives an incorrect answer within the time limit.",
            "The tool gives a correct answer within the time limit.",
            MeaningChange(FailureKind.OPPOSITE, "incorrect", "correct"),
        ),
        (
            "The mine collapse buried numerous trucks in the north.",
            "The mine collapse buried numerous sheds in the north.",
            MeaningChange(FailureKind.TERM, "trucks", "sheds"),
        ),
    ],
)
def test_difference_names_what_changed(claim: str, evidence: str, expected: MeaningChange) -> None:
    """Each kind of departure is found, with what the claim and the source say."""
    assert difference(claim, [evidence]).primary == expected


@pytest.mark.parametrize(
    ("claim", "evidence", "silent"),
    [
        ("The free trial lasts 30 days.", TRIAL, FailureKind.NUMBER),
        ("The free trial lasts thirty days.", TRIAL, FailureKind.NUMBER),
        ("Hubble was deployed on April 25, 1990.", HUBBLE, FailureKind.DATE),
        ("The trial lasts 30 days.", TRIAL, FailureKind.DATE),
        ("The telescope was deployed from Discovery.", HUBBLE, FailureKind.ENTITY),
        ("Cosmetic procedures are excluded.", EXCLUDED, FailureKind.EXCLUSION),
        ("Cosmetic procedures are not covered.", EXCLUDED, FailureKind.EXCLUSION),
        ("Verification is required.", "Verification is required for the trial.",
         FailureKind.POLARITY),
        ("The policy applies to all users.", "The policy applies to all users.", FailureKind.SCOPE),
        ("Outpatient MRI is covered once prior authorization is obtained.", AUTHORISED,
         FailureKind.QUALIFIER),
        ("The drug may reduce pain.", "The drug might reduce pain.", FailureKind.QUALIFIER),
        ("Members aged 16 may join.", "Members aged 16 and above may join.", FailureKind.NUMBER),
    ],
)  # fmt: skip
def test_difference_is_silent_where_nothing_of_the_kind_changed(
    claim: str, evidence: str, silent: FailureKind
) -> None:
    """An op does not fire where claim and source agree in it."""
    assert silent not in difference(claim, [evidence]).kinds


def test_difference_echoes_question_where_it_has_what_the_source_lacks() -> None:
    """Words that stand in the question alone came from the question."""
    found = difference(
        "The plan covers dental care.",
        ["The plan covers outpatient MRI."],
        question="The plan covers dental care, right?",
    )

    assert found.primary == MeaningChange(FailureKind.ECHO)


def test_difference_is_no_echo_where_the_claim_answers() -> None:
    """A question whose words the claim repeats is no echo if the claim adds what was asked for."""
    found = difference(
        "Hubble is the largest space telescope ever built.",
        [HUBBLE],
        question="What is the Hubble Space Telescope?",
    )

    assert found.kind is FailureKind.ADDITION


def test_a_restated_premise_goes_before_every_other_difference() -> None:
    """The question that suggested the claim is the reason for the number, too."""
    question = "Doesn't the free trial last 60 days?"

    asked = difference("The free trial lasts 60 days.", [TRIAL], question=question)
    other = difference("The paid plan lasts 60 weeks at most.", [TRIAL], question=question)

    assert (asked.kind, other.kind) == (FailureKind.ECHO, FailureKind.NUMBER)
    assert FailureKind.NUMBER in asked.kinds


@pytest.mark.parametrize(
    ("expected", "claim", "source"),
    [
        (FailureKind.PRIOR_KNOWLEDGE, "The hotel has a heated pool.", "Rent is due in May."),
        (FailureKind.PRIOR_KNOWLEDGE, "The hotel has a heated pool.", ""),
        (FailureKind.BAD_CITATION, "The hotel has a heated pool [3].", "Rent is due in May."),
        (FailureKind.ADDITION, "The hotel has a heated pool.", "The hotel has 40 rooms."),
        (FailureKind.ADDITION, "The hotel has a heated pool [1].", "The hotel has 40 rooms."),
        (FailureKind.NUMBER, "The hotel has 12 pools.", "Rent is due in May."),
    ],
)
def test_a_baseless_claim_off_topic_did_not_come_from_the_source(
    expected: FailureKind, claim: str, source: str
) -> None:
    """Unless a changed value says more; a claim on topic keeps its kind."""
    assert difference(claim, [source], label=Label.BASELESS).kind is expected


def test_a_contradicted_claim_is_on_topic() -> None:
    """A judge found a sentence that denies it, however few words they share."""
    claim, source = "The hotel has a heated pool.", "Swimming is impossible."

    assert difference(claim, [source], label=Label.BASELESS).kind is FailureKind.PRIOR_KNOWLEDGE
    assert difference(claim, [source]).kind is FailureKind.ADDITION


def test_difference_without_evidence_is_an_addition() -> None:
    """Where the source has nothing like the claim, everything is added."""
    assert difference("Hubble orbits the Moon.", []).kind is FailureKind.ADDITION


def test_difference_of_equal_texts_is_other() -> None:
    """No rule explains a failure whose claim stands in its evidence word by word."""
    assert difference(TRIAL, [TRIAL]).primary == MeaningChange(FailureKind.OTHER)


def test_changed_name_goes_before_dropped_qualifier() -> None:
    """A reordered qualifier must not hide that another name stands there."""
    found = difference(
        "Discovery requires approval from NASA.",
        ["Discovery requires approval from ESA, if the crew is larger."],
        clashes=[Clash("qualifier", "", "if larger"), Clash("name", "NASA", "ESA")],
    )

    assert found.primary == MeaningChange(FailureKind.ENTITY, "NASA", "ESA")
    assert FailureKind.QUALIFIER in found.kinds


@pytest.mark.parametrize(
    ("clash", "expected"),
    [
        (Clash("number", "14 days", "30 days"), FailureKind.NUMBER),
        (Clash("number", "14 days", "14 weeks"), FailureKind.UNIT),
        (Clash("date", "1990", "1991"), FailureKind.DATE),
        (Clash("name", "Atlantis", "Discovery"), FailureKind.ENTITY),
        (Clash("negation", "required", "not required"), FailureKind.POLARITY),
        (Clash("quantifier", "all", "some"), FailureKind.SCOPE),
        (Clash("quantifier", "reduces", "may reduce"), FailureKind.HEDGE),
        (Clash("quantifier", "all may", "some"), FailureKind.SCOPE),
        (Clash("qualifier", "", "with prior approval"), FailureKind.QUALIFIER),
        (Clash("term", "increase", "decrease"), FailureKind.DIRECTION),
        (Clash("term", "public", "private"), FailureKind.OPPOSITE),
        (Clash("term", "teal", "mauve"), FailureKind.TERM),
        (Clash("term", "car", "vehicle"), FailureKind.OTHER),
    ],
)
def test_judges_clash_decides(clash: Clash, expected: FailureKind) -> None:
    """The judge's slot is the op, whatever the words alone would say."""
    found = difference("The shop is open.", ["The shop is open."], clashes=[clash])

    assert found.primary == MeaningChange(expected, clash.claimed, clash.found)


SITE = "The firm opened a large new site near Leeds in 2019 after it sold the old mill."


@pytest.mark.parametrize(
    ("claim", "marked", "expected"),
    [
        (
            "The firm closed a large new site.",
            "closed",
            MeaningChange(FailureKind.OPPOSITE, "closed", "opened"),
        ),
        (
            "The firm opened a small new site.",
            "small",
            MeaningChange(FailureKind.DIRECTION, "small", "large"),
        ),
        ("The firm never opened a site.", "never", MeaningChange(FailureKind.POLARITY, "never")),
        (
            "The firm opened a site before it sold.",
            "before",
            MeaningChange(FailureKind.ORDER, "before"),
        ),
        ("The firm may have opened a site.", "may", MeaningChange(FailureKind.HEDGE, "may")),
        ("The firm opened all sites.", "all", MeaningChange(FailureKind.SCOPE, "all")),
        (
            "The firm opened a site near York.",
            "York",
            MeaningChange(FailureKind.ENTITY, "York", "Leeds"),
        ),
        (
            "The firm opened a site in 2021.",
            "2021",
            MeaningChange(FailureKind.DATE, "2021", "2019"),
        ),
        ("The mill opened a site.", "mill", MeaningChange(FailureKind.MISPLACED, "mill")),
        (
            "The firm opened a minor site.",
            "minor",
            MeaningChange(FailureKind.QUALITY, "minor", "large new"),
        ),
        (
            "The firm opened a site to major in gold.",
            "to major in gold",
            MeaningChange(FailureKind.TERM, "to major in gold"),
        ),
        (
            "The firm opened a gold site.",
            "gold",
            MeaningChange(FailureKind.TERM, "gold", "large new"),
        ),
    ],
)
def test_a_marked_word_tells_by_its_kind(claim: str, marked: str, expected: MeaningChange) -> None:
    """A model says which words are wrong; what kind of words they are says how."""
    assert difference(claim, [SITE], clashes=[Clash("term", marked)]).primary == expected


def test_a_marked_negation_that_the_source_has_too_tells_nothing() -> None:
    """A model that doubts a claim often marks its `not`: the next mark is what differs."""
    marks = [Clash("term", "not"), Clash("term", "files")]

    found = difference("The files are not working.", ["The apps don't work."], clashes=marks)

    assert found.primary == MeaningChange(FailureKind.TERM, "files")


@pytest.mark.parametrize(
    "source", [TRIAL, "The free trial lasts 14 days.", "The trial is free of charge."]
)
def test_nothing_as_an_object_denies_no_word_that_the_source_has(source: str) -> None:
    """A claim that costs nothing neither adds nor drops a negation of how long it lasts."""
    claim = "The trial costs nothing and lasts a fortnight."
    marks = [Clash("term", "nothing"), Clash("term", "fortnight")]

    found = difference(claim, [source], clashes=marks)

    assert FailureKind.POLARITY not in found.kinds


def test_nothing_as_an_object_denies_its_verb() -> None:
    """Where the source has the verb, the negation is added."""
    found = difference(
        "The trial costs nothing.",
        ["The trial costs 5 euros."],
        clashes=[Clash("term", "nothing")],
    )

    assert FailureKind.POLARITY in found.kinds


def test_a_negation_within_a_compound_denies_nothing() -> None:
    """What was never seen before is new."""
    found = difference(
        "A never-before-seen site opened.", [SITE], clashes=[Clash("term", "never-before-seen")]
    )

    assert FailureKind.POLARITY not in found.kinds


@pytest.mark.parametrize("word", ["article", "author", "discusses"])
def test_words_about_the_text_are_no_difference(word: str) -> None:
    """An answer calls a podcast an article; that says nothing about what went wrong."""
    claim = f"The {word} firm opened a gold site."

    alone = difference(claim, [SITE], clashes=[Clash("term", word)])
    beside = difference(claim, [SITE], clashes=[Clash("term", word), Clash("term", "gold")])

    assert word not in (alone.primary.claimed, beside.primary.claimed)
    assert beside.primary == MeaningChange(FailureKind.TERM, "gold", "large new")


def test_a_long_run_of_marked_words_is_an_addition() -> None:
    """Four words of its own are no word in another's place."""
    claim = "The firm opened a site, which painters, weavers, potters and bakers liked."
    marked = "painters, weavers, potters and bakers"

    assert difference(claim, [SITE], clashes=[Clash("term", marked)]).kind is FailureKind.ADDITION


def test_the_surest_marks_come_first() -> None:
    """Of several runs of marked words the first one is the pattern, the others fire too."""
    claim = "The firm never opened a gold site."

    found = difference(claim, [SITE], clashes=[Clash("term", "gold"), Clash("term", "never")])

    assert found.kind is FailureKind.TERM
    assert FailureKind.POLARITY in found.kinds


def test_a_judges_counterpart_goes_before_a_mark() -> None:
    """Values that stand against each other say more than a word that looks wrong."""
    claim = "The firm opened a gold site in 2021."

    found = difference(
        claim, [SITE], clashes=[Clash("term", "gold"), Clash("date", "2021", "2019")]
    )

    assert found.primary == MeaningChange(FailureKind.DATE, "2021", "2019")


def test_denial_by_exclusion_is_an_ignored_exclusion() -> None:
    """A judge that knows no exclusions sees a negation there."""
    found = difference(
        "Cosmetic procedures are covered.",
        [EXCLUDED],
        clashes=[Clash("negation", "covered", "excluded")],
    )

    assert found.kind is FailureKind.EXCLUSION


def test_cue_governs_its_clause() -> None:
    """What a restricting word opens ends with the clause."""
    found = list(cues("All stays, except weekend stays, are refunded.", "exclusion"))

    assert found == [Cue("except", "weekend stays")]


def test_may_the_month_is_no_hedge() -> None:
    """A month's name is not a possibility."""
    assert list(cues("It opened in May 2019.", "hedge")) == []


def test_a_premise_that_a_check_found_goes_before_every_difference() -> None:
    """Whatever the words: the check compared the answer with and without the question."""
    claim = "The policy covers outpatient MRI."
    excluded = "Exclusions: outpatient MRI is not covered."

    found = {
        classify_failure(claim, label, [excluded], status=status, findings=findings).kind
        for label, status, findings in [
            (Label.BASELESS, ClaimStatus.RESTATES_PREMISE, []),
            (Label.CONTRADICTED, ClaimStatus.CONTRADICTED, [Finding("sycophantic", "", claim=0)]),
            (Label.ENTAILED, ClaimStatus.RESTATES_PREMISE, []),
        ]
    }

    assert found == {FailureKind.ECHO}


def test_a_claim_is_compared_with_what_stands_against_it() -> None:
    """A passage that supports it has no difference."""
    supports = Evidence("a", 0, 5, "Fine.", "supports")
    denies = Evidence("b", 0, 5, "Gone.", "contradicts")

    assert source_texts([supports, denies], "") == ("Gone.",)
    assert source_texts([supports], "") == ("Fine.",)
    assert source_texts([], "Near.") == ("Near.",)


CLASHES = st.builds(
    Clash,
    st.sampled_from(["number", "date", "name", "negation", "quantifier", "qualifier", "term"]),
    st.text(max_size=12),
    st.text(max_size=12),
)


@given(
    st.text(),
    st.lists(st.text(), max_size=3),
    st.text(),
    st.lists(CLASHES, max_size=2),
    st.sampled_from([Label.CONTRADICTED, Label.BASELESS]),
)
def test_difference_takes_any_text(
    claim: str, evidence: list[str], question: str, clashes: list[Clash], label: Label
) -> None:
    """Whatever the characters, there is one primary kind and it is among those that were found."""
    found = difference(claim, evidence, question=question, clashes=clashes, label=label)

    assert found.kind in found.kinds


def test_difference_reads_a_bounded_part_of_long_texts() -> None:
    """A megabyte of text is cut, not waited for."""
    long = "the trial lasts 14 days and " * 40_000

    assert difference(long, [long]).kinds == difference(long[:2_000], [long[:2_000]]).kinds
