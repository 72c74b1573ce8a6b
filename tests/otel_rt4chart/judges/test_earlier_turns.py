"""Earlier turns of a conversation as sources: what they support, and what they never do."""

from __future__ import annotations

import pytest

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.judges.answer_verdicts import verify_candidate
from otel_rt4chart.judges.earlier_turns import (
    EARLIER_TURN,
    baseless_claims,
    turn_sources,
    with_earlier_support,
)
from otel_rt4chart.spans.model.verdict import Candidate, Stage, Verdict
from otel_rt4chart.verify import (
    AnswerLabel,
    Budget,
    Endpoint,
    Exchange,
    Label,
    Passage,
    RulesJudge,
    SingleJudge,
    Verifier,
)
from otel_rt4chart.verify.core.model import Action, ClaimStatus

RETURNS = "Cameras can be returned within 30 days of purchase."
SHIPPING = "Return shipping is free for members."
VERIFIER = Verifier(RulesJudge())


def turn(number: int, question: str = "", answer: str = "Yes.", *passages: str) -> Candidate:
    """A turn of a conversation with these passages."""
    found = tuple(Passage(f"kb-{at}", text) for at, text in enumerate(passages, start=1))
    exchange = Exchange(question, found, answer)
    return Candidate(exchange, f"{number:032x}", f"{number:016x}", number, "shop", "chat")


def verified(answer: Candidate, verifier: Verifier = VERIFIER) -> Verdict:
    """The judge's verdict by the answer's own passages."""
    return verify_candidate(answer, verifier, rate=1.0, clock=lambda: 0)


def added(answer: Candidate, *turns: Candidate) -> Verdict:
    """The verdict with what these turns support, the last turn first."""
    sources = turn_sources(answer, turns, max_characters=1_000)
    return with_earlier_support(verified(answer), VERIFIER, sources.passages)


def labels(verdict: Verdict) -> list[Label]:
    """The labels of the claims."""
    return [claim.label for claim in verdict.report.claims] if verdict.report else []


def test_a_passage_of_an_earlier_turn_supports_a_claim() -> None:
    """The evidence names the turn, and the answer has nothing left to be revised."""
    earlier = turn(1, "May I return it?", "Yes.", RETURNS)

    found = added(turn(9, "And the shipping?", f"{SHIPPING} {RETURNS}", SHIPPING), earlier)

    assert found.report is not None
    claim = found.report.claims[1]
    assert labels(found) == [Label.ENTAILED, Label.ENTAILED]
    assert [one.passage_id for one in claim.evidence] == ["1 turn earlier: kb-1"]
    assert (claim.reason, claim.status) == (EARLIER_TURN, ClaimStatus.SUPPORTED)
    assert found.report.label is AnswerLabel.ENTAILED
    assert found.report.advice.action is Action.ACCEPT
    assert not [one for one in found.report.findings if one.claim == 1]
    (seen,) = [one for one in found.candidate.staged if Stage.EARLIER in one.stages]
    assert seen.passage.text == RETURNS


def test_what_a_user_stated_supports_a_claim() -> None:
    """As the words of the user of that turn."""
    earlier = [turn(2, "Thanks."), turn(1, "The camera was bought on 3 May. Can it go back?")]

    answer = turn(9, "And now?", f"The camera was bought on 3 May.\n\n{SHIPPING}", SHIPPING)

    found = added(answer, *earlier)

    assert labels(verified(answer)) == [Label.BASELESS, Label.ENTAILED]
    assert labels(found) == [Label.ENTAILED, Label.ENTAILED]
    assert found.report is not None
    (evidence,) = found.report.claims[0].evidence
    assert evidence.passage_id == "2 turns earlier: user"
    assert evidence.text == "The camera was bought on 3 May."


def test_what_an_assistant_said_supports_nothing() -> None:
    """Neither its answer, nor a user who repeats it, nor what a user asks or only believes."""
    wrong = "Cameras can be returned within 90 days of purchase."
    repeated = turn(2, f"You said: ok.\n{wrong}\nIs that right?", "Yes.")
    believed = turn(3, "I think cameras can be returned within 90 days of purchase.", "Yes.")
    asked = turn(4, "Cameras can be returned within 90 days of purchase, right?", "Yes.")

    found = added(
        turn(9, "?", f"{SHIPPING} {wrong}", SHIPPING), asked, believed, repeated, turn(1, "", wrong)
    )

    assert labels(found) == [Label.ENTAILED, Label.BASELESS]
    assert found.report == verified(turn(9, "?", f"{SHIPPING} {wrong}", SHIPPING)).report


def test_what_the_passages_contradict_stays_contradicted() -> None:
    """An earlier turn may have been about something else."""
    answer = turn(9, "?", "Cameras can be returned within 60 days of purchase.", RETURNS)
    before = verified(answer)

    found = added(
        answer, turn(1, "", "Yes.", "Cameras can be returned within 60 days of purchase.")
    )

    assert labels(before) == [Label.CONTRADICTED]
    assert found == before


def test_earlier_turns_never_contradict() -> None:
    """A claim that they deny is baseless as before."""
    answer = turn(9, "?", f"{SHIPPING} Lenses can be returned within 60 days.", SHIPPING)

    found = added(answer, turn(1, "", "Yes.", "Lenses can be returned within 14 days."))

    assert labels(found) == [Label.ENTAILED, Label.BASELESS]


def test_texts_are_left_out_beyond_the_limit() -> None:
    """The last turn comes first, and what is known already counts once."""
    answer = turn(9, "", "Yes.", SHIPPING)
    turns = [turn(3, "", "Yes.", SHIPPING, RETURNS), turn(2, "", "Yes.", RETURNS, "b" * 60)]

    found = turn_sources(answer, turns, max_characters=len(RETURNS) + 10)

    assert [one.id for one in found.passages] == ["1 turn earlier: kb-2"]
    assert found.left_out == 1


def test_an_exhausted_budget_supports_nothing() -> None:
    """What may not be asked stays baseless."""
    answer = turn(9, "", f"{SHIPPING} {RETURNS}", SHIPPING)
    sources = turn_sources(answer, [turn(1, "", "Yes.", RETURNS)], max_characters=1_000)
    spent = Verifier(RulesJudge(), budget=Budget(seconds=0.0))

    found = with_earlier_support(verified(answer), spent, sources.passages)

    assert labels(found) == [Label.ENTAILED, Label.BASELESS]


def test_a_judge_that_makes_its_own_claims_is_refused() -> None:
    """It cannot be asked about a given claim."""
    answer = turn(9, "", f"{SHIPPING} {RETURNS}", SHIPPING)
    single = Verifier(SingleJudge(Endpoint(api_key="none", base_url="http://nowhere")))

    assert baseless_claims(verified(answer))
    with pytest.raises(InputError):
        with_earlier_support(verified(answer), single, [Passage("1", RETURNS)])
