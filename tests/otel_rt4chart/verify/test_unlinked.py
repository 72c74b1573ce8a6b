"""Claims that no sentence is like: who is asked about them, and who need not be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import (
    CascadeJudge,
    Claim,
    Endpoint,
    Exchange,
    Label,
    OpenAIJudge,
    Passage,
    Verifier,
)
from tests.endpoint_server import EndpointServer
from tests.oracle import Oracle, Truth, lines

KIDS, OPENS = "Kids pay nothing.", "The museum opens at nine."
FREE = "Children under six enter free of charge."
HALLS = " ".join(f"Hall {n} of the museum shows paintings." for n in range(40))
SHORT = Exchange("", [Passage("p", f"{FREE} {OPENS}")], f"{KIDS} {OPENS}")
LONG = Exchange("", [Passage("p", f"{FREE} {OPENS} {HALLS}")], f"{KIDS} {OPENS}")


@dataclass
class Near:
    """An embedder for which all texts are `cosine` near, or that fails."""

    cosine: float = 0.0
    fails: bool = False

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One unit vector a text; Kids lie apart from the rest."""
        if self.fails:
            raise JudgeError("the embedder is away")
        apart = [self.cosine, (1 - self.cosine**2) ** 0.5]
        return [apart if text == KIDS else [1.0, 0.0] for text in texts]


def knowing(claim: str, sentences: Sequence[str]) -> Truth:
    """A model that knows what kids are."""
    return Truth("entailed", ("Children" if claim == KIDS else "opens at nine",))


@contextmanager
def asked() -> Iterator[tuple[OpenAIJudge, list[list[str]]]]:
    """A judge behind an endpoint, and the claims of each of its calls that label."""
    calls: list[list[str]] = []
    with EndpointServer(Oracle(judge=knowing)) as server:
        endpoint = Endpoint(base_url=server.base_url, max_retries=0)
        try:
            yield OpenAIJudge(endpoint), calls
        finally:
            endpoint.close()
        told = [one.user.partition("\nClaims:\n")[2] for one in server.chats]
        calls += [[claim for _, claim in lines(one)] for one in told if one]


def first(verifier: Verifier, exchange: Exchange, *, strict: bool = False) -> Claim:
    """The verdict on the kids."""
    return verifier.verify(exchange, strict=strict).claims[0]


@pytest.mark.parametrize("exchange", [SHORT, LONG])
def test_an_endpoint_judge_reads_a_claim_in_other_words(exchange: Exchange) -> None:
    """A paraphrase without a common word is not baseless for its words alone."""
    with asked() as (judge, _):
        kids = first(Verifier(judge), exchange)

    assert (kids.label, kids.decided_by) == (Label.ENTAILED, judge.id)
    assert [one.text for one in kids.evidence] == [FREE]


def test_a_claim_in_other_words_costs_no_chunk_a_call() -> None:
    """It is judged with the others on the whole context, and has no local label of its own."""
    with asked() as (judge, calls):
        kids = first(Verifier(judge), LONG)

    assert kids.local_label is None
    assert [sorted(one) for one in calls] == [[OPENS], [KIDS, OPENS]]


def test_meaning_that_was_compared_settles_it() -> None:
    """Neither words nor meaning are like any sentence's: nobody is asked."""
    with asked() as (judge, calls):
        far = first(Verifier(judge, embedder=Near(0.1)), SHORT)
        near = first(Verifier(judge, embedder=Near(0.9)), SHORT)
        unknown = first(Verifier(judge, embedder=Near(fails=True)), SHORT)

    assert (far.label, far.reason, far.decided_by) == (Label.BASELESS, "unlinked", "link")
    assert calls[0] == [OPENS]
    assert near.label is unknown.label is Label.ENTAILED


@pytest.mark.parametrize(("strict", "by"), [(False, "words/1"), (True, "openai")])
def test_in_a_cascade_it_has_a_judge(strict: bool, by: str) -> None:
    """The first judge's word counts where it is sure; a strict route asks the second."""
    scripts = {KIDS: Script(Label.BASELESS), OPENS: Script(Label.ENTAILED, (), ("opens",))}
    with asked() as (judge, _):
        words = ScriptedJudge(scripts, id="words/1")
        kids = first(Verifier(CascadeJudge(words, judge)), SHORT, strict=strict)

    assert kids.decided_by.startswith(by)
    assert kids.label is (Label.ENTAILED if strict else Label.BASELESS)
    assert kids.reason != "unlinked"
