from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from otel_rt4chart.verify.core.model import AnswerRange, Claim, ClaimStatus, Clash, Label
from rt4chart_collector.demo.helpdesk import Outcome, Role, WrittenSentence, read_helpdesk

TEXT = "Refunds take 9 days."
WRITTEN = WrittenSentence(
    TEXT, 0, len(TEXT), Label.CONTRADICTED, "contradicted", "number", "9 days", "5 days"
)
FAITHFUL = WrittenSentence(TEXT, 0, len(TEXT), Label.ENTAILED, "supported")
STALE = replace(FAITHFUL, status="stale", kind="stale", words=TEXT, found="5 days")
FLAGGED = Claim(
    text=TEXT,
    label=Label.CONTRADICTED,
    local_label=Label.CONTRADICTED,
    confidence=0.9,
    decided_by="local",
    kind="numeric",
    answer_range=AnswerRange(0, len(TEXT)),
    sentence=0,
    clashes=(Clash("number", "9 days", "5 days"),),
    status=ClaimStatus.CONTRADICTED,
)
SUPPORTED = replace(FLAGGED, label=Label.ENTAILED, clashes=(), status=ClaimStatus.SUPPORTED)
UNDECIDED = replace(SUPPORTED, label=Label.UNDECIDED, status=ClaimStatus.UNDECIDED)


@pytest.mark.parametrize(
    ("written", "claim", "outcome"),
    [
        (WRITTEN, FLAGGED, Outcome.RIGHT),
        (WRITTEN, replace(FLAGGED, clashes=()), Outcome.RIGHT),
        (WRITTEN, replace(FLAGGED, clashes=(Clash("term", "Refunds", ""),)), Outcome.OTHER_WORDS),
        (
            WRITTEN,
            replace(FLAGGED, clashes=(Clash("number", "9 days", "7 days"),)),
            Outcome.OTHER_WORDS,
        ),
        (WRITTEN, replace(FLAGGED, label=Label.BASELESS), Outcome.OTHERWISE),
        (WRITTEN, SUPPORTED, Outcome.MISSED),
        (WRITTEN, UNDECIDED, Outcome.SILENT),
        (FAITHFUL, SUPPORTED, Outcome.RIGHT),
        (FAITHFUL, UNDECIDED, Outcome.SILENT),
        (FAITHFUL, FLAGGED, Outcome.FALSE_ALARM),
        (STALE, replace(SUPPORTED, status=ClaimStatus.STALE), Outcome.RIGHT),
        (STALE, replace(SUPPORTED, status=ClaimStatus.CHERRY_PICKED), Outcome.RIGHT),
        (STALE, replace(SUPPORTED, status=ClaimStatus.MISCITED), Outcome.OTHERWISE),
    ],
)
def test_a_verdict_is_right_only_with_the_label_and_the_words_of_the_truth(
    written: WrittenSentence, claim: Claim, outcome: Outcome
) -> None:
    """A verdict for another reason is not right, and an undecided one is not wrong."""
    assert written.compare([claim]) is outcome
    assert outcome.is_wrong is (outcome not in (Outcome.RIGHT, Outcome.SILENT))


def test_the_worst_outcome_of_its_sentences_is_that_of_an_answer() -> None:
    """A false alarm beside a found error makes the answer unfit to be shown."""
    answer = next(iter(read_helpdesk().values()))
    second = replace(FAITHFUL, start=30, end=50)
    both = replace(answer, sentences=(WRITTEN, second))

    def at(claim: Claim, start: int) -> Claim:
        return replace(claim, answer_range=AnswerRange(start, start + 5))

    assert both.outcome([at(FLAGGED, 0), at(SUPPORTED, 30)]) is Outcome.RIGHT
    assert both.outcome([at(FLAGGED, 0), at(FLAGGED, 30)]) is Outcome.FALSE_ALARM


def test_every_written_error_names_its_words_and_those_of_a_passage_that_show_it() -> None:
    """The wrong words are in the sentence; what nothing in the passages shows is baseless."""
    for answer in read_helpdesk().values():
        passages = " ".join(passage.text for passage in answer.passages).lower()
        for one in answer.sentences:
            assert answer.answer[one.start : one.end] == one.text
            assert one.words in one.text
            assert one.found.lower() in passages
            assert bool(one.kind) is bool(one.words)
            assert bool(one.found) or one.kind in {
                "", "addition", "prior_knowledge", "premise", "citation",
            }, answer.id  # fmt: skip


def test_the_help_desk_has_four_routes_and_errors_of_every_kind() -> None:
    """Most sentences are faithful, and the incident's errors are of one kind on one route."""
    answers = read_helpdesk().values()
    sentences = [one for answer in answers for one in answer.sentences]
    kinds = Counter(one.kind for one in sentences if one.kind)
    incident = [answer for answer in answers if answer.role is Role.INCIDENT]

    assert Counter(answer.route for answer in answers) == {
        "support/refunds": 151,
        "support/plans": 121,
        "support/opening-hours": 79,
        "docs/knowledge-base": 135,
    }
    assert sum(not one.kind for one in sentences) > 2 * kinds.total()
    assert set(kinds) == {
        "number", "date", "name", "negation", "opposite", "order", "quantifier", "addition",
        "prior_knowledge", "premise", "exclusion", "qualifier", "stale", "citation",
    }  # fmt: skip
    assert {answer.route for answer in incident} == {"support/refunds"}
    assert {one.kind for answer in incident for one in answer.sentences} == {"", "number"}
    assert all(
        bool([one for one in answer.sentences if one.kind]) is (answer.role is not Role.FAITHFUL)
        for answer in answers
    )
