"""The answers with the most unfaithful claims."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.spans.model.verdict import Decision, Verdict
from otel_rt4chart.verify.core.model import ClaimStatus, Label
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.store.answers.answers import WorstAnswer, worst_answers
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER, claim, verdict

GOOD, WRONG, MADE_UP = Label.ENTAILED, Label.CONTRADICTED, Label.BASELESS


def worst(
    client: Client, *, limit: int = 10, chars: int = 300, measure: Measure = Measure.UNFAITHFUL
) -> list[WorstAnswer]:
    """Those of the route `support` within a minute of noon."""
    scope = QueryScope(NOON, NOON + 60 * SECOND, VERIFIER, "shop", "support")
    return worst_answers(client, scope, limit=limit, chars=chars, measure=measure)


def saying(number: int, *claims: tuple[Label, str, float]) -> Verdict:
    """A verdict with these claims and their confidences."""
    made = verdict(number, [label for label, _, _ in claims])
    assert made.report is not None
    told = tuple(replace(claim(label, text), confidence=sure) for label, text, sure in claims)
    return replace(made, report=replace(made.report, claims=told))


def test_more_unfaithful_claims_are_worse_and_contradicted_ones_worst(any_client: Client) -> None:
    """Faithful answers, other routes, other times and unverified ones are none of them."""
    insert_verdicts(
        any_client,
        [
            verdict(1, [GOOD, MADE_UP]),
            verdict(2, [MADE_UP, WRONG, GOOD]),
            verdict(3, [GOOD]),
            verdict(4, [WRONG, GOOD]),
            verdict(5, [WRONG, WRONG], route="other"),
            verdict(6, [WRONG, WRONG], start_ns=NOON + 90 * SECOND),
            verdict(7, decision=Decision.NOT_SAMPLED),
        ],
    )

    found = worst(any_client)

    assert [int(one.trace_id, 16) for one in found] == [2, 4, 1]
    assert [(one.unfaithful, one.decided) for one in found] == [(2, 3), (1, 2), (1, 2)]
    assert found[0].label == "contradicted"


def test_the_worst_claim_is_the_surest_contradicted_one(client: Client) -> None:
    """A baseless one stands behind it however sure; its text is cut."""
    insert_verdicts(
        client,
        [
            saying(
                1,
                (MADE_UP, "made up", 0.99),
                (WRONG, "a bit wrong", 0.6),
                (WRONG, "плохо wrong", 0.9),
            )
        ],
    )

    (found,) = worst(client, chars=7)

    assert (found.label, found.index, found.claim) == ("contradicted", 2, "плохо w")


def test_misleading_claims_have_a_list_of_their_own(client: Client) -> None:
    """With the status of the claim, which is entailed; unfaithful claims are not counted."""
    picked = with_statuses(verdict(1, [GOOD, GOOD]), "cherry_picked", "qualifier_dropped")
    mixed = with_statuses(verdict(2, [GOOD, WRONG, WRONG]), "stale", "contradicted", "contradicted")
    insert_verdicts(client, [picked, mixed, verdict(3, [WRONG, GOOD])])

    found = worst(client, measure=Measure.MISLEADING)
    either = worst(client, measure=Measure.EITHER)

    assert [
        (int(one.trace_id, 16), one.misleading, one.unfaithful, one.label, one.status)
        for one in found
    ] == [(1, 2, 0, "entailed", "cherry_picked"), (2, 1, 2, "entailed", "stale")]
    assert [int(one.trace_id, 16) for one in either] == [2, 1, 3]
    assert [int(one.trace_id, 16) for one in worst(client)] == [2, 3]


def with_statuses(one: Verdict, *statuses: str) -> Verdict:
    """The verdict, its claims with these statuses."""
    assert one.report is not None
    claims = [
        replace(each, status=ClaimStatus(status))
        for each, status in zip(one.report.claims, statuses, strict=True)
    ]
    return replace(one, report=replace(one.report, claims=tuple(claims)))


def test_the_list_is_bounded(client: Client) -> None:
    """As many as asked for."""
    insert_verdicts(client, [verdict(at, [WRONG]) for at in range(1, 9)])

    assert len(worst(client, limit=3)) == 3
