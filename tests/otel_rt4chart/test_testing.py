from __future__ import annotations

import pytest

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import AnswerRange, DraftClaim, Label
from otel_rt4chart.verify.text.segment import segment


def test_a_claim_without_a_script_is_an_error_that_names_the_known_ones() -> None:
    """A test that asks what was not scripted fails with what is there."""
    judge = ScriptedJudge({"known": Script(Label.ENTAILED)})
    claim = DraftClaim("unknown", 0, AnswerRange(0, 7))

    with pytest.raises(
        InputError, match=r"expected a claim that has a script \('known'\), got 'unknown'"
    ):
        judge.resolve([claim], segment("Text."), hint=None, question="")


def test_claims_are_found_where_the_answer_says_them() -> None:
    """The script's texts become claims with their ranges, in the answer's order."""
    judge = ScriptedJudge({"b c": Script(Label.ENTAILED), "a": Script(Label.ENTAILED)})

    drafts = judge.decompose(segment("a b c."))

    assert [(d.text, d.range) for d in drafts] == [("a", (0, 1)), ("b c", (2, 5))]
