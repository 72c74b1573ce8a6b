"""A judge's failure by its kind: from the words that a real endpoint's client says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.core.errors import InputError, JudgeError, SettingsError
from otel_rt4chart.judges.answer_verdicts import error_verdict, unverified_verdict, verify_candidate
from otel_rt4chart.judges.judge_failure import KINDS, JudgeFailure, find_judge_failure
from otel_rt4chart.spans.model.verdict import Candidate, Decision
from otel_rt4chart.verify import Exchange, Label, OpenAIJudge, Passage, RulesJudge, Verifier
from otel_rt4chart.verify.core.meter import Budget
from otel_rt4chart.verify.llm.endpoint import Endpoint
from tests.endpoint_server import Answer, EndpointServer, error, hang, text
from tests.oracle import Oracle, Truth

EXCHANGE = Exchange("Is it warm?", (Passage("p1", "The pool is heated."),), "The pool is warm.")
CANDIDATE = Candidate(EXCHANGE, "a" * 32, "b" * 16, 1, "shop", "pools")


def failure_at(
    server: EndpointServer, budget: Budget | None = None, *, timeout_s: float = 30.0
) -> JudgeFailure | None:
    """What a verification with the judge behind that endpoint fails of."""
    with Endpoint(
        base_url=server.base_url,
        api_key="bad",
        max_retries=0,
        timeout_s=timeout_s,
        per_minute=budget,
    ) as endpoint:
        judge = OpenAIJudge(endpoint)
        return find_judge_failure(
            verify_candidate(CANDIDATE, Verifier(judge), rate=1.0, clock=lambda: 1)
        )


@pytest.mark.parametrize(
    ("answer", "kind", "is_passing"),
    [
        (hang(5), "timeout", True),
        (Answer(None), "unreachable", True),
        (error(401, "no"), "key_refused", True),
        (error(404, "no model"), "not_found", True),
        (Answer(b"", 307, {"location": "http://127.0.0.1:9/v1"}), "redirected", True),
        (error(429, "slow down, the request is too large"), "rate_limited", True),
        (error(500, "oops"), "server_error", True),
        (Answer(b"<html>"), "protocol", True),
        (error(400, "maximum context length exceeded"), "too_long", False),
        (error(400, "exceeds the available context size (4096 tokens)"), "too_long", False),
        (error(400, "the content was filtered"), "refused", False),
        (text("{", cut=True), "reply_cut", False),
        (text("I cannot do that."), "unusable_reply", False),
        (text('{"claims": ": 503: cannot be reached, or broke off"}'), "unusable_reply", False),
    ],
)
def test_kind_of_a_failure_says_whether_to_try_again(
    answer: Answer, kind: str, is_passing: bool
) -> None:
    """What is the moment's passes, what is the answer's does not."""
    with EndpointServer([answer]) as server:
        found = failure_at(server, timeout_s=0.2 if kind == "timeout" else 30.0)

    assert found == JudgeFailure(kind, "JudgeError", is_passing)
    assert kind in KINDS


def test_budget_of_a_minute_passes() -> None:
    """The next minute has another one."""
    with EndpointServer(Oracle()) as server:
        found = failure_at(server, Budget(calls=0))

    assert found == JudgeFailure("minute_budget", "JudgeError", True)


def test_answer_that_was_judged_is_no_failure() -> None:
    """By the endpoint or by rules, whatever the label."""
    oracle = Oracle(judge=lambda claim, sentences: Truth("entailed", ("heated",)))
    with EndpointServer(oracle) as server:
        assert failure_at(server) is None
    by_rules = verify_candidate(CANDIDATE, Verifier(RulesJudge()), rate=1.0, clock=lambda: 1)

    assert find_judge_failure(by_rules) is None


@pytest.mark.parametrize("refusal", ["no", ": 503: cannot be reached, or broke off"])
def test_model_that_refuses_has_spoken(refusal: str) -> None:
    """It would refuse again, and it is not broken, whatever it says."""
    with EndpointServer([text("", refusal=refusal)]) as server:
        assert failure_at(server) is None


@pytest.mark.parametrize(
    ("judge", "reason", "is_failure"),
    [
        ("openai/m", "m: 429: slow down", True),
        ("openai/m", "the model's reply was not usable: it lacks this claim", True),
        ("openai/m", "a judge of your own is not sure", False),
        ("onnx/m", "the claim is too long", False),
        ("onnx-spans/m", "the question is too long for the model", False),
        ("local/1", "m: 429: slow down", False),
    ],
)
def test_claim_that_a_judge_left_undecided_on_purpose_is_no_failure(
    judge: str, reason: str, is_failure: bool
) -> None:
    """Only what is known to be a failure is one."""
    made = verify_candidate(CANDIDATE, Verifier(RulesJudge()), rate=1.0, clock=lambda: 1)
    assert made.report is not None
    claim = replace(made.report.claims[0], label=Label.UNDECIDED, reason=reason, decided_by=judge)

    found = find_judge_failure(replace(made, report=replace(made.report, claims=(claim,))))

    assert (found is not None) is is_failure


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (JudgeError("m: 429: slow down"), JudgeFailure("rate_limited", "JudgeError", True)),
        (JudgeError("out of memory"), JudgeFailure("judge", "JudgeError", False)),
        (SettingsError("no key"), JudgeFailure("settings", "SettingsError", False)),
        (InputError("no reply within 3 s"), JudgeFailure("malformed", "InputError", False)),
        (ValueError("sk-123"), JudgeFailure("unexpected", "ValueError", False)),
    ],
)
def test_exception_is_a_failure_too(raised: Exception, expected: JudgeFailure) -> None:
    """A judge's by its words, any other is for good."""
    made = error_verdict(CANDIDATE, raised, verifier="v", rate=1.0, now_ns=1)

    assert find_judge_failure(made) == expected
    assert "sk-123" not in made.error


def test_answer_that_was_left_out_is_no_failure() -> None:
    """Nobody was asked."""
    out = unverified_verdict(CANDIDATE, Decision.NOT_SAMPLED, verifier="v", rate=0.1, now_ns=1)

    assert find_judge_failure(out) is None
