from __future__ import annotations

import json

from otel_rt4chart.verify import AnswerLabel, Budget, Exchange, OpenAIJudge, Passage, Verifier
from tests.endpoint_server import Answer, Seen, text
from tests.oracle import Oracle, lines
from tests.otel_rt4chart.verify.llm.served import ENT, ORACLE, POOL, RUNNING, WARM, served


def test_an_answers_budget_is_never_exceeded() -> None:
    """What it does not allow is undecided, with the reason; what was decided stays."""
    with served(ORACLE) as (server, endpoint):
        by_calls = Verifier(
            OpenAIJudge(endpoint), window=3, overlap=1, budget=Budget(calls=4)
        ).verify(RUNNING)
        by_tokens = Verifier(OpenAIJudge(endpoint), budget=Budget(tokens=100)).verify(RUNNING)

    assert by_calls.usage.calls == len(server.seen) == 4
    assert {claim.reason for claim in by_calls.claims} == {"over_budget: 4 calls an answer"}
    assert by_tokens.usage.calls == 0
    assert by_tokens.claims[0].reason == "over_budget: 100 tokens an answer"


def test_long_answers_are_asked_in_parts_side_by_side() -> None:
    """No call grows with the answer."""
    answer = " ".join(f"The pool number {n} is warm." for n in range(45))
    oracle = Oracle(judge=lambda claim, sentences: WARM)
    with served(oracle) as (server, endpoint):
        report = Verifier(OpenAIJudge(endpoint)).verify(Exchange("", POOL.passages, answer))

    assert [claim.label for claim in report.claims] == [ENT] * 45
    asked = [len(lines(one.user.partition("Claims:")[2])) for one in server.seen[3:]]
    assert sorted(asked) == [5, 20, 20]


def test_a_context_over_the_limit_is_compressed_to_what_bears_on_the_claims() -> None:
    """Every sentence is read in some call, none is cut, and the report says it was done."""
    filler = " ".join(f"Room {n} has a window to the garden." for n in range(120))
    passages = [Passage("a", filler), Passage("b", "The pool is heated."), Passage("c", filler)]
    oracle = Oracle({"The pool is warm.": WARM})

    def script(seen: Seen) -> Answer:
        if seen.system.startswith("You pick"):
            told, _, asked = seen.user.partition("Claims:")
            found = [n for n, said in lines(told) if "heated" in said or "Room 7 " in said]
            verdicts = [{"claim": n, "sentences": found} for n, _ in lines(asked)]
            return text(json.dumps({"verdicts": verdicts}))
        return oracle(seen)

    with served(script) as (server, endpoint):
        judge = OpenAIJudge(endpoint, input_limit=600)
        report = Verifier(judge).verify(Exchange("", passages, "The pool is warm."))

    assert report.label is AnswerLabel.ENTAILED
    picked = [one for one in server.seen if one.system.startswith("You pick")]
    assert sum(len(lines(one.user.partition("Claims:")[0])) for one in picked) == 241
    compressed = next(one for one in report.findings if one.name == "context_compressed")
    assert "the 3 most relevant of 241 sentences" in compressed.detail


def test_a_context_that_cannot_be_compressed_is_said_to_be_too_long() -> None:
    """Rather than judged on a part of it."""
    filler = " ".join(f"Room {n} has a window to the garden." for n in range(120))

    def script(seen: Seen) -> Answer:
        if seen.system.startswith("You pick"):
            told, _, asked = seen.user.partition("Claims:")
            every = [n for n, _ in lines(told)]
            verdicts = [{"claim": n, "sentences": every} for n, _ in lines(asked)]
            return text(json.dumps({"verdicts": verdicts}))
        return Oracle()(seen)

    with served(script) as (_, endpoint):
        judge = OpenAIJudge(endpoint, input_limit=600)
        report = Verifier(judge).verify(Exchange("", [Passage("a", filler)], "Room 7 is warm."))

    assert report.label is AnswerLabel.UNDECIDED
    assert report.claims[0].reason.startswith("context_too_long: 120 sentences bear on it")
