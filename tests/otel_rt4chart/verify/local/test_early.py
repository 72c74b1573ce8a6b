from __future__ import annotations

import pytest

from otel_rt4chart.verify import Exchange, Passage, Verifier
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.local.rules_judge import RulesJudge

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
