"""The description of a stored failure names the kind that the answer's finding names."""

from __future__ import annotations

from pathlib import Path

from otel_rt4chart.bench.dataset import read_rows
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import RulesJudge, Verifier
from otel_rt4chart.verify.findings.failure_kinds import kind_of_fingerprint
from rt4chart_clustering.description.describe import describe_failure
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import failures
from tests.rt4chart_clustering.made import NOON, SECOND

DEMO = Path(__file__).parents[3] / "collector/rt4chart_collector/demo/data"


def test_the_kind_on_an_answer_is_the_kind_of_its_issue(client: Client) -> None:
    """Over every third answer of the demo: both are made from what the store has of a claim."""
    verifier = Verifier(RulesJudge())
    verdicts = [
        Verdict(
            candidate=Candidate(row.exchange, f"{at:032x}", "a" * 16, NOON + at, "demo", row.task),
            decision=Decision.VERIFIED,
            verifier="rules/1",
            sample_rate=1.0,
            decided_ns=NOON + at + SECOND,
            report=verifier.verify(row.exchange),
        )
        for at, row in enumerate(read_rows(DEMO)[::3])
    ]
    insert_verdicts(client, verdicts)
    on_answers = {
        (one.candidate.trace_id, found.claim): (found.kind, found.detail)
        for one in verdicts
        if one.report is not None
        for found in one.report.findings
        if found.name == "failure_kind"
    }

    of_issues = {}
    for failure in failures(client, since_ns=0):
        kind = kind_of_fingerprint(describe_failure(failure).fingerprint)
        assert kind is not None
        of_issues[failure.trace_id, failure.claim_index] = (
            kind.finding_id,
            kind.label(failure.label),
        )

    assert of_issues == on_answers
    assert len({kind for kind, _ in of_issues.values()}) >= 5
