from __future__ import annotations

import pytest

from otel_rt4chart.verify import Exchange, Passage, Verifier
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.local.rules_judge import RulesJudge
from otel_rt4chart.verify.local.scope import _exceptions

ENGLISH = "The X200 weighs 254 g. Its warranty lasts two years."
GERMAN = "Der X200 wiegt 254 Gramm. Die Garantie gilt zwei Jahre und ist nicht verlängerbar."


def judge(claim: str, *passages: str) -> tuple[Label, str]:
    """The label and the reason of the rules for one claim."""
    retrieved = [Passage(f"p{number}", text) for number, text in enumerate(passages, start=1)]
    found = Verifier(RulesJudge()).verify(Exchange("", retrieved, claim)).claims[0]
    return found.label, found.reason


@pytest.mark.parametrize(
    ("claim", "passages", "problem"),
    [
        ("Der X200 wiegt 300 Gramm.", (ENGLISH,), "the claim is not in English (German)"),
        ("Le X200 n'est pas étanche.", (ENGLISH,), "the claim is not in English (French)"),
        ("The X200 weighs 300 g.", (GERMAN,), "passage p1 is not in English (German)"),
        ("The warranty lasts five years.", (GERMAN,), "passage p1 is not in English (German)"),
        ("Der X200 wiegt 300 Gramm.", (GERMAN,), "the claim is not in English (German)"),
        ("Le X200 n'est pas étanche.", (GERMAN,), "the claim is not in English (French)"),
        ("The lens is made of glass.", (ENGLISH, GERMAN), "passage p2 is not in English (German)"),
    ],
)
def test_what_is_not_in_english_is_undecided(
    claim: str, passages: tuple[str, ...], problem: str
) -> None:
    """Whichever side it is on, and both; the reason says what would read it."""
    assert judge(claim, *passages) == (
        Label.UNDECIDED,
        f"language: {problem}; this judge reads English: set RT4CHART_JUDGE=onnx:PATH to use a "
        "multilingual model",
    )


def test_a_passage_in_another_language_leaves_other_verdicts_alone() -> None:
    """What an English passage supports or contradicts stays so."""
    assert judge("The X200 weighs 254 g.", ENGLISH, GERMAN)[0] is Label.ENTAILED
    assert judge("Its warranty lasts five years.", ENGLISH, GERMAN)[0] is Label.CONTRADICTED


def test_a_copied_sentence_is_entailed_in_any_language() -> None:
    """No judge needs to understand it."""
    assert judge("Der X200 wiegt 254 Gramm.", GERMAN) == (
        Label.ENTAILED,
        "is in the passage word for word",
    )


def test_a_claim_that_only_a_passage_in_another_language_may_support_is_undecided() -> None:
    """Beside a claim that English sentences support, too: linking knows each passage's language."""
    retrieved = [Passage("p1", f"{ENGLISH} It is sold in shops."), Passage("p2", GERMAN)]
    answer = "Its warranty lasts two years. The lens is made of glass."

    found = Verifier(RulesJudge()).verify(Exchange("", retrieved, answer)).claims

    assert [claim.label for claim in found] == [Label.ENTAILED, Label.UNDECIDED]
    assert "passage p2 is not in English (German)" in found[1].reason


TIMES = "Card refunds take 5 to 7 working days, bank transfers take 10 working days."


@pytest.mark.parametrize(
    ("claim", "passage", "is_copy"),
    [
        ("Card refunds take 5 to 7 working days.", TIMES, True),
        ("Card refunds take 10 working days.", TIMES, False),
        ("The pass is valid.", "The pass is valid, if it is signed.", False),
        ("The pass is valid.", "The pass is valid, the ticket is valid if it is signed.", False),
        ("The deal is off.", "The deal is off, the paper said.", False),
        ("The pass is valid.", "The pass is not valid, the ticket is valid.", False),
    ],
)
def test_the_first_of_two_clauses_with_one_verb_is_a_copy(
    claim: str, passage: str, is_copy: bool
) -> None:
    """What follows says it of something else; a condition, a source and a denial do not."""
    assert (judge(claim, passage)[1] == "is in the passage word for word") is is_copy


@pytest.mark.parametrize("unit", ["3 kg ", "1/", "A, B and ", "not 3 "])
def test_too_much_to_compare_is_undecided(unit: str) -> None:
    """A short request must not take minutes of the processor; a shorter claim is judged."""
    label, reason = judge(unit * 1_590, ("bags " + unit) * 5_990)

    assert label is Label.UNDECIDED
    assert reason.startswith(("too_large: a claim of ", "nothing to check"))
    assert not judge("The bag holds 3 kg.", "3 kg " * 5_990)[1].startswith("too_large")


@pytest.mark.parametrize("value", ["1,", "$1", "1%", "5 May 2020, "])
def test_a_claim_of_hundreds_of_values_is_undecided(value: str) -> None:
    """Each was sought in the sums of the others: 4 kB took many seconds. A copy is still one."""
    claim = f"The trial lasts {value * 400} 14 days."

    assert judge(claim, "The trial lasts 14 days unless it is paid.")[1].startswith(
        "too_large: a claim of "
    )
    assert judge(claim, claim)[0] is Label.ENTAILED


def test_a_sentence_is_searched_for_exceptions_once() -> None:
    """Not once for each of a claim's words that it has."""
    before = _exceptions.cache_info().misses

    judge("The bag holds " + "3 kg " * 40, "The sack holds " + "3 kg " * 150)

    assert _exceptions.cache_info().misses - before <= 2
