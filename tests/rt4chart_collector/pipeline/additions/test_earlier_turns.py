"""Earlier turns in the pipeline: a conversation goes in, and its last answer is supported by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

import pytest

from otel_rt4chart.sampling.layers import parse_layers
from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Stage
from otel_rt4chart.verify import Claim, Label, RulesJudge, Verifier
from rt4chart_collector.core.instruments import EARLIER_TURNS
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline.additions import earlier_turns
from rt4chart_collector.pipeline.additions.earlier_turns import earlier_passages
from rt4chart_collector.pipeline.additions.verdict_additions import verdict_additions
from rt4chart_collector.store.answers.claims import claims_of
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.answers.verifications import verifications_of_trace
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.chain_app import assembled
from tests.rt4chart_collector.conversation_app import RETURNS, SHIPPING, turn
from tests.rt4chart_collector.one_worker import OneWorker

SECOND = 1_000_000_000
Handle = Callable[..., list[Claim]]


@pytest.fixture
def metrics() -> ServiceMetrics:
    """Nothing counted."""
    return ServiceMetrics()


@pytest.fixture
def handle(client: Client, metrics: ServiceMetrics) -> Handle:
    """Stores spans, verifies the last trace, and returns the claims of its answer."""
    clock = count(2_000_000_000 * SECOND, SECOND)
    verifier = Verifier(RulesJudge())

    def now() -> int:
        return next(clock)

    def verify(*traces: Sequence[SpanRecord], layers: str = "earlier_turns=3") -> list[Claim]:
        chosen = parse_layers(layers)
        additions = verdict_additions(verifier, metrics, layers=chosen, calls=60, clock=now)
        worker = OneWorker(client, verifier, now, metrics=metrics, additions=additions)
        for spans in traces:
            insert_spans(client, spans)
        worker.handle([assembled(traces[-1])])
        (found,) = verifications_of_trace(client, traces[-1][0].trace_id)
        return list(claims_of(client, [found.key])[found.key])

    return verify


def test_an_answer_is_supported_by_a_turn_before_it(
    client: Client, handle: Handle, metrics: ServiceMetrics
) -> None:
    """Before that turn has a verdict: its spans are stored."""
    first = turn("May I return it?", RETURNS, "Yes.")
    second = turn("And the shipping?", SHIPPING, f"{SHIPPING} {RETURNS}")

    claims = handle(first, second)

    assert [claim.label for claim in claims] == [Label.ENTAILED, Label.ENTAILED]
    assert [one.passage_id for one in claims[1].evidence] == ["1 turn earlier: kb-1"]
    (found,) = verifications_of_trace(client, second[0].trace_id)
    assert found.counts.unfaithful == 0
    seen = [one for one in found.passages if Stage.EARLIER in one.stages]
    assert [(one.id, one.is_context) for one in seen] == [("1 turn earlier: kb-1", False)]
    assert metrics.counts(EARLIER_TURNS)["read",] == 1
    # Whoever reads the answer later finds the text again.
    (candidate,) = find_candidates(second)
    (again,) = earlier_passages(client, candidate, second, [one.id for one in found.passages])
    assert (again.id, again.text) == ("1 turn earlier: kb-1", RETURNS)


@pytest.mark.parametrize("key", ["gen_ai.conversation.id", "langfuse.session.id"])
def test_the_session_is_read_in_every_convention(handle: Handle, key: str) -> None:
    """A turn and the next one may name it differently."""
    first = turn("May I return it?", RETURNS, "Yes.", key=key)

    claims = handle(first, turn("And the shipping?", SHIPPING, f"{SHIPPING} {RETURNS}"))

    assert [claim.label for claim in claims] == [Label.ENTAILED, Label.ENTAILED]


@pytest.mark.parametrize(
    "layers", ["earlier_turns=0", "trail=1", "earlier_turns=3; chat: earlier_turns=0"]
)
def test_no_turn_is_read_unless_it_is_switched_on(
    handle: Handle, metrics: ServiceMetrics, layers: str
) -> None:
    """For all routes or for this one."""
    first = turn("May I return it?", RETURNS, "Yes.")

    claims = handle(first, turn("?", SHIPPING, f"{SHIPPING} {RETURNS}"), layers=layers)

    assert [claim.label for claim in claims] == [Label.ENTAILED, Label.BASELESS]
    assert metrics.counts(EARLIER_TURNS)["read",] == 0


def test_other_conversations_and_later_turns_support_nothing(handle: Handle) -> None:
    """The same session of another service is another conversation."""
    others = [
        turn("?", RETURNS, "Yes.", session="chat-8"),
        turn("?", RETURNS, "Yes.", service="blog"),
        turn("?", RETURNS, "Yes.", key="note"),
    ]
    last = turn("?", SHIPPING, f"{SHIPPING} {RETURNS}")
    later = turn("?", RETURNS, "Yes.")

    claims = handle(*others, later, last)

    assert [claim.label for claim in claims] == [Label.ENTAILED, Label.BASELESS]


def test_only_the_last_turns_are_read(handle: Handle) -> None:
    """What was said before them supports nothing."""
    first = turn("May I return it?", RETURNS, "Yes.")
    others = [turn("?", f"Lens {n} costs {n} euros.", "Yes.") for n in range(2)]
    last = turn("?", SHIPPING, f"{SHIPPING} {RETURNS}")

    claims = handle(first, *others, last, layers="earlier_turns=2")
    again = handle(turn("?", SHIPPING, f"{SHIPPING} {RETURNS}"), layers="earlier_turns=9")

    assert claims[1].label is Label.BASELESS
    assert again[1].label is Label.ENTAILED


def test_a_turn_of_too_many_spans_is_missed(
    handle: Handle, metrics: ServiceMetrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The metric says so; the verdict is that of the answer's own passages."""
    monkeypatch.setattr(earlier_turns, "MAX_SPANS", 2)
    first = turn("May I return it?", RETURNS, "Yes.")

    claims = handle(first, turn("?", SHIPPING, f"{SHIPPING} {RETURNS}"))

    assert claims[1].label is Label.BASELESS
    assert metrics.counts(EARLIER_TURNS)["missed",] == 1


def test_a_failure_leaves_the_verdict_as_it_was(
    handle: Handle, metrics: ServiceMetrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is counted."""

    def broken(*_: object, **__: object) -> list[str]:
        raise RuntimeError("no")

    monkeypatch.setattr(earlier_turns, "traces_of_session", broken)

    claims = handle(turn("?", SHIPPING, f"{SHIPPING} {RETURNS}"))

    assert claims[1].label is Label.BASELESS
    assert metrics.counts(EARLIER_TURNS)["failed",] == 1
