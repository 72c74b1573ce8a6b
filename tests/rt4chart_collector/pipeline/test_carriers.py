"""The spans with verdicts: beside the answer, once for each answer and judge, and no answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from otel_rt4chart.core.semconv import SCOPE_NAME, CarrierPlace
from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify import RulesJudge, Verifier
from rt4chart_collector.pipeline.decision import decide, read_answers, save_outcomes
from rt4chart_collector.pipeline.recovery import Retries
from rt4chart_collector.pipeline.retry import AnswerOutcome, postponed_letter
from rt4chart_collector.store.answers.dead_letters import due_letters, insert_letters
from rt4chart_collector.store.answers.spans import (
    insert_spans,
    span_count,
    spans_of,
    unverified_traces,
)
from rt4chart_collector.store.answers.verdicts import already_decided
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.pipeline.line import START, Line, decisions, spans_from
from tests.rt4chart_collector.records import SECOND

VERIFIER = Verifier(RulesJudge())
JUDGE = VERIFIER.judge.id


class KilledError(BaseException):
    """The process is dead: nobody handles this."""


class MortalClient(Client):
    """A client of a process that dies at its first insert into a table, and then does not."""

    fatal_table = ""

    def insert(self, table: str, *args: object, **options: object) -> int:
        """Insert, unless it is the moment to die."""
        if table == self.fatal_table:
            self.fatal_table = ""
            raise KilledError
        return super().insert(table, *args, **options)  # type: ignore[arg-type]


def verdict_on(number: int, *, now_ns: int = START) -> Verdict:
    """What the judge says on the answer of that trace."""
    (candidate,) = find_candidates(spans_from(number))
    return decide(candidate, VERIFIER, rate=1.0, clock=lambda: now_ns)


def stored_carriers(client: Client) -> list[tuple[str, str, str]]:
    """Trace, parent and linked span of each span with a verdict, as they lie in the table."""
    rows = client.query(
        "SELECT TraceId, ParentSpanId, Links.SpanId[1] FROM otel_traces "
        "WHERE ScopeName = {scope:String} ORDER BY TraceId",
        {"scope": SCOPE_NAME},
    ).result_rows
    return [tuple(row) for row in rows]


def work(client: Client, numbers: Sequence[int], **options: CarrierPlace) -> None:
    """What a worker does with answers: decide those without a decision, each a little later."""
    made = [verdict_on(number, now_ns=START + number * SECOND) for number in numbers]
    known = already_decided(client, [one.candidate for one in made], JUDGE)
    fresh = [one for one in made if (one.candidate.trace_id, one.candidate.span_id) not in known]
    save_outcomes(client, [AnswerOutcome(one) for one in fresh], "1", **options)


def test_verdict_stands_below_its_answer(client: Client) -> None:
    """In the answer's trace, with the answer's span as its parent and as its one link."""
    insert_spans(client, spans_from(1))
    work(client, [1])

    candidate = verdict_on(1).candidate
    answer = (candidate.trace_id, candidate.span_id, candidate.span_id)
    assert stored_carriers(client) == [answer]


def test_verdict_stands_in_a_trace_of_its_own_by_option(client: Client) -> None:
    """As the root, with the same link."""
    insert_spans(client, spans_from(1))
    work(client, [1], place=CarrierPlace.OWN)

    candidate = verdict_on(1).candidate
    ((trace_id, parent, linked),) = stored_carriers(client)
    assert (trace_id != candidate.trace_id, parent, linked) == (True, "", candidate.span_id)


@pytest.mark.parametrize("table", ["rt4chart_claims", "rt4chart_verifications"])
@pytest.mark.parametrize("place", list(CarrierPlace))
def test_answer_has_one_carrier_after_a_kill(
    client: Client, table: str, place: CarrierPlace
) -> None:
    """The process dies after the carriers are stored and before the decisions are.

    The next one decides on other answers in the same batch, so no insert is a repeated one.
    """
    mortal = MortalClient(client._driver, client.target)
    mortal.fatal_table = table
    with pytest.raises(KilledError):
        work(mortal, [1, 2], place=place)
    assert (len(stored_carriers(client)), decisions(client)) == (2, {})

    work(mortal, [1, 2, 3], place=place)

    assert len(stored_carriers(client)) == 3
    assert decisions(client) == {("verified", "entailed"): 3}


def test_answer_has_one_carrier_where_the_kill_came_between_a_span_and_its_index(
    client: Client,
) -> None:
    """The table of traces' times is filled after the spans: it does not say what is stored."""
    mortal = MortalClient(client._driver, client.target)
    mortal.fatal_table = "rt4chart_claims"
    with pytest.raises(KilledError):
        work(mortal, [1])
    client.command("TRUNCATE TABLE otel_traces_trace_id_ts")

    work(client, [1, 2])

    assert len(stored_carriers(client)) == 2


def test_answer_has_one_carrier_where_the_place_was_changed_after_a_kill(client: Client) -> None:
    """The one in the other place counts."""
    mortal = MortalClient(client._driver, client.target)
    mortal.fatal_table = "rt4chart_claims"
    with pytest.raises(KilledError):
        work(mortal, [1], place=CarrierPlace.OWN)

    work(client, [1, 2], place=CarrierPlace.TRACE)

    assert len(stored_carriers(client)) == 2


def test_each_judge_has_its_own_carrier(client: Client) -> None:
    """Two judges' verdicts on one answer stand side by side."""
    (candidate,) = find_candidates(spans_from(1))
    for verifier in (VERIFIER, Verifier(RenamedJudge())):
        made = decide(candidate, verifier, rate=1.0, clock=lambda: START)
        save_outcomes(client, [AnswerOutcome(made)], "1")

    assert len(stored_carriers(client)) == 2


class RenamedJudge(RulesJudge):
    """Another judge by its id alone."""

    id = "rules/other"


def test_verdicts_in_a_trace_are_no_spans_of_the_application(client: Client) -> None:
    """The trace reads as before: the same answers, nothing undecided, the same number of spans."""
    insert_spans(client, spans_from(1))
    work(client, [1])
    trace_id = verdict_on(1).candidate.trace_id

    stored = spans_of(client, [trace_id])

    assert (len(stored), span_count(client, trace_id)) == (4, 3)
    assert [key_of(one) for one in stored if one.is_verdict] != []
    assert read_answers(client, stored) == find_candidates(spans_from(1))
    assert unverified_traces(client, JUDGE, 0, 9) == []
    assert unverified_traces(client, "another/1", 0, 9) == [trace_id]


def key_of(span: SpanRecord) -> tuple[str, str]:
    """Trace and span id."""
    return span.trace_id, span.span_id


def test_answer_of_which_only_another_judges_verdict_is_left_is_not_waited_for(
    client: Client,
) -> None:
    """Verdicts may outlive the spans: the retry is put off, and given up in the end."""
    made = verdict_on(1)
    other = replace(made, verifier="another/1")
    save_outcomes(client, [AnswerOutcome(other)], "1")
    letter = postponed_letter(made.candidate, JUDGE, START)
    insert_letters(client, [letter])
    retries = Retries(client, lambda: JUDGE)

    assert retries.page(letter.next_ns) == []

    assert due_letters(client, JUDGE, letter.next_ns, 9) == []
    assert (retries.counts.waiting, len(stored_carriers(client))) == (1, 1)


def test_verdict_that_comes_back_is_not_judged_and_delays_nothing(client: Client) -> None:
    """Through a Collector, also to a service that has just started."""
    line = Line(client, VERIFIER)
    line.send(1)
    (carrier,) = (span for span in spans_of(client, [spans_from(1)[0].trace_id]) if span.is_verdict)

    for service in (line, Line(client, VERIFIER)):
        service.assembler.accept([carrier])
        assert service.assembler.open_traces == 0
        service.after(61)

    assert decisions(client) == {("verified", "entailed"): 1}
    assert len(stored_carriers(client)) == 1
