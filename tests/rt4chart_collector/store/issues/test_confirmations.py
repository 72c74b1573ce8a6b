"""What people say of an issue's claims."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rt4chart_collector.store.answers.feedback import Feedback, Opinion, record_feedback
from rt4chart_collector.store.answers.verifications import verifications_of
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.issues.confirmations import Confirmations, confirmations
from rt4chart_collector.store.issues.failures import Failure
from rt4chart_collector.store.labels.draw_rows import QueueRow
from rt4chart_collector.store.labels.trusted_labels import GivenLabel, RaterKind, record_labels
from tests.rt4chart_clustering.issues import FIRST, SECOND_ID, store_issue
from tests.rt4chart_clustering.made import NOON, SECOND, added, numbers
from tests.rt4chart_collector.store.labels.label_rows import draw, label_of

JUDGE = "local/test-1"
NOW = NOON + 3600 * SECOND
WRONG, RIGHT, UNSURE = GivenLabel.CONTRADICTED, GivenLabel.ENTAILED, GivenLabel.CANNOT_TELL


@pytest.fixture
def given(client: Client) -> Sequence[Failure]:
    """Four failures of an issue, and one of another issue."""
    found = numbers(4)
    store_issue(client, found)
    store_issue(client, added()[:1], number=SECOND_ID)
    return found


def drawn(client: Client, given: Sequence[Failure]) -> list[QueueRow]:
    """The claims as they are drawn for labels, in the order of the failures."""
    scope = QueryScope(NOON - SECOND, NOW, JUDGE)
    rows = {row.trace_id: row for row in draw(client, now_ns=NOW, scope=scope).queue}
    return [rows[one.trace_id] for one in given]


def give_opinion(client: Client, one: Failure, opinion: Opinion, *, by: str) -> None:
    """A person's opinion on the verdict of a claim."""
    (answer,) = verifications_of(client, one.trace_id, one.span_id)
    feedback = Feedback(JUDGE, one.claim_index, str(one.label), opinion, "", by, "", NOW)
    record_feedback(client, answer, [feedback])


def test_nobody_has_judged_a_claim(client: Client, given: Sequence[Failure]) -> None:
    """There is nothing to say then."""
    assert given
    assert confirmations(client, [FIRST]) == Confirmations(0, 0)


def test_labels_and_opinions_confirm_or_refute(client: Client, given: Sequence[Failure]) -> None:
    """Each claim once; those of another issue do not count, nor those of which nobody was sure."""
    first, second, _, fourth = drawn(client, given)
    record_labels(client, [label_of(first, WRONG), label_of(second, RIGHT)])
    record_labels(client, [label_of(fourth, UNSURE, rater="bob")])
    give_opinion(client, given[2], Opinion.AGREE, by="ann")
    give_opinion(client, added()[0], Opinion.AGREE, by="ann")

    assert confirmations(client, [FIRST]) == Confirmations(judged=3, confirmed=2)
    assert confirmations(client, [FIRST, SECOND_ID]) == Confirmations(judged=4, confirmed=3)


def test_the_last_label_of_a_person_counts(client: Client, given: Sequence[Failure]) -> None:
    """It replaces the earlier one, and counts more than the same person's opinion."""
    row = drawn(client, given)[0]
    record_labels(client, [label_of(row, WRONG)])
    record_labels(client, [label_of(row, RIGHT, at_ns=NOW + 1)])
    give_opinion(client, given[0], Opinion.AGREE, by="ann")

    assert confirmations(client, [FIRST]) == Confirmations(judged=1, confirmed=0)


def test_the_majority_of_people_decides(client: Client, given: Sequence[Failure]) -> None:
    """A tie confirms nothing, and a judge's label is no person's."""
    row = drawn(client, given)[0]
    record_labels(client, [label_of(row, WRONG), label_of(row, RIGHT, rater="bob")])
    record_labels(client, [label_of(row, WRONG, rater="gpt", kind=RaterKind.JUDGE)])

    assert confirmations(client, [FIRST]) == Confirmations(judged=1, confirmed=0)

    record_labels(client, [label_of(row, WRONG, rater="cleo")])

    assert confirmations(client, [FIRST]) == Confirmations(judged=1, confirmed=1)
