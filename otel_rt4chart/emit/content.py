"""Removes all texts from a verdict, for applications whose content must not leave."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.core.model import Claim, Evidence, Finding, Report


def without_texts(verdict: Verdict) -> Verdict:
    """The verdict with labels, counts, ids and ranges; the exchange stays, as it is not emitted."""
    report = verdict.report
    return verdict if report is None else replace(verdict, report=_report(report))


def _report(report: Report) -> Report:
    return replace(
        report,
        claims=tuple(map(_claim, report.claims)),
        findings=tuple(map(_finding, report.findings)),
    )


def _claim(claim: Claim) -> Claim:
    evidence = tuple(map(_evidence, claim.evidence))
    return replace(claim, text="", reason="", clashes=(), nearest="", evidence=evidence)


def _evidence(evidence: Evidence) -> Evidence:
    return replace(evidence, text="")


def _finding(finding: Finding) -> Finding:
    return replace(finding, detail="", evidence=tuple(map(_evidence, finding.evidence)))
