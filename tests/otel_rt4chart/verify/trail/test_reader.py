"""Which nodes of a trail are read for a claim, and what is said of one that none is read for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import Endpoint, Label, Node, OpenAIJudge, RulesJudge, Tracer
from otel_rt4chart.verify.core.model import DraftClaim, Sentence
from tests.endpoint_server import EndpointServer
from tests.oracle import Oracle, Truth

GERMAN = "Die Probezeit dauert zwei Wochen."
BANANAS, GUEST = "Bananas grow on Mars.", "Guest 7 has swum."
TRIAL = "The trial lasts fourteen days."
GUESTS = " ".join(f"Guest {n} has swum." for n in range(60))
NODES = [Node("pool", f"{GUESTS} {TRIAL}"), Node("answer", "It is.", inputs=("pool",))]


def knowing(claim: str, sentences: Sequence[str]) -> Truth:
    """A model that knows German."""
    return Truth("entailed", (TRIAL if claim == GERMAN else claim,))


@contextmanager
def model() -> Iterator[OpenAIJudge]:
    """The judge behind an endpoint."""
    with EndpointServer(Oracle(judge=knowing)) as server:
        endpoint = Endpoint(base_url=server.base_url, max_retries=0)
        try:
            yield OpenAIJudge(endpoint)
        finally:
            endpoint.close()


def test_where_no_claim_shares_a_word_every_chunk_is_read() -> None:
    """The languages may differ: the judge says what is there, not the words."""
    with model() as judge:
        trail = Tracer(judge).trace(NODES, "answer", [GERMAN])

    assert (trail.claims[0].label, trail.claims[0].error_nodes) == (Label.ENTAILED, ())
    assert [one.text for one in trail.claims[0].path] == [TRIAL]
    assert trail.usage.calls == 4 + 1  # a selection from each chunk, and the verdict


def test_what_the_budget_leaves_unread_is_undecided() -> None:
    """A claim in another language is blamed on nobody then."""
    (claim,) = (
        Tracer(ScriptedJudge({GERMAN: Script(Label.BASELESS)}), max_calls=2)
        .trace(NODES, "answer", [GERMAN])
        .claims
    )

    assert (claim.label, claim.error_nodes) == (Label.UNDECIDED, ())
    assert claim.steps[0].reason.startswith("over_budget")


def test_beside_linked_claims_words_settle_an_unlinked_one_for_a_judge_of_words_alone() -> None:
    """No model has read for it; so where there is one, the claim is undecided."""
    claims = [BANANAS, GUEST]
    (by_words, linked) = Tracer(RulesJudge()).trace(NODES, "answer", claims).claims
    with model() as judge:
        (by_model, found) = Tracer(judge).trace(NODES, "answer", claims).claims

    assert (by_words.label, by_words.error_nodes) == (Label.BASELESS, ("answer",))
    assert (by_model.label, by_model.error_nodes) == (Label.UNDECIDED, ())
    assert by_model.steps[0].reason == "unlinked: no sentence shares a word with it"
    assert linked.label is found.label is Label.ENTAILED


def test_a_claim_without_a_content_word_is_undecided() -> None:
    """That no word links it says nothing."""
    empty, _ = Tracer(RulesJudge()).trace(NODES, "answer", ["It is.", GUEST]).claims

    assert (empty.label, empty.steps[0].reason) == (Label.UNDECIDED, "nothing to check")


class Away(ScriptedJudge):
    """A judge that cannot decompose."""

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """It fails."""
        raise JudgeError("the judge is away")


def test_an_answer_that_could_not_be_decomposed_has_no_trail_of_a_greeting() -> None:
    """Only what may claim something is undecided."""
    nodes = [NODES[0], Node("answer", f"Hello! {GUEST} Is this ok?", inputs=("pool",))]

    trail = Tracer(Away({})).trace(nodes, "answer")

    assert [(one.claim, one.label) for one in trail.claims] == [(GUEST, Label.UNDECIDED)]
