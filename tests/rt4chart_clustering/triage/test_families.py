"""Issues of one family."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.findings.failure_kinds import (
    FailureFamily,
    FailureKind,
)
from rt4chart_clustering.triage.families import family_of, group_by_family
from rt4chart_clustering.triage.ranking import RankedIssue
from rt4chart_clustering.triage.severity import Traffic, severity_of
from rt4chart_collector.store.issues.issues import Issue


def ranked(number: int, fingerprint: str, route: str, claims: int) -> RankedIssue:
    """An issue with as many failures today."""
    issue = Issue(
        number, "t", fingerprint, "shop", route, 1, 2, claims, (), "1", weighted=2.0 * claims
    )
    traffic = Traffic(daily=(0.0,) * 6 + (float(claims),))
    return RankedIssue(issue, traffic, severity_of(traffic))


def test_issues_of_a_family_stand_together() -> None:
    """Whatever their route, label, kind of word and version; the largest family comes first."""
    known = [
        ranked(1, "fp2:contradicted:polarity", "billing", 7),
        ranked(2, "fp2:contradicted:number", "billing", 5),
        ranked(3, "fp1:baseless:entity", "sales", 4),
    ]

    replaced, negated = group_by_family(known)

    assert (replaced.family, negated.family) == (FailureFamily.REPLACED, FailureFamily.NEGATED)
    assert [one.issue.id for one in replaced.issues] == [2, 3]
    assert replaced.routes == ("billing", "sales")
    assert (replaced.claims, replaced.weighted, replaced.daily[-1]) == (9, 18.0, 9.0)
    assert group_by_family([]) == []


@pytest.mark.parametrize("kind", FailureKind)
def test_a_fingerprint_is_of_the_family_of_its_kind(kind: FailureKind) -> None:
    """Whatever its version and label; an unknown kind is one that no rule explains."""
    assert family_of(f"fp2:baseless:{kind}") is kind.family
    assert family_of("fp9:baseless:new") is FailureFamily.UNTOLD
