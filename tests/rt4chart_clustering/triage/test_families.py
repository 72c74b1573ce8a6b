"""Issues of one family."""

from __future__ import annotations

import pytest

from rt4chart_clustering.description.operations import OPS, Family
from rt4chart_clustering.triage.families import TITLES, by_family, family_of
from rt4chart_clustering.triage.overview import Standing
from rt4chart_clustering.triage.severity import Traffic, severity_of
from rt4chart_collector.store.issues import Issue


def standing(number: int, fingerprint: str, route: str, claims: int) -> Standing:
    """An issue with as many failures today."""
    issue = Issue(
        number, "t", fingerprint, "shop", route, 1, 2, claims, (), "1", weighted=2.0 * claims
    )
    traffic = Traffic(daily=(0.0,) * 6 + (float(claims),))
    return Standing(issue, traffic, severity_of(traffic))


def test_issues_of_a_family_stand_together() -> None:
    """Whatever their route, label, kind of word and version; the largest family comes first."""
    known = [
        standing(1, "fp2:contradicted:polarity", "billing", 7),
        standing(2, "fp2:contradicted:number", "billing", 5),
        standing(3, "fp1:baseless:entity", "sales", 4),
    ]

    replaced, negated = by_family(known)

    assert (replaced.family, negated.family) == (Family.REPLACED, Family.NEGATED)
    assert [one.issue.id for one in replaced.issues] == [2, 3]
    assert replaced.routes == ("billing", "sales")
    assert (replaced.claims, replaced.weighted, replaced.daily[-1]) == (9, 18.0, 9.0)
    assert by_family([]) == []


@pytest.mark.parametrize("op", OPS)
def test_each_operation_is_of_a_family_with_a_title(op: str) -> None:
    """None is left out."""
    assert TITLES[family_of(f"fp2:baseless:{op}")].strip() != ""
