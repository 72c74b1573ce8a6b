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


def worst(client: Client, measure: Measure = Measure.UNFAITHFUL, **more: int) -> list[WorstAnswer]:
    """Those of the route `support` within a minute of noon."""
    scope = QueryScope(NOON, NOON + 60 * SECOND, VERIFIER, "shop", "support")
    return worst_answers(client, scope, measure=measure, **more)


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

    assert (found.label, found.index, found.claim) == ("contradicted", 2, "плохо …")


def test_an_excerpt_of_a_claim_has_the_words_that_its_reason_names(client: Client) -> None:
    """Its clash is "14", which stands far behind the start."""
    insert_verdicts(client, [saying(1, (WRONG, f"{'It is so. ' * 50}It lasts 14 days.", 0.9))])

    (found,) = worst(client, chars=20)

    assert (found.claim, found.difference) == ("…. It lasts 14 days.", "14")


def test_the_list_is_bounded(client: Client) -> None:
    """As many as asked for."""
    insert_verdicts(client, [verdict(at, [WRONG]) for at in range(1, 9)])

    assert len(worst(client, limit=3)) == 3


def test_misleading_answers_are_the_worst_of_their_own_measure(any_client: Client) -> None:
    """They are none of the unfaithful ones; of either, the sum decides."""
    made = verdict(1, [GOOD, GOOD])
    assert made.report is not None
    status = ClaimStatus.CHERRY_PICKED
    claims = tuple(replace(one, status=status) for one in made.report.claims)
    picked = replace(made, report=replace(made.report, claims=claims))
    insert_verdicts(any_client, [picked, verdict(2, [WRONG, GOOD])])

    by_measure = {measure: worst(any_client, measure) for measure in Measure}

    assert {
        measure: [int(one.trace_id, 16) for one in found] for measure, found in by_measure.items()
    } == {Measure.UNFAITHFUL: [2], Measure.MISLEADING: [1], Measure.EITHER: [1, 2]}
    (found,) = by_measure[Measure.MISLEADING]
    assert (found.unfaithful, found.misleading, found.decided) == (0, 2, 2)
    assert (found.label, found.status) == ("entailed", "cherry_picked")
