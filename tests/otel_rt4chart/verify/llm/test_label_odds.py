"""A model's confidence: the probability of its label's tokens, a majority, or none."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from math import exp, log

import pytest

from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import (
    CascadeJudge,
    DraftClaim,
    Hint,
    Judgement,
    OpenAIJudge,
    Report,
    Sentence,
    SingleJudge,
    Verifier,
)
from otel_rt4chart.verify.core.json_rows import claim_rows
from otel_rt4chart.verify.llm.conversation import Completion, TokenOdds, with_label_odds
from otel_rt4chart.verify.llm.prompt import Prompt, PromptMessage
from otel_rt4chart.verify.llm.protocol import Dialect
from tests.endpoint_server import Answer, Seen, as_json, error, text
from tests.oracle import Oracle
from tests.otel_rt4chart.verify.llm.served import ENT, POOL, WARM, served
from tests.otel_rt4chart.verify.llm.test_card import EXPECTED, HUBBLE

MODEL = Oracle({"The pool is warm.": WARM})


def with_tokens(reply: Answer, probability: float) -> Answer:
    """The reply with its tokens: those of a label share this probability, others have 1."""
    body = json.loads(reply.body or b"")
    said = body["choices"][0]["message"]["content"]
    pieces = re.findall(r"[a-z]{3}|\w+|\W", said)
    labels = [match.span(1) for match in re.finditer(r'"label": "(\w+)"', said)]
    content, at = [], 0
    for piece in pieces:
        part = next(((s, e) for s, e in labels if s <= at < e), None)
        inside = sum(part[0] <= where < part[1] for where in starts(pieces)) if part else 1
        odds = log(probability) / inside if part else 0.0
        content.append({"token": piece, "logprob": odds, "bytes": None, "top_logprobs": []})
        at += len(piece)
    body["choices"][0]["logprobs"] = {"content": content, "refusal": None}
    return as_json(body)


def starts(pieces: list[str]) -> list[int]:
    """Where each piece begins."""
    found, at = [], 0
    for piece in pieces:
        found.append(at)
        at += len(piece)
    return found


def confident(probability: float, seen: Seen) -> Answer:
    """The right answer, with these tokens where they were asked for."""
    reply = MODEL(seen)
    return with_tokens(reply, probability) if seen.body.get("logprobs") else reply


@pytest.mark.parametrize("kind", [OpenAIJudge, SingleJudge])
def test_the_confidence_is_the_probability_of_the_labels_tokens(
    kind: type[OpenAIJudge | SingleJudge],
) -> None:
    """It is asked for where labels are, and nowhere else."""
    with served(lambda seen: confident(0.83, seen)) as (server, endpoint):
        report = Verifier(kind(endpoint)).verify(POOL)

    assert report.claims[0].label is ENT
    assert report.claims[0].confidence == pytest.approx(0.83, abs=1e-5)
    asked = ["label" in json.dumps(seen.body["response_format"]) for seen in server.seen]
    assert [bool(seen.body.get("logprobs")) for seen in server.seen] == asked


def test_the_card_has_the_probability_too() -> None:
    """Each of its claims has its own label's."""
    reply = text(json.dumps(EXPECTED))
    with served(lambda seen: with_tokens(reply, 0.6)) as (_, endpoint):
        report = Verifier(SingleJudge(endpoint, form="card")).verify(HUBBLE)

    assert [one.confidence for one in report.claims] == [pytest.approx(0.6, abs=1e-5)] * 4


def silent(report: Report) -> bool:
    """True where the claim has a label and no confidence."""
    return report.claims[0].label is ENT and report.claims[0].confidence is None


def test_without_votes_and_probabilities_there_is_no_confidence() -> None:
    """It was 1, which nobody had said; JSON has null, and an answer is not escalated for it."""
    with served(MODEL) as (_, endpoint):
        report = Verifier(OpenAIJudge(endpoint)).verify(POOL)

    assert silent(report)
    assert claim_rows(report.claims)[0]["confidence"] is None
    assert report.advice.action == "accept"


def test_an_endpoint_that_refuses_the_parameter_is_asked_without_it() -> None:
    """Once, and it is remembered."""

    def script(seen: Seen) -> Answer:
        if "logprobs" in seen.body:
            return error(400, "logprobs are not supported with this model")
        return MODEL(seen)

    with served(script) as (server, endpoint):
        verifier = Verifier(OpenAIJudge(endpoint))
        first = verifier.verify(POOL)
        before = len(server.seen)
        second = Verifier(OpenAIJudge(endpoint)).verify(POOL)

    assert silent(first)
    assert silent(second)
    assert sum("logprobs" in seen.body for seen in server.seen) == 1
    assert len(server.seen) == 2 * before - 1


def test_an_error_that_names_nothing_may_mean_the_probabilities() -> None:
    """They are left out before structured output is."""
    spoken = Dialect()

    less = spoken.without("Bad request", sends_logprobs=True)

    assert less == Dialect(has_logprobs=False)
    assert less is not None
    assert less.without("Bad request", sends_logprobs=True) == Dialect("none", has_logprobs=False)


def completion(said: str, *tokens: tuple[str, float]) -> str:
    """The reply as its parser gets it."""
    odds = tuple(TokenOdds(token.encode(), logprob) for token, logprob in tokens)
    return with_label_odds(Completion(said, tokens=odds))


def test_only_the_tokens_of_the_label_count() -> None:
    """Also where a token reaches over its quotes."""
    said = '{"label": "entailed"}'
    tokens = (('{"label":', -9.0), (' "ent', -0.1), ("ailed", -0.2), ('"}', -9.0))

    assert json.loads(completion(said, *tokens))["label_probability"] == pytest.approx(
        exp(-0.3), abs=1e-5
    )


def test_a_character_of_several_tokens_loses_no_probability() -> None:
    """Servers list the bytes of a token that is a part of a character; its text says nothing."""
    said = '{"claimed": "\N{SLEUTH OR SPY}", "label": "baseless"}'
    spy = "\N{SLEUTH OR SPY}".encode()
    pieces = [b'{"claimed": "', spy[:3], spy[3:], b'", "label": "', b"base", b"less", b'"}']
    content = [
        {"token": piece.decode(errors="replace"), "bytes": list(piece), "logprob": logprob}
        for piece, logprob in zip(pieces, (-9, -9, -9, -9, -0.1, -0.3, -9), strict=True)
    ]
    body = json.loads(text(said).body or b"")
    body["choices"][0]["logprobs"] = {"content": content}
    prompt = Prompt((PromptMessage("user", "Judge."),), "reply", {}, 50, 42, asks_odds=True)
    with served(lambda seen: as_json(body)) as (_, endpoint):
        (reply,) = endpoint.send([prompt])

    assert isinstance(reply, Completion)
    assert json.loads(with_label_odds(reply))["label_probability"] == pytest.approx(
        exp(-0.4), abs=1e-5
    )


def test_alternatives_of_tokens_are_asked_for_where_they_may_be() -> None:
    """One, since some servers send twenty of each token; an endpoint may refuse to be told."""

    def script(seen: Seen) -> Answer:
        if "top_logprobs" in seen.body:
            return error(400, "Unsupported parameter: 'top_logprobs'")
        return confident(0.83, seen)

    with served(script) as (server, endpoint):
        report = Verifier(OpenAIJudge(endpoint)).verify(POOL)

    assert report.claims[0].confidence == pytest.approx(0.83, abs=1e-5)
    assert [one.body["top_logprobs"] for one in server.seen if "top_logprobs" in one.body] == [1]


def test_tokens_around_the_reply_are_left_out() -> None:
    """As llama.cpp tells them: it cuts a code fence off the text alone."""
    said = '{"label": "entailed"}'
    tokens = (
        ("```", -4.0),
        ("json\n", -5.0),
        ('{"label": "', -9.0),
        ("ent", -0.1),
        ("ailed", -0.2),
    )
    rest = (('"}', -9.0), ("\n```", -3.0), ("", -1.0))

    assert json.loads(completion(said, *tokens, *rest))["label_probability"] == pytest.approx(
        exp(-0.3), abs=1e-5
    )


def test_tokens_that_are_not_the_reply_are_not_used() -> None:
    """A server may tell others, or parts of characters."""
    said = '{"label": "entailed"}'

    assert completion(said, ("something else", -0.1)) == said


def test_what_a_model_says_of_its_own_certainty_is_no_probability() -> None:
    """A passage may have told it to be sure."""
    said = '{"label": "entailed", "label_probability": 1.0}'

    assert "label_probability" not in json.loads(completion(said))


class Plain(ScriptedJudge):
    """A judge of the user's own that states no confidence."""

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Hint | None,
        question: str,
    ) -> Sequence[Judgement]:
        """The scripted labels."""
        found = super().resolve(claims, context, hint=hint, question=question)
        return [replace(one, confidence=None) for one in found]


def test_a_verdict_without_confidence_goes_to_the_next_judge() -> None:
    """It is not known to be certain; a threshold of zero keeps every verdict."""
    plain = Plain({"The pool is warm": Script(ENT, evidence=("heated",))})
    with served(MODEL) as (_, endpoint):
        judges = [CascadeJudge(plain, OpenAIJudge(endpoint), at) for at in (0.5, 0.0)]
        asked, kept = (Verifier(judge).verify(POOL).claims[0] for judge in judges)

    assert asked.decided_by.startswith("openai/")
    assert kept.decided_by == plain.id
