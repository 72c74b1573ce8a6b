from __future__ import annotations

from typing import Any

import pytest

from otel_rt4chart.core.errors import InputError, SettingsError
from otel_rt4chart.faithful import assert_faithful
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import Clash, Exchange, Label, Measure, Passage, RulesJudge, Verifier
from otel_rt4chart.verify.local.rules_judge import RULES_ID

PASSAGES = ["The free trial lasts 14 days.", "Refunds are paid within 30 days."]


def test_a_faithful_answer_gives_its_report() -> None:
    """To read on from."""
    report = assert_faithful("The free trial lasts 14 days.", PASSAGES)

    assert report.hallucination_rate == 0.0


def test_an_unfaithful_answer_fails_with_its_words_and_the_evidence() -> None:
    """Whoever reads the failure needs no second look."""
    with pytest.raises(AssertionError) as failure:
        assert_faithful("The free trial lasts 30 days.", PASSAGES[:1], judge="rules")

    assert str(failure.value).splitlines() == [
        f"1 of 1 decided claims unfaithful, 0 of 1 misleading (judge {RULES_ID})",
        "",
        "contradicted: The free trial lasts 30 days.",
        "  answer:   The free trial lasts ⟦30 days⟧.",
        "  contradicts: [p1] The free trial lasts 14 days.",
        "  because:  “30 days” in the answer, “14 days” in passage p1",
    ]


def test_a_share_of_unfaithful_claims_can_be_allowed() -> None:
    """For gates that are tightened step by step."""
    answer = "The free trial lasts 14 days. Breakfast is served on the roof."

    with pytest.raises(AssertionError, match="1 of 2 decided claims"):
        assert_faithful(answer, PASSAGES)
    assert assert_faithful(answer, PASSAGES, max_rate=0.5).hallucination_rate == 0.5


def test_an_undecided_claim_fails_unless_it_is_allowed() -> None:
    """What was not verified is not faithful."""
    judge = ScriptedJudge({"It is warm": Script(Label.UNDECIDED)})

    with pytest.raises(AssertionError, match="undecided: It is warm"):
        assert_faithful("It is warm", PASSAGES, judge=judge)
    assert_faithful("It is warm", PASSAGES, judge=judge, allow_undecided=True)


@pytest.mark.parametrize(
    "passages",
    [
        ["The free trial lasts 14 days."],
        [Passage("a", "The free trial lasts 14 days.")],
        [{"id": "a", "text": "The free trial lasts 14 days."}],
        [{"text": "The free trial lasts 14 days."}],
    ],
)
def test_passages_are_written_as_is_convenient(passages: list[Any]) -> None:
    """Texts, passages, or mappings."""
    assert_faithful("The free trial lasts 14 days.", passages)


@pytest.mark.parametrize(
    "passages",
    ["one text", {"id": "a", "text": "b"}, Passage("a", "b"), None, [7], [{"id": "a"}]],
)
def test_what_is_no_passage_is_an_error(passages: Any) -> None:  # noqa: ANN401
    """A string of passages would be read letter by letter, a mapping key by key."""
    with pytest.raises(InputError, match=r"passages: expected a list|expected passage 1"):
        assert_faithful("It is warm.", passages)


@pytest.mark.parametrize("rate", [float("nan"), 5.0, -0.1, "0.9", None, True])
def test_an_allowed_rate_is_a_share(rate: Any) -> None:  # noqa: ANN401
    """Anything else would let every answer pass, or none."""
    with pytest.raises(InputError, match="from 0 to 1"):
        assert_faithful("The free trial lasts 14 days.", PASSAGES, max_rate=rate)


def test_a_passages_metadata_tell_that_it_is_stale() -> None:
    """Mappings are read as the rows of the command line are."""
    passage = {"id": "a", "text": PASSAGES[0], "metadata": {"status": "superseded"}}

    with pytest.raises(AssertionError, match="stale: The free trial lasts 14 days"):
        assert_faithful("The free trial lasts 14 days.", [passage])


LIMITED = ["The policy covers outpatient MRI when prior authorization has been obtained."]
OMITTED = "The policy covers outpatient MRI."


def test_a_misleading_answer_fails_with_its_status() -> None:
    """Each of its claims is entailed."""
    with pytest.raises(AssertionError) as failure:
        assert_faithful(OMITTED, LIMITED, judge="rules")

    told = str(failure.value)
    assert told.startswith(
        f"0 of 1 decided claims unfaithful, 1 of 1 misleading (judge {RULES_ID})"
    )
    assert "\nqualifier_dropped: The policy covers outpatient MRI.\n" in told
    assert "“when prior authorization has been obtained”" in told


@pytest.mark.parametrize(
    ("answer", "passages", "count", "fails"),
    [
        (OMITTED, LIMITED, "unfaithful", False),
        (OMITTED, LIMITED, "misleading", True),
        (OMITTED, LIMITED, Measure.EITHER, True),
        ("The free trial lasts 30 days.", PASSAGES[:1], "unfaithful", True),
        ("The free trial lasts 30 days.", PASSAGES[:1], "misleading", False),
    ],
)
def test_the_claims_that_fail_an_answer_can_be_narrowed(
    answer: str, passages: list[str], count: str, fails: bool
) -> None:
    """To one of the two kinds of failure."""
    if fails:
        with pytest.raises(AssertionError):
            assert_faithful(answer, passages, count=count, judge="rules")
    else:
        assert assert_faithful(answer, passages, count=count, judge="rules").failures


def test_an_unknown_count_is_an_input_error() -> None:
    """With those that there are."""
    with pytest.raises(InputError, match="count: expected one of unfaithful, misleading, either"):
        assert_faithful("It is warm.", PASSAGES, count="all")


def test_an_unknown_judge_is_named() -> None:
    """With those that there are."""
    with pytest.raises(SettingsError, match="unknown judge 'oracle'"):
        assert_faithful("It is warm.", PASSAGES, judge="oracle")


def test_a_verifier_with_its_own_settings_can_be_given() -> None:
    """Windows, budgets and an endpoint are set there."""
    verifier = Verifier(RulesJudge(), window=1, overlap=0)

    assert assert_faithful("The free trial lasts 14 days.", PASSAGES, judge=verifier).decided == 1


def test_control_characters_do_not_reach_the_terminal() -> None:
    """Answers and passages are untrusted."""
    said = "It is \x1b[31mred\u202e"
    clash = Clash("term", said, "blue\x07")
    judge = ScriptedJudge({said: Script(Label.CONTRADICTED, evidence=("sky",), clashes=(clash,))})

    with pytest.raises(AssertionError) as failure:
        assert_faithful(said, ["The sky \x1b]0;x\x07 is blue."], judge=judge)

    assert str(failure.value).replace("\n", "").isprintable()


@pytest.mark.parametrize("answer", ["", "  \n", None, 7])
def test_an_answer_without_text_is_an_error(answer: Any) -> None:  # noqa: ANN401
    """Else a test of nothing would pass."""
    with pytest.raises(InputError, match="answer: expected a non-empty string"):
        assert_faithful(answer, PASSAGES)


def test_an_answer_that_claims_nothing_passes() -> None:
    """A refusal says nothing that could be wrong; its label tells."""
    assert assert_faithful("I could not find that.", PASSAGES).label == "no_claims"


def test_undecided_claims_are_counted_in_the_first_line() -> None:
    """Zero of zero would read as if nothing had happened."""
    with pytest.raises(AssertionError, match=r"^0 of 0 decided .*, 1 undecided \(judge"):
        assert_faithful("Le petit déjeuner est servi sur le toit avec du café.", PASSAGES)


def test_an_exchange_takes_passages_alone() -> None:
    """A text among them would fail far from where it was given."""
    with pytest.raises(InputError, match="expected every passage to be a Passage, got str"):
        Exchange("", ["a text"], "An answer.")  # type: ignore[list-item]
