from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_rt4chart.spans.model.verdict import Decision, Verdict
from otel_rt4chart.verify.core.model import AnswerLabel, ClaimStatus, Label
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.core.filters.filter_language import FilterTerm, parse_filter
from rt4chart_collector.store.answers.answers import WorstClaim
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.answers.verifications import ClaimCounts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.lists.answer_filter import ANSWER_KEYS, AnswerFilter
from rt4chart_collector.store.lists.answer_list import ListedAnswer, answer_page
from rt4chart_collector.store.lists.candidates import Order
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER, verdict

HOUR = 3600 * SECOND
ALL = AnswerFilter(QueryScope(NOON - 100 * HOUR, NOON + 100 * HOUR))
BAD = [Label.CONTRADICTED, Label.BASELESS]


def filled(client: Client) -> None:
    """Forty answers over two days, some bad, some not sampled; four a moment apart."""
    told = []
    for number in range(1, 41):
        labels = BAD[: number % 3] or [Label.ENTAILED]
        decision = Decision.NOT_SAMPLED if number % 10 == 0 else Decision.VERIFIED
        one = verdict(number, labels, decision=decision, start_ns=NOON - number // 4 * 5 * HOUR)
        label = AnswerLabel.CONTRADICTED if number % 3 else AnswerLabel.ENTAILED
        report = replace(one.report, label=label) if one.report else None
        told.append(replace(one, report=report))
    insert_verdicts(client, told)


def walked(client: Client, wanted: AnswerFilter, order: Order, limit: int) -> list[ListedAnswer]:
    """All pages one after the other."""
    found: list[ListedAnswer] = []
    page = answer_page(client, wanted, order=order, limit=limit)
    found += page.rows
    while page.after:
        page = answer_page(client, wanted, order=order, limit=limit, after=page.after)
        found += page.rows
    return found


@pytest.mark.parametrize("limit", [1, 7, 40])
def test_pages_together_are_the_newest_first(client: Client, limit: int) -> None:
    """No answer is missed or shown twice, whatever the size of a page."""
    filled(client)

    found = walked(client, ALL, "newest", limit)

    times = [one.start_ns for one in found]
    assert times == sorted(times, reverse=True)
    assert len({one.trace_id for one in found}) == len(found) == 40


@pytest.mark.parametrize("limit", [1, 7, 40])
def test_pages_together_are_the_worst_first(client: Client, limit: int) -> None:
    """Those with most unfaithful claims, of equals the newest; all of them once."""
    filled(client)

    found = walked(client, ALL, "worst", limit)

    ranks = [(one.counts.unfaithful, one.start_ns) for one in found]
    assert ranks == sorted(ranks, reverse=True)
    assert len({one.trace_id for one in found}) == len(found) == 40


def test_filters_narrow_the_list(client: Client) -> None:
    """Each alone, and the two labels that are unfaithful as one measure."""
    filled(client)
    told = verdict(50, route="pay")
    exchange = replace(told.candidate.exchange, question="Où est l'ÉTÉ?")
    insert_verdicts(client, [replace(told, candidate=replace(told.candidate, exchange=exchange))])

    def count(measure: Measure | None = None, **filters: str) -> int:
        service, route, verifier = (
            filters.pop(name, None) for name in ("service", "route", "verifier")
        )
        scope = replace(ALL.scope, service=service, route=route, verifier=verifier)
        chosen = AnswerFilter(scope, measure=measure, **cast("dict[str, Any]", filters))
        return len(answer_page(client, chosen, limit=100).rows)

    assert count() == 41
    assert count(service="shop", route="pay") == 1
    assert count(route="none") == 0
    assert count(verifier=VERIFIER, model="m-1", prompt_version="7", environment="prod") == 41
    assert count(release="9") == 0
    assert count(decision="not_sampled") == 4
    assert count(Measure.UNFAITHFUL) == 25
    assert count(Measure.EITHER) == 25
    assert count(Measure.MISLEADING) == 0


WRITTEN = {
    "": 41,
    "été": 1,
    '"l\'été"': 1,
    "été absent": 0,
    "-été": 40,
    "%_": 0,
    '"\\\\"': 0,
    "route:PA": 1,
    "-route:pa": 40,
    "route:pa route:supp": 41,
    'route:""': 0,
    'service:sho release:""': 41,
    "release:9": 0,
    "model:m- prompt:7 environment:prod": 41,
    "model:m-2": 0,
    "verdict:contradicted": 24,
    "verdict:contradicted verdict:entailed": 36,
    "-verdict:contradicted -verdict:entailed": 5,
    "decision:not_sampled": 4,
    "measure:unfaithful": 25,
    "-measure:either": 16,
    "status:undecided": 37,
    "-status:undecided": 4,
    "step:summarise": 0,
    "-step:summarise": 41,
    f"trace:{50:032x}": 1,
}


def test_a_written_filter_narrows_the_list(client: Client) -> None:
    """Each key, of whose values any will do; what stands in it is a value, never a condition."""
    filled(client)
    told = verdict(50, route="pay")
    exchange = replace(told.candidate.exchange, question="Où est l'ÉTÉ?")
    insert_verdicts(client, [replace(told, candidate=replace(told.candidate, exchange=exchange))])

    for written, count in WRITTEN.items():
        chosen = replace(ALL, terms=parse_filter(written, ANSWER_KEYS))
        assert len(answer_page(client, chosen, limit=100).rows) == count, written
    assert len(walked(client, chosen, "worst", 1)) == 1


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    terms=st.lists(
        st.builds(
            FilterTerm,
            st.sampled_from(["", "route", "service", "model", "release", "prompt", "trace"]),
            st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1),
            st.booleans(),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_any_words_are_only_values(client: Client, terms: list[FilterTerm]) -> None:
    """Whatever a reader types, the query is valid."""
    assert answer_page(client, replace(ALL, terms=terms)).after is None


def test_a_search_finds_words_deep_in_a_text(client: Client) -> None:
    """The row has what stands around them, of the answer rather than of the question."""
    deep = replace(
        verdict(1).candidate.exchange, question="Where is IT?", answer="é" * 1000 + " is It. " * 90
    )
    asked = replace(verdict(2).candidate.exchange, question="Which item?", answer="None.")
    insert_verdicts(
        client,
        [
            replace(one, candidate=replace(one.candidate, exchange=exchange))
            for one, exchange in ((verdict(1), deep), (verdict(2), asked))
        ],
    )

    chosen = replace(ALL, terms=(FilterTerm("", "it"),))
    in_question, in_answer = answer_page(client, chosen).rows
    (plain, _) = answer_page(client, ALL).rows

    assert (in_question.found, in_question.found_at) == ("Which item?", 1)
    assert in_answer.found.startswith("é" * 76 + " is It. ")
    assert (in_answer.found_at, len(in_answer.found)) == (925, 280)
    assert (plain.found, plain.found_at) == ("", 0)


def test_a_row_shows_the_worst_claim_and_the_beginning_of_the_texts(client: Client) -> None:
    """What a person scans for, without the whole answer."""
    told = verdict(1, [Label.ENTAILED, Label.BASELESS, Label.CONTRADICTED])
    exchange = replace(told.candidate.exchange, answer="é" * 1000)
    insert_verdicts(client, [replace(told, candidate=replace(told.candidate, exchange=exchange))])

    (row,) = answer_page(client, ALL).rows

    claim = WorstClaim("contradicted", 2, "The trial lasts 14 days.", "undecided", "14")
    assert row.worst == claim
    assert (row.answer, row.characters) == ("é" * 280, 1000)
    assert row.counts == ClaimCounts(3, 1, 1, 1, 0)


def test_a_verdict_made_anew_is_listed_once(client: Client) -> None:
    """The list reads what is in force; two verifiers' verdicts are two rows."""
    insert_verdicts(client, [verdict(1, [Label.CONTRADICTED])])
    insert_verdicts(client, [verdict(1, [Label.ENTAILED], decided_ns=NOON + HOUR)])
    insert_verdicts(client, [replace(verdict(1), verifier="other/1")])

    rows = answer_page(client, ALL).rows

    assert [(one.verifier, one.counts.contradicted) for one in rows] == [
        (VERIFIER, 0),
        ("other/1", 0),
    ]


def test_an_empty_database_has_an_empty_page(client: Client) -> None:
    """Nothing, and no next page."""
    page = answer_page(client, ALL)
    assert (page.rows, page.after) == ((), None)


PICKED, STALE = ClaimStatus.CHERRY_PICKED, ClaimStatus.STALE


def misleading(number: int, *statuses: ClaimStatus, wrong: int = 0) -> Verdict:
    """A verdict with an entailed claim of each status after `wrong` contradicted ones."""
    made = verdict(number, [Label.CONTRADICTED] * wrong + [Label.ENTAILED] * len(statuses))
    assert made.report is not None
    given = (*[ClaimStatus.CONTRADICTED] * wrong, *statuses)
    claims = tuple(
        replace(claim, status=status)
        for claim, status in zip(made.report.claims, given, strict=True)
    )
    return replace(made, report=replace(made.report, claims=claims))


def test_answers_are_filtered_and_ordered_by_measure_and_status(client: Client) -> None:
    """Misleading answers are listed, the worst of the chosen measure first."""
    insert_verdicts(
        client,
        [
            misleading(1, ClaimStatus.SUPPORTED),
            misleading(2, PICKED, STALE),
            misleading(3, PICKED, wrong=2),
            misleading(4, wrong=1),
        ],
    )

    def found(measure: Measure | None = None, status: str = "") -> list[int]:
        wanted = replace(ALL, measure=measure, status=status)
        return [int(row.trace_id, 16) for row in walked(client, wanted, "worst", 1)]

    assert found() == [3, 2, 4, 1]
    assert found(Measure.UNFAITHFUL) == [3, 4]
    assert found(Measure.MISLEADING) == [2, 3]
    assert found(Measure.EITHER) == [3, 2, 4]
    assert found(status="cherry_picked") == [3, 2]
    assert found(Measure.UNFAITHFUL, "stale") == []


def test_a_row_has_the_statuses_and_the_worst_claim_of_its_measure(client: Client) -> None:
    """An unfaithful claim comes before a misleading one, unless those are asked for."""
    insert_verdicts(client, [misleading(1, PICKED, STALE, wrong=1)])

    (either,) = answer_page(client, ALL).rows
    (row,) = answer_page(client, replace(ALL, measure=Measure.MISLEADING)).rows

    assert either.statuses == {"contradicted": 1.0, "cherry_picked": 1.0, "stale": 1.0}
    text = "The trial lasts 14 days."
    assert either.worst == WorstClaim("contradicted", 0, text, "contradicted", "14")
    assert row.worst == WorstClaim("entailed", 1, text, "cherry_picked", "14")
    assert row.misleading.count == 2
