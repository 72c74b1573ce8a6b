"""Registries of before: contradicted and baseless claims of one kind were two issues."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.findings.failure_kinds import FailureKind, pattern_of_fingerprint
from rt4chart_clustering.description import describe
from rt4chart_clustering.description.embedding import HashingEmbedder
from rt4chart_clustering.grouping import identity
from rt4chart_clustering.grouping.engine import HdbscanGrouping
from rt4chart_clustering.grouping.issue_state import IssueAction
from rt4chart_clustering.grouping.merge_and_split import merge_issues
from rt4chart_clustering.grouping.run import GroupingResult, group_failures
from rt4chart_clustering.triage.actions import assign_owner, change_state
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues import match_failures
from rt4chart_collector.store.issues.assignments import assignments_of
from rt4chart_collector.store.issues.failures import Failure
from rt4chart_collector.store.issues.issue_events import events_of
from rt4chart_collector.store.issues.issues import Issue, list_issues
from rt4chart_collector.store.issues.match_failures import PATTERN
from tests.rt4chart_clustering.made import NOON, SECOND, numbers, verdict

LATER = NOON + 3600 * SECOND


def baseless(count: int, *, first: int) -> list[Failure]:
    """Numbers that the nearest sentence does not have, without a sentence against them."""
    return [
        replace(one, label=Label.BASELESS, evidence=(), nearest=one.evidence[0].text)
        for one in numbers(count, first=first)
    ]


def store(client: Client, failures: list[Failure], *, version: int = 1) -> None:
    """Write the verdicts that hold these failures."""
    insert_verdicts(client, [verdict(one, version=version) for one in failures])


def grouped(client: Client, *, now_ns: int) -> GroupingResult:
    """Run once over everything."""
    return group_failures(client, HashingEmbedder(), HdbscanGrouping(), since_ns=0, now_ns=now_ns)


@contextmanager
def version_5(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fingerprints as version 5 wrote and matched them: every pattern has the label."""
    statement = match_failures.NEAREST_ISSUES
    with monkeypatch.context() as patched:
        patched.setattr(describe, "FINGERPRINT_VERSION", "fp5")
        patched.setattr(describe, "pattern_of", lambda label, kind: f"{label}:{kind}")
        patched.setattr(identity, "pattern_of_fingerprint", lambda stored: stored[len("fp5:") :])
        patched.setattr(match_failures, "NEAREST_ISSUES", statement.replace("unfaithful:", r"\\1:"))
        yield


def by_label(issues: list[Issue]) -> tuple[Issue, Issue]:
    """The issue of contradicted claims, then that of baseless ones."""
    found = {issue.fingerprint.split(":")[1]: issue for issue in issues}
    return found["contradicted"], found["baseless"]


@pytest.fixture
def former(client: Client, monkeypatch: pytest.MonkeyPatch) -> tuple[Issue, Issue]:
    """Two issues of version 5, of which people took care."""
    store(client, [*numbers(7), *baseless(6, first=50)])
    with version_5(monkeypatch):
        grouped(client, now_ns=LATER)
    against, without = by_label(list_issues(client))
    change_state(client, against, IssueAction.ACKNOWLEDGE, actor="ann", at_ns=LATER + 5)
    assign_owner(client, without, "ben", actor="ann", at_ns=LATER + 6)
    return by_label(list_issues(client))


def test_contradicted_and_baseless_claims_of_a_kind_are_one_issue(client: Client) -> None:
    """Whether the judge found a sentence against the number says nothing about the mistake."""
    store(client, [*numbers(3), *baseless(3, first=50)])

    outcome = grouped(client, now_ns=LATER)

    (issue,) = list_issues(client)
    assert (outcome.new, outcome.waiting, issue.claims) == (1, 0, 6)
    assert issue.title == "Number not as in the source · billing"


def test_issues_of_before_keep_ids_states_owners_and_failures(
    client: Client, former: tuple[Issue, Issue]
) -> None:
    """Each goes on with the failures of its label, and no third one appears."""
    assigned = {one.key: one.issue for one in assignments_of(client, [one.id for one in former])}
    store(client, [*numbers(4, first=200), *baseless(3, first=300)])

    outcome = grouped(client, now_ns=LATER + 10)

    against, without = by_label(list_issues(client))
    assert (outcome.new, outcome.known, outcome.waiting) == (0, 2, 0)
    assert (against.id, without.id) == (former[0].id, former[1].id)
    assert (against.state, without.owner) == ("acknowledged", "ben")
    assert (against.claims, without.claims) == (11, 9)
    now = {one.key: one.issue for one in assignments_of(client, [against.id, without.id])}
    assert assigned.items() <= now.items()
    assert {event.kind for event in events_of(client, against.id)} >= {"born", "state", "titled"}


def test_a_merge_of_the_two_is_proposed_once_and_holds(
    client: Client, former: tuple[Issue, Issue]
) -> None:
    """A person decides; from then on one issue has the failures of both labels."""
    store(client, numbers(1, first=200))
    assert grouped(client, now_ns=LATER + 10).proposed == 1
    store(client, numbers(1, first=210))
    assert grouped(client, now_ns=LATER + 20).proposed == 0

    merge_issues(client, former[1].id, former[0].id, actor="ann", now_ns=LATER + 30)
    store(client, [*numbers(1, first=220), *baseless(2, first=320)])
    outcome = grouped(client, now_ns=LATER + 40)

    (issue,) = list_issues(client)
    assert (outcome.new, outcome.waiting, outcome.proposed) == (0, 0, 0)
    assert (issue.id, issue.claims) == (former[0].id, 7 + 6 + 5)


def test_the_only_issue_of_before_takes_both_labels_under_a_name_that_is_true_of_both(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those that waited because too few were baseless."""
    store(client, [*numbers(7), *baseless(2, first=50)])
    with version_5(monkeypatch), monkeypatch.context() as patched:
        patched.setattr(FailureKind.NUMBER, "baseless", "Number differs from the source")
        assert grouped(client, now_ns=LATER).waiting == 2
    (before,) = list_issues(client)
    assert before.title == "Number differs from the source · billing"

    outcome = grouped(client, now_ns=LATER + 10)

    (issue,) = list_issues(client)
    assert (issue.id, issue.claims, outcome.waiting, outcome.proposed) == (before.id, 9, 0, 0)
    assert issue.title == "Number not as in the source · billing"


def test_a_failure_that_is_judged_anew_keeps_its_issue_under_the_other_label(
    client: Client, former: tuple[Issue, Issue]
) -> None:
    """The mistake is the same: the number of the claim is still not that of the source."""
    (one,) = baseless(1, first=1)
    store(client, [one], version=2)

    outcome = grouped(client, now_ns=LATER + 10)

    found = {row.key: row.issue for row in assignments_of(client, [former[0].id])}
    assert (outcome.new, outcome.waiting) == (0, 0)
    assert found[one.key] == former[0].id


def test_the_database_reads_patterns_as_the_process_does(client: Client) -> None:
    """For every label and kind, of every version, known or not."""
    stored = [
        f"{version}:{label}:{kind}"
        for version in ("fp5", "fp6")
        for label in (*Label, "unfaithful")
        for kind in (*FailureKind, "of another version")
    ]
    query = f"SELECT {PATTERN.format('given')} FROM (SELECT arrayJoin({stored}) AS given)"  # noqa: S608

    found = [row[0] for row in client.query(query).result_rows]

    assert found == [pattern_of_fingerprint(one) for one in stored]
    assert pattern_of_fingerprint("fp5:baseless:number") == "unfaithful:number"
    assert pattern_of_fingerprint("fp5:baseless:other") == "baseless:other"
    assert pattern_of_fingerprint("fp5:entailed:stale") == "entailed:stale"
