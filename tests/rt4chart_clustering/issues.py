"""Issues with their failures in the store, for the tests of what people do with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from otel_rt4chart.spans.model.blame import ChainPlace, ClaimBlame
from otel_rt4chart.spans.model.verdict import Verdict
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.assignments import BY_BIRTH, Assignment, insert_assignments
from rt4chart_collector.store.issues.failures import Failure, failures_by_key
from rt4chart_collector.store.issues.issue_events import IssueEvent, record_events
from rt4chart_collector.store.issues.issues import Issue, insert_issues
from tests.rt4chart_clustering.made import verdict

FINGERPRINT = "fp1:contradicted:number"
FIRST, SECOND_ID = 0xAB00000000000001, 0xAB00000000000002


def store_issue(
    client: Client,
    found: Sequence[Failure],
    *,
    number: int = FIRST,
    title: str = "Number not as in the source",
    state: str = "new",
    sample_rate: float = 1.0,
    is_stored: bool = False,
    at_ns: int = 0,
    steps: Sequence[str] = (),
) -> Issue:
    """An issue of these failures; their verdicts are written too, unless they are stored.

    It was created at `at_ns`, or at its first failure. The first failures entered in these `steps`
    of a chain; of one that is empty, it is not known.
    """
    if not is_stored:
        made = [replace(verdict(one), sample_rate=sample_rate) for one in found]
        made[: len(steps)] = [traced(one, step) for one, step in zip(made, steps, strict=False)]
        insert_verdicts(client, made)
    stored = failures_by_key(client, [one.key for one in found])
    first, last = min(one.time_ns for one in stored), max(one.time_ns for one in stored)
    issue = Issue(
        id=number,
        title=title,
        fingerprint=FINGERPRINT,
        service=stored[0].service,
        route=stored[0].route,
        first_ns=first,
        last_ns=last,
        claims=len(stored),
        centroid=(1.0,),
        run="1",
        example_traces=(stored[0].trace_id,),
        model="hashing/1",
    )
    insert_issues(client, [issue], version=1)
    assign(client, issue, stored)
    record_events(
        client,
        [
            IssueEvent(number, at_ns or first, "born", FINGERPRINT),
            IssueEvent(number, (at_ns or first) + 1, "state", state),
        ],
    )
    return issue


def traced(answer: Verdict, step: str) -> Verdict:
    """The verdict on an answer whose first claim entered in this step; empty is not known."""
    places = (ChainPlace("n", "b" * 16, step, "LLM", step),) if step else ()
    return replace(answer, trail=(ClaimBlame(0, places),))


def assign(client: Client, issue: Issue, found: Sequence[Failure]) -> None:
    """Say that these stored failures belong to it."""
    insert_assignments(
        client,
        [
            Assignment(
                one.key, one.time_ns, issue.id, issue.partition, 0.1, BY_BIRTH, one.version + 1
            )
            for one in found
        ],
    )
