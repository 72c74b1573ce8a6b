"""Agreement of judges, computed in the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_rt4chart.verify import AnswerLabel
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.rates.verifiers import judge_agreements
from tests.rt4chart_collector.records import NOON, verdict

Labels = Sequence[tuple[AnswerLabel, AnswerLabel]]
LABELS = st.sampled_from(AnswerLabel)
ENTAILED, BASELESS = AnswerLabel.ENTAILED, AnswerLabel.BASELESS


def store(client: Client, labels: Labels, route: str = "support", first: int = 1) -> None:
    """Two judges' verdicts on so many answers."""
    for at, verifier in enumerate(("a", "b")):
        made = []
        for number, pair in enumerate(labels, start=first):
            done = verdict(number, route=route)
            assert done.report is not None
            report = replace(done.report, label=pair[at])
            made.append(replace(done, verifier=verifier, report=report))
        insert_verdicts(client, made)


def kappa(labels: Labels) -> float | None:
    """Cohen's kappa as the book has it."""
    n = len(labels)
    equal = sum(a == b for a, b in labels) / n
    ours, theirs = Counter(a for a, _ in labels), Counter(b for _, b in labels)
    chance = sum(ours[one] * theirs[one] for one in AnswerLabel) / n**2
    return None if chance == 1 else (equal - chance) / (1 - chance)


def test_pair_of_judges_with_the_routes_where_they_differ(any_client: Client) -> None:
    """The worst route first, one without a difference is left out."""
    store(any_client, [(ENTAILED, ENTAILED)] * 3 + [(ENTAILED, BASELESS)], "faq", 1)
    store(any_client, [(BASELESS, BASELESS), (BASELESS, ENTAILED), (ENTAILED, BASELESS)], "pay", 11)
    store(any_client, [(BASELESS, BASELESS)] * 2, "fine", 21)

    (found,) = judge_agreements(any_client, since_ns=0)

    assert (found.first, found.second, found.answers, found.equal) == ("a", "b", 9, 6)
    assert found.share == pytest.approx(2 / 3)
    assert [(r.route, r.answers, r.equal) for r in found.routes] == [("pay", 3, 1), ("faq", 4, 3)]


def test_only_answers_that_both_verified_count(client: Client) -> None:
    """And only those of the time asked for, each once."""
    store(client, [(ENTAILED, ENTAILED), (ENTAILED, BASELESS)])
    insert_verdicts(client, [replace(verdict(9), verifier="c")])

    assert len(judge_agreements(client, since_ns=0)) == 1
    assert judge_agreements(client, since_ns=2 * NOON) == []


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    labels=st.lists(
        st.tuples(st.sampled_from(AnswerLabel), st.sampled_from(AnswerLabel)),
        min_size=1,
        max_size=12,
    )
)
def test_kappa_is_cohen_s(client: Client, labels: Labels) -> None:
    """For any labels; none where there was nothing to agree on."""
    client.command("TRUNCATE TABLE rt4chart_verifications")
    client.command("TRUNCATE TABLE rt4chart_claims")
    store(client, labels)

    (found,) = judge_agreements(client, since_ns=0)

    expected = kappa(labels)
    assert found.kappa == (None if expected is None else pytest.approx(expected, abs=1e-9))
