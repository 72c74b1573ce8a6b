"""The kinds of misleading claims."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.core.model import ClaimStatus, Evidence, Finding, Label
from otel_rt4chart.verify.findings.classify import classify_failure
from otel_rt4chart.verify.findings.failure_kinds import (
    KIND_OF_DROPPED,
    FailureFamily,
    FailureKind,
    measure_of_fingerprint,
)

CLAIM = "The policy covers outpatient MRI."
EXCLUDED = "Exclusions: outpatient MRI is not covered unless pre-authorized."
DENIED = "MRI scans must be paid by members themselves."
PAID = "Members pay for each MRI scan themselves."
LIMITED = "MRI is covered only for members who are 18 or older."


def kind_of(
    status: ClaimStatus, *sources: str, found: tuple[tuple[str, str, str], ...] = ()
) -> FailureKind:
    """The kind of an entailed claim; findings are their name, kind and evidence."""
    findings = [
        Finding(
            name,
            "",
            kind=kind,
            claim=0,
            evidence=(Evidence("p2", 0, len(text), text, "contradicts"),),
        )
        for name, kind, text in found
    ]
    return classify_failure(CLAIM, Label.ENTAILED, sources, status=status, findings=findings).kind


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (("cherry_picked", "exclusion", DENIED), FailureKind.CHERRY_PICKED_EXCLUSION),
        (("cherry_picked", "contradiction", EXCLUDED), FailureKind.CHERRY_PICKED_EXCLUSION),
        (("cherry_picked", "contradiction", DENIED), FailureKind.CHERRY_PICKED_CONTRADICTION),
        (("cherry_picked", "condition", DENIED), FailureKind.CHERRY_PICKED_LIMIT),
        (("cherry_picked", "population", LIMITED), FailureKind.CHERRY_PICKED_LIMIT),
    ],
)
def test_a_cherry_picked_claim_is_told_by_what_the_other_passage_does(
    found: tuple[str, str, str], expected: FailureKind
) -> None:
    """An exclusion is one by its words, even if the judge calls it a contradiction."""
    assert kind_of(ClaimStatus.CHERRY_PICKED, found=(found,)) is expected


def test_without_a_finding_the_evidence_tells() -> None:
    """Findings are listed up to a limit; the claim still has its evidence."""
    assert [kind_of(ClaimStatus.CHERRY_PICKED, text) for text in (EXCLUDED, LIMITED, PAID)] == [
        FailureKind.CHERRY_PICKED_EXCLUSION,
        FailureKind.CHERRY_PICKED_LIMIT,
        FailureKind.CHERRY_PICKED_CONTRADICTION,
    ]
    assert kind_of(ClaimStatus.QUALIFIER_DROPPED, "MRI is covered if approved.") is (
        FailureKind.DROPPED_CONDITION
    )
    assert kind_of(ClaimStatus.QUALIFIER_DROPPED, PAID) is FailureKind.QUALIFIER


@pytest.mark.parametrize(("restriction", "expected"), KIND_OF_DROPPED.items())
def test_a_dropped_qualifier_is_told_by_its_kind(restriction: str, expected: FailureKind) -> None:
    """Whatever the sentence says beside it."""
    found = (("dropped_qualifier", restriction, LIMITED),)

    assert kind_of(ClaimStatus.QUALIFIER_DROPPED, found=found) is expected


@pytest.mark.parametrize(
    ("status", "label"),
    [
        (ClaimStatus.STALE, "Outdated source"),
        (ClaimStatus.RESTATES_PREMISE, "Repeats the question"),
        (ClaimStatus.MISCITED, "Cites a passage that does not say it"),
    ],
)
def test_other_statuses_have_one_kind(status: ClaimStatus, label: str) -> None:
    """With the name that a person would give."""
    assert kind_of(status, LIMITED).label(Label.ENTAILED) == label


def test_a_contradicted_claim_with_support_elsewhere_is_cherry_picked() -> None:
    """If what contradicts it excludes something; otherwise the difference says more."""
    status = ClaimStatus.CHERRY_PICKED
    excluded = classify_failure(CLAIM, Label.CONTRADICTED, [EXCLUDED], status=status)
    number = classify_failure(
        "It lasts 14 days.", Label.CONTRADICTED, ["It lasts 30 days."], status=status
    )

    assert excluded.kind is FailureKind.CHERRY_PICKED_EXCLUSION
    assert number.kind is FailureKind.NUMBER


def test_a_fingerprint_says_which_measure_counts_its_claims() -> None:
    """Entailed claims mislead; the others are unfaithful."""
    found = {
        one: measure_of_fingerprint(one)
        for one in ("fp5:entailed:stale", "fp3:contradicted:number", "fp3:baseless:other", "x")
    }

    assert list(found.values()) == ["misleading", "unfaithful", "unfaithful", "unfaithful"]
    assert {kind.family for kind in KIND_OF_DROPPED.values()} == {FailureFamily.PARTIAL}
