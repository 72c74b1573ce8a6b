"""The views for those who ask the database themselves give the numbers that the service gives."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_rt4chart.spans.model.blame import ChainPlace, ClaimBlame, RetrievalBlame
from otel_rt4chart.spans.model.verdict import Decision
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.core.rates import claim_rate
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.grains import TABLES
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.issues.issue_events import IssueEvent, record_events
from rt4chart_collector.store.issues.issues import Issue, insert_issues
from rt4chart_collector.store.rates.claim_rates import rates_by
from rt4chart_collector.store.rates.traffic import coverage
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER, verdict

HOUR = 3600 * SECOND
GOOD, BAD, DENIED, OPEN = Label.ENTAILED, Label.BASELESS, Label.CONTRADICTED, Label.UNDECIDED
RATES = "SELECT * FROM rt4chart_rates"
ASSIGN = """
INSERT INTO rt4chart_issue_assignments (Timestamp, TraceId, SpanId, ClaimIndex, IssueId,
    ServiceName, Route, AssignedBy, Version)
SELECT Timestamp, TraceId, SpanId, ClaimIndex, {issue:UInt64}, ServiceName, Route, 'birth',
    Version + 1
FROM rt4chart_claims FINAL WHERE TraceId = {trace:String}
"""


def row(client: Client, query: str) -> dict[str, object]:
    """The only row."""
    (found,) = client.query(query).named_results()
    return dict(found)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    answers=st.lists(
        st.tuples(
            st.lists(st.sampled_from([GOOD, GOOD, BAD, DENIED, OPEN]), max_size=6),
            st.sampled_from([1.0, 0.5, 0.1]),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_the_view_s_rate_and_interval_are_ours(
    client: Client, answers: list[tuple[list[Label], float]]
) -> None:
    """Whatever the answers and their weights; none where no claim was decided."""
    client.command("TRUNCATE TABLE rt4chart_verifications")
    for table in TABLES.values():
        client.command(f"TRUNCATE TABLE {table}")
    given_now = [verdict(n, labels, sample_rate=rate) for n, (labels, rate) in enumerate(answers)]
    insert_verdicts(client, given_now)

    found = row(client, RATES)

    since, until = NOON - HOUR, NOON + HOUR
    (expected,) = rates_by(client, "route", QueryScope(since, until, VERIFIER))
    rate = claim_rate(expected.sums)
    assert (found["Answers"], found["Decided"]) == (expected.answers, expected.claims)
    counts = (expected.entailed, expected.contradicted, expected.baseless, expected.undecided)
    names = ("Entailed", "Contradicted", "Baseless", "Undecided")
    assert tuple(found[name] for name in names) == counts
    assert found["WM"] == pytest.approx(expected.sums.wm)
    if rate.value is None:
        assert (found["Rate"], found["Low"], found["High"]) == (None, None, None)
    else:
        shown = (found["Rate"], found["Low"], found["High"])
        assert shown == pytest.approx((rate.value, rate.low, rate.high), abs=1e-9)


def test_what_was_replaced_is_in_no_view(any_client: Client) -> None:
    """A later verdict on another route leaves no row of the first."""
    insert_verdicts(any_client, [verdict(1)])
    insert_verdicts(any_client, [verdict(1, [GOOD], route="pay", decided_ns=NOON + HOUR)])

    assert any_client.query("SELECT Route, Answers, Decided FROM rt4chart_rates").result_rows == [
        ("pay", 1, 1)
    ]
    assert row(any_client, "SELECT Route, Verified FROM rt4chart_coverage")["Verified"] == 1
    assert any_client.query("SELECT * FROM rt4chart_unfaithful_claims").result_rows == []


def test_coverage_is_what_the_service_says(any_client: Client) -> None:
    """Every decision is counted in its kind."""
    decided = [verdict(n, decision=one) for n, one in enumerate(Decision, 1)]
    insert_verdicts(any_client, [*decided, verdict(50, [OPEN, GOOD, BAD])])

    found = row(any_client, "SELECT * FROM rt4chart_coverage")

    since, until = NOON - HOUR, NOON + HOUR
    counts = coverage(any_client, QueryScope(since, until, VERIFIER))
    ours = counts["shop", "support"]
    assert (found["Answers"], found["Verified"]) == (ours.answers, ours.verified) == (12, 2)
    assert (found["SampledOut"], found["Unreadable"], found["Failed"]) == (
        ours.sampled_out,
        ours.unreadable,
        ours.failed,
    )
    assert found["VerifiedShare"] == ours.verified_share
    assert found["UndecidedShare"] == ours.undecided_share == 0.2


def test_a_claim_stands_beside_its_question_evidence_and_issue(any_client: Client) -> None:
    """Of an issue that was merged twice, the one that stands for it in the end."""
    labels = [GOOD, DENIED, OPEN]
    insert_verdicts(any_client, [verdict(1, labels), verdict(2, [BAD]), verdict(3, [GOOD])])
    issue = Issue(255, "late", "fp2:a:b", "shop", "support", NOON, NOON, 3, (0.5,), "run")
    insert_issues(any_client, [issue, replace(issue, id=7, title="early")], version=1)
    any_client.command(ASSIGN, {"issue": 7, "trace": f"{1:032x}"})
    merged = [
        IssueEvent(7, NOON, "merged", f"{8:016x}"),
        IssueEvent(8, NOON, "merged", f"{255:016x}"),
    ]
    record_events(any_client, merged)

    rows = list(
        any_client.query(
            "SELECT * FROM rt4chart_unfaithful_claims ORDER BY TraceId"
        ).named_results()
    )

    assert [(one["Label"], one["ClaimIndex"], one["Issue"], one["IssueTitle"]) for one in rows] == [
        ("contradicted", 1, f"{255:016x}", "late"),
        ("baseless", 0, "", ""),
    ]
    first = rows[0]
    assert (first["Question"], first["Answer"]) == ("How long?", "It is 14 days.")
    assert (first["Documents"], first["Evidence"]) == (["p1"], ["14 days"])
    assert (first["Model"], first["PromptVersion"], first["SampleRate"]) == ("m-1", "7", 0.5)


def test_an_issue_that_was_parted_again_stands_for_itself(any_client: Client) -> None:
    """The last event counts, and an empty one says that it is merged no more."""
    insert_verdicts(any_client, [verdict(1, [BAD])])
    any_client.command(ASSIGN, {"issue": 7, "trace": f"{1:032x}"})
    record_events(
        any_client,
        [IssueEvent(7, NOON, "merged", f"{8:016x}"), IssueEvent(7, NOON + 1, "merged", "")],
    )

    assert row(any_client, "SELECT Issue FROM rt4chart_unfaithful_claims") == {"Issue": f"{7:016x}"}


def test_a_filter_reaches_the_indexes_of_every_table(any_client: Client) -> None:
    """By time and route: no view reads more than is asked for."""
    insert_verdicts(any_client, [verdict(1), verdict(2, start_ns=NOON + 48 * HOUR)])
    any_client.command(ASSIGN, {"issue": 7, "trace": f"{1:032x}"})
    where = "WHERE Route = 'support' AND {time} < toDateTime(4000010000)"
    for view, time, tables in (
        ("rt4chart_rates", "Tick", 1),
        ("rt4chart_coverage", "Tick", 1),
        ("rt4chart_unfaithful_claims", "Timestamp", 3),
    ):
        asked = f"EXPLAIN indexes = 1 SELECT * FROM {view} {where.format(time=time)}"  # noqa: S608 - ours
        plan = "\n".join(one for (one,) in any_client.query(asked).result_rows)
        assert plan.count("Route in ['support', 'support']") >= tables, plan


def test_a_failure_says_in_which_stage_it_entered(any_client: Client) -> None:
    """Empty for a claim without a trail; a later verdict without trails takes the stage away."""
    place = ChainPlace("s1", "b" * 16, "summarise 2", "LLM", "summarise")
    made = verdict(1, [BAD, BAD])
    blame = ClaimBlame(1, (place,), retrieval=RetrievalBlame.NEVER_RETRIEVED)
    query = """
    SELECT Stage, Step, Retrieval FROM {view} ORDER BY ClaimIndex
    """
    views = ("rt4chart_failures", "rt4chart_unfaithful_claims")

    insert_verdicts(any_client, [replace(made, trail=(blame,))])
    first = [any_client.query(query.format(view=one)).result_rows for one in views]
    insert_verdicts(any_client, [replace(made, decided_ns=made.decided_ns + SECOND)])
    last = [any_client.query(query.format(view=one)).result_rows for one in views]

    shown = [("", "", ""), ("summarise", "summarise 2", "never_retrieved")]
    assert [[tuple(row) for row in rows] for rows in first] == [shown, shown]
    assert [[tuple(row) for row in rows] for rows in last] == [[("", "", "")] * 2] * 2
