"""When the service groups failures, and what it counts as new ones."""

from __future__ import annotations

from otel_rt4chart.verify.core.model import ClaimStatus, Label
from rt4chart_collector.core.environment import grouping_environ
from rt4chart_collector.core.grouping_settings import GroupingSettings, RunCause
from rt4chart_collector.core.instruments import CLAIM_STATUSES, CLAIMS
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.service.grouping import GroupingSchedule, failures_seen

SETTINGS = GroupingSettings(grouping=900.0, grouping_failures=20)


def test_first_run_is_a_minute_after_the_start() -> None:
    """It groups what came while nothing ran; enough failures bring it forward, not at once."""
    schedule = GroupingSchedule(SETTINGS, now_s=0)

    assert [schedule.due(at, 0) for at in (29, 30, 59, 60)] == [None, None, None, RunCause.INTERVAL]
    assert [schedule.due(at, 20) for at in (29, 30)] == [None, RunCause.FAILURES]


def test_runs_take_a_tenth_of_the_time() -> None:
    """After a run of ten seconds, failures wait for ninety; a long run pauses for the interval."""
    schedule = GroupingSchedule(SETTINGS, now_s=0)
    schedule.note_run(100, 110, 20)

    assert schedule.due(199, 40) is None
    assert schedule.due(200, 39) is None
    assert schedule.due(200, 40) is RunCause.FAILURES
    assert schedule.due(1000, 20) is RunCause.INTERVAL

    schedule.note_run(1000, 3000, 40)
    assert schedule.due(3899, 1000) is None
    assert schedule.due(3900, 1000) is RunCause.INTERVAL


def test_failures_do_not_start_runs_where_they_are_none() -> None:
    """With 0, the interval alone counts."""
    schedule = GroupingSchedule(GroupingSettings(900.0, 0), now_s=0)
    schedule.note_run(0, 1, 0)

    assert schedule.due(800, 10_000) is None


def test_unfaithful_and_misleading_claims_are_failures() -> None:
    """A claim counts once, whatever its status is beside its label."""
    metrics = ServiceMetrics()
    for label, status in (
        (Label.ENTAILED, ClaimStatus.SUPPORTED),
        (Label.CONTRADICTED, ClaimStatus.CONTRADICTED),
        (Label.BASELESS, ClaimStatus.OVERREACH),
        (Label.ENTAILED, ClaimStatus.CHERRY_PICKED),
        (Label.UNDECIDED, ClaimStatus.UNDECIDED),
    ):
        metrics.add(CLAIMS, label)
        metrics.add(CLAIM_STATUSES, status)

    assert failures_seen(metrics) == 3


def test_the_database_of_a_run_is_in_its_environment() -> None:
    """Other users can read a command line, and the name of a database may hold a password."""
    found = grouping_environ("http://me:secret@host:8123/otel", {"RT4CHART_DSN": "other", "A": "b"})

    assert found["RT4CHART_DSN"] == "http://me:secret@host:8123/otel"
    assert (found["A"], found["OMP_NUM_THREADS"]) == ("b", "1")
