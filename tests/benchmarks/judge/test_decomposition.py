from __future__ import annotations

from benchmarks.judge.decomposition import (
    UNITS,
    decompose_answers,
    find_units,
    sentence_figures,
    span_figures,
    split_sentences,
    unit_figures,
)
from otel_rt4chart.bench.dataset import GoldSpan, LabelledAnswer
from otel_rt4chart.verify.core.model import AnswerLabel, AnswerRange, Exchange, Passage

ANSWER = "Acme covers dental and it requires a referral."
WRONG = AnswerRange(ANSWER.index("dental"), ANSWER.index("dental") + 6)
OTHER = AnswerRange(ANSWER.index("referral"), ANSWER.index("referral") + 8)


def row(answer: str, dataset: str, *spans: AnswerRange, passage: str = "") -> LabelledAnswer:
    """An answer with marked spans."""
    return LabelledAnswer(
        id="1",
        source_id="1",
        task="QA",
        dataset=dataset,
        group="1",
        split="dev",
        exchange=Exchange("", [Passage("p", passage)], answer),
        spans=tuple(GoldSpan(span, "contradicted") for span in spans),
        is_hallucinated=bool(spans),
        label=AnswerLabel.ENTAILED if not spans else None,
    )


def test_a_span_in_a_claim_of_its_own_is_isolated() -> None:
    """The claim leaves out the other clause's words, and the two spans are apart."""
    (found,) = decompose_answers([row(ANSWER, "plans", WRONG, OTHER)])

    assert [claim.text for claim in found.claims] == [
        "Acme covers dental",
        "it requires a referral.",
    ]
    assert span_figures("plans", [found]) == ("plans", 2, 1.0, 0.5, 0.0, 0.0, 1, 1.0)
    assert list(split_sentences([found])) == [
        f"{ANSWER}\n    Acme covers dental\n    it requires a referral."
    ]


def test_a_word_that_no_claim_has_is_lost() -> None:
    """A decomposer that drops a clause is caught by all three figures."""
    found = decompose_answers([row(ANSWER, "plans")])
    dropped = [one._replace(claims=one.claims[:1]) for one in found]

    assert sentence_figures("plans", found)[1:] == (1, 2.0, 1.0, 3.5, 0.0, 1.0, 1.0)
    assert sentence_figures("plans", dropped)[1:6] == (1, 1.0, 0.0, 3.0, 0.4)


def test_a_content_unit_is_looked_for_in_one_claim() -> None:
    """Its claim says nothing else, while its sentence does."""
    unit = row("Acme covers dental.", UNITS, passage=ANSWER)

    assert unit_figures(UNITS, find_units([unit])) == (UNITS, 1, 1.0, 0.0, 0.4)
