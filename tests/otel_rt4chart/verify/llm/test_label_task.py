from __future__ import annotations

from otel_rt4chart.verify.core.judge import Assess, Hint, Resolve
from otel_rt4chart.verify.core.model import AnswerRange, Chunk, DraftClaim, Judgement, Label
from otel_rt4chart.verify.llm.label_task import ResolveGroup, merge_resolves, reply_part
from otel_rt4chart.verify.text.segment import segment

CONTEXT = segment("The pool is heated. Dogs are welcome.")
CHUNK = Chunk(0, CONTEXT)
A, B, C = (DraftClaim(text, 0, AnswerRange(0, 1)) for text in "ABC")
FOUND = Hint(Label.ENTAILED, CHUNK)


def test_claims_on_the_same_context_share_a_question_with_their_own_hints() -> None:
    """And each question finds its part of the reply again."""
    questions = (
        Resolve((A, B), CONTEXT, FOUND, "q"),
        Assess((A,), CHUNK, "q"),
        Resolve((C,), CONTEXT, None, "q"),
        Resolve((C,), CONTEXT[:1], None, "q"),
    )

    asked, places = merge_resolves(questions)

    assert asked == [
        ResolveGroup((A, B, C), (FOUND, FOUND, None), CONTEXT, "q", bare=False),
        questions[1],
        ResolveGroup((C,), (None,), CONTEXT[:1], "q", bare=False),
    ]
    a, b, c, x, z = (Judgement(Label.BASELESS, reason=name) for name in "abcxz")
    replies = [[a, b, c], [x], [z]]
    assert [reply_part(replies[place.at], place) for place in places] == [[a, b], [x], [c], [z]]


def test_an_error_is_the_reply_to_all_that_were_joined() -> None:
    """Nobody is left without an answer."""
    _, places = merge_resolves(
        [Resolve((A,), CONTEXT, None, ""), Resolve((B,), CONTEXT, FOUND, "")]
    )
    error = ValueError("down")

    assert [reply_part(error, place) for place in places] == [error, error]
