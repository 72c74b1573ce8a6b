"""Answers that failed, from the store back to the judge: counted from end to end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import DraftClaim, Label, OpenAIJudge, Sentence, Verifier
from otel_rt4chart.verify.llm.endpoint import Endpoint
from rt4chart_collector.pipeline.breaker import TEMPORARY_FAILURES
from rt4chart_collector.pipeline.retry import LONGEST_NS, SECOND, WAITS_S
from rt4chart_collector.store.answers.dead_letters import dead_letters
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.engine.connect import Client
from tests.endpoint_server import Answer, EndpointServer, Seen, error
from tests.oracle import Oracle, Truth
from tests.rt4chart_collector.pipeline.line import (
    BAD,
    GOOD,
    Line,
    carriers,
    decisions,
    rollup,
    spans_from,
)

ORACLE = Oracle(
    {
        GOOD: Truth("entailed", ("14 days",)),
        BAD: Truth("contradicted", ("14 days",), "30 days", "14 days"),
    }
)
BUSY = error(429, "slow down")


class Moody:
    """An endpoint that answers, or fails in the way it was told."""

    def __init__(self) -> None:
        self.failing: Answer | None = None
        self.refused = ""

    def __call__(self, seen: Seen) -> Answer:
        """The oracle's reply, unless it fails, or the material is what it refuses."""
        if self.failing is not None:
            return self.failing
        if self.refused and self.refused in seen.user:
            return error(400, "maximum context length exceeded")
        return ORACLE(seen)


@pytest.fixture
def moody() -> Moody:
    """In a good mood."""
    return Moody()


@pytest.fixture
def verifier(moody: Moody) -> Iterator[Verifier]:
    """A verifier whose judge asks that endpoint."""
    with (
        EndpointServer(moody) as server,
        Endpoint(base_url=server.base_url, api_key="bad", max_retries=0) as endpoint,
    ):
        yield Verifier(OpenAIJudge(endpoint))


def test_answers_that_failed_are_verified_when_the_endpoint_is_back(
    client: Client, verifier: Verifier, moody: Moody
) -> None:
    """In the meantime each has a decision; in the end each counts once, and nothing waits."""
    line = Line(client, verifier)
    moody.failing = BUSY
    line.send(1, 2, 3)
    line.after(6)
    failing, waiting = line.decisions(), line.status()["retries_waiting"]
    moody.failing = None
    line.send(4, answer=BAD)
    line.after(WAITS_S[0] + 10)
    line.after(10)

    assert (failing, waiting) == ({("error", "none"): 3}, 3)
    assert line.decisions() == {("verified", "entailed"): 3, ("verified", "contradicted"): 1}
    assert rollup(client) == (4, 4, 3, 1)
    assert carriers(client) == 4
    assert line.status()["retries"] == {"planned": 3, "answered": 3}
    assert line.status()["retries_waiting"] == 0


def test_retries_survive_a_restart(client: Client, verifier: Verifier, moody: Moody) -> None:
    """What waits is in the store, with its attempts and its time."""
    moody.failing = BUSY
    line = Line(client, verifier)
    line.send(1, 2)
    moody.failing = None

    early = Line(client, verifier, now=line.now)
    early.after(1)
    before = early.decisions()
    late = Line(client, verifier, now=line.now)
    late.after(WAITS_S[0] + 10)

    assert before == {("error", "none"): 2}
    assert late.decisions() == {("verified", "entailed"): 2}


def test_flood_pauses_the_judging_and_loses_nothing(
    client: Client, verifier: Verifier, moody: Moody, caplog: pytest.LogCaptureFixture
) -> None:
    """The spans are stored, few answers are tried, and all are verified in the end."""
    line = Line(client, verifier)
    moody.failing = error(500, "oops")
    line.send(*range(1, 31))
    line.after(6)
    paused = line.status()
    tried = line.decisions()
    for _ in range(4):
        line.after(31)
    still = line.decisions()
    moody.failing = None
    for _ in range(60):
        line.after(31)

    assert paused["judging"] == {
        "paused": True,
        "reason": "server_error",
        "next_attempt_s": pytest.approx(24, abs=1),
    }
    assert paused["retries_waiting"] == TEMPORARY_FAILURES
    assert (paused["answers_put_off"], paused["idle"]) == (30 - TEMPORARY_FAILURES, False)
    assert tried == {("error", "none"): TEMPORARY_FAILURES}
    assert still[("error", "none")] <= TEMPORARY_FAILURES + 4
    assert line.decisions() == {("verified", "entailed"): 30}
    assert rollup(client) == (30, 30, 30, 0)
    assert line.status()["idle"] is True
    assert line.status()["judging"] == {"paused": False}
    assert caplog.text.count("postponed answers are verified now") == 1


def test_passages_that_come_while_the_judge_is_paused_are_not_forgotten(
    client: Client, verifier: Verifier, moody: Moody
) -> None:
    """The answer has a decision, so that nobody would look for it."""
    line = Line(client, verifier)
    retrieval, *rest = spans_from(1)
    line.take(rest)
    before = line.decisions()
    moody.failing = BUSY
    line.send(*range(2, 2 + TEMPORARY_FAILURES))
    line.take([retrieval])
    moody.failing = None
    for _ in range(20):
        line.after(31)

    assert before == {("no_context", "none"): 1}
    assert line.decisions() == {("verified", "entailed"): 1 + TEMPORARY_FAILURES}


def test_answer_that_can_never_be_verified_is_a_dead_letter(
    client: Client, verifier: Verifier, moody: Moody
) -> None:
    """With its reason, counted, and the others go on."""
    moody.refused = BAD
    line = Line(client, verifier)
    line.send(1, 3)
    line.send(2, answer=BAD)
    line.after(3600)

    (letter,) = dead_letters(client, since_ns=0)
    assert (letter.reason, letter.error_type, letter.attempts) == ("too_long", "JudgeError", 1)
    assert letter.trace_id.endswith("2")
    assert line.status()["dead_letters"] == {"too_long": 1}
    assert line.decisions() == {("verified", "entailed"): 2, ("error", "none"): 1}


def test_endpoint_that_never_comes_back_ends_in_dead_letters(
    client: Client, verifier: Verifier, moody: Moody
) -> None:
    """After the attempts, no sooner and no later."""
    moody.failing = BUSY
    line = Line(client, verifier)
    line.send(1)
    for wait_s in WAITS_S:
        line.after(wait_s + 70)
        line.after(600)
        line.after(600)

    (letter,) = dead_letters(client, since_ns=0)
    assert (letter.reason, letter.attempts) == ("rate_limited", len(WAITS_S) + 1)
    assert line.status()["retries_waiting"] == 0


def test_answer_whose_spans_are_gone_is_given_up(
    client: Client, verifier: Verifier, moody: Moody
) -> None:
    """When it is as old as a retry may be: it would be looked for for ever."""
    moody.failing = BUSY
    line = Line(client, verifier)
    line.send(1)
    client.command("TRUNCATE TABLE otel_traces")
    line.after(WAITS_S[0] + 10)
    early, waiting = dead_letters(client, since_ns=0), line.status()["retries_waiting"]
    line.after(LONGEST_NS // SECOND)

    (letter,) = dead_letters(client, since_ns=0)
    assert (early, waiting) == ([], 1)
    assert letter.reason == "answer_gone"


@pytest.mark.parametrize("late", [slice(0, 3), slice(1, 3)])
def test_answer_whose_spans_come_late_is_verified(
    client: Client, verifier: Verifier, moody: Moody, late: slice
) -> None:
    """Another process may store them after the first retry is due: all of them, or some."""
    moody.failing = BUSY
    line = Line(client, verifier)
    line.send(1)
    moody.failing = None
    spans = spans_from(1)
    client.command("TRUNCATE TABLE otel_traces")
    insert_spans(client, [span for span in spans if span not in spans[late]])
    line.after(WAITS_S[0] + 10)
    before = line.decisions()
    insert_spans(client, spans[late])
    line.after(2 * WAITS_S[0] + 20)
    line.after(10)

    assert before == {("error", "none"): 1}
    assert line.decisions() == {("verified", "entailed"): 1}
    assert line.status()["retries_waiting"] == 0


class Faulty(ScriptedJudge):
    """A judge with a fault that one answer brings out."""

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """Fail on that answer."""
        if any("30" in sentence.text for sentence in sentences):
            raise RuntimeError("The trial lasts 30 days.")
        return ScriptedJudge.decompose(self, sentences)


def test_fault_is_a_dead_letter_by_its_type(client: Client) -> None:
    """The letter holds none of the message."""
    judge = Faulty({GOOD: Script(Label.ENTAILED, evidence=("14 days",))})
    line = Line(client, Verifier(judge))
    line.send(1)
    line.send(2, answer=BAD)

    (letter,) = dead_letters(client, since_ns=0)
    assert (letter.reason, letter.error_type) == ("unexpected", "RuntimeError")
    assert decisions(client) == {("verified", "entailed"): 1, ("error", "none"): 1}
