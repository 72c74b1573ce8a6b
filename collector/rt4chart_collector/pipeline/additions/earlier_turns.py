"""Reads the earlier turns of a conversation, which may support what an answer says."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.judges.earlier_turns import (
    TurnSources,
    baseless_claims,
    turn_sources,
    with_earlier_support,
)
from otel_rt4chart.sampling import Layers
from otel_rt4chart.sampling.layers import MAX_TURNS
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate, Verdict
from otel_rt4chart.verify import Passage, Verifier
from otel_rt4chart.verify.core.judge import BatchJudge
from rt4chart_collector.core.instruments import EARLIER_TURNS
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.pipeline.decision import read_answers
from rt4chart_collector.store.answers.conversations import traces_of_session
from rt4chart_collector.store.answers.spans import spans_of
from rt4chart_collector.store.engine.connect import Client

DAY_NS = 24 * 3600 * 10**9
# What is read for one answer: the time that it takes, the spans of a turn, the texts of all turns.
MAX_SECONDS, MAX_SPANS, MAX_CHARACTERS = 2.0, 2_000, 100_000
MAX_TURN_BYTES = 4 * 2**20
# A conversation has traces without an answer, too.
TRACES_PER_TURN = 2
TURN_OF_ID = re.compile(r"([0-9]{1,2}) turns? earlier: ")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FoundTurns:
    """The earlier turns of a conversation, the last one first; `missed` counts the unread ones."""

    turns: tuple[Candidate, ...] = ()
    missed: int = 0


class EarlierTurns:
    """Lets earlier turns support the baseless claims of an answer; threads may share it."""

    def __init__(self, metrics: ServiceMetrics, *, layers: Layers, clock: Clock) -> None:
        """`clock` returns nanoseconds."""
        self._metrics = metrics
        self._layers = layers
        self._clock = clock

    def add(
        self, client: Client, verifier: Verifier, verdict: Verdict, spans: Sequence[SpanRecord]
    ) -> Verdict:
        """The verdict with what earlier turns support; `spans` are those of the answer's trace.

        Never raises: if reading them fails, the verdict is as it was.
        """
        candidate, judge = verdict.candidate, verifier.judge
        count = self._layers.earlier_turns(candidate.route)
        is_unable = isinstance(judge, BatchJudge) and judge.one_call
        if not (count and candidate.session) or is_unable or not baseless_claims(verdict):
            return verdict
        started = self._clock()
        try:
            found = find_turns(client, candidate, spans, count)
            sources = turn_sources(candidate, found.turns, max_characters=MAX_CHARACTERS)
            added = with_earlier_support(verdict, verifier, sources.passages)
        except Exception as error:  # noqa: BLE001 - a turn that cannot be read must not lose it
            where = "earlier turns of answer %s of trace %s: %s"
            log.error(where, candidate.span_id, candidate.trace_id, redacted_error(error))
            self._metrics.add(EARLIER_TURNS, "failed")
            return verdict
        self._note(found, sources)
        elapsed = max(self._clock() - started, 0)
        return replace(added, duration_ns=verdict.duration_ns + elapsed)

    def _note(self, found: FoundTurns, sources: TurnSources) -> None:
        self._metrics.add(EARLIER_TURNS, "read", number=len(found.turns))
        self._metrics.add(EARLIER_TURNS, "missed", number=found.missed)
        self._metrics.add(EARLIER_TURNS, "text_left_out", number=sources.left_out)


def find_turns(
    client: Client, answer: Candidate, spans: Sequence[SpanRecord], count: int
) -> FoundTurns:
    """The last `count` turns of the answer's conversation that began before it, within a day.

    A turn counts if its answer has the same session and service. `spans` are those of the answer's
    trace, which may have several turns. One trace is read at a time, so that memory is bounded by
    the largest.
    """
    deadline = Deadline(MAX_SECONDS)
    turns = list(_turns_before(answer, read_answers(client, spans)))
    missed = 0
    traces = traces_of_session(
        client,
        service=answer.service,
        session=answer.session,
        since_ns=answer.start_ns - DAY_NS,
        before_ns=answer.start_ns,
        limit=count * TRACES_PER_TURN,
        seconds=MAX_SECONDS,
    )
    for trace_id in traces:
        if trace_id == answer.trace_id or len(turns) >= count:
            continue
        if deadline.is_over:
            missed += 1
            continue
        trace = spans_of(client, [trace_id], limit=MAX_SPANS + 1, max_bytes=MAX_TURN_BYTES)
        if len(trace) > MAX_SPANS:
            missed += 1
            continue
        turns += _turns_before(answer, read_answers(client, trace))
    turns.sort(key=lambda turn: (-turn.start_ns, turn.trace_id, turn.span_id))
    return FoundTurns(tuple(turns[:count]), missed)


def _turns_before(answer: Candidate, found: Iterable[Candidate]) -> Iterator[Candidate]:
    for turn in found:
        is_same = (turn.session, turn.service) == (answer.session, answer.service)
        if is_same and turn.start_ns < answer.start_ns:
            yield turn


def earlier_passages(
    client: Client, answer: Candidate, spans: Sequence[SpanRecord], names: Iterable[str]
) -> tuple[Passage, ...]:
    """Those of the names that are of an earlier turn, with their texts, as far as stored.

    `names` are ids of passages, such as those that a verdict quotes.
    """
    wanted = {name for name in names if TURN_OF_ID.match(name)}
    if not wanted:
        return ()
    try:
        # As many as ever: those that were asked for then may have stood behind others.
        found = find_turns(client, answer, spans, MAX_TURNS)
    except StoreError as error:
        log.warning("earlier turns of answer %s not read: %s", answer.span_id, error)
        return ()
    sources = turn_sources(answer, found.turns, max_characters=MAX_CHARACTERS)
    return tuple(one for one in sources.passages if one.id in wanted)
