"""The failure taxonomy: ids that are stored, and labels for people."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.core.model import Clash, Label
from otel_rt4chart.verify.findings.failure_kinds import (
    EXPLAINED,
    FailureFamily,
    FailureKind,
    FindingName,
    broader_fingerprint,
    kind_of_clash,
    pattern_of,
)


def test_ids_of_fingerprints_are_those_that_databases_have() -> None:
    """In their order of precedence: another id would be another issue."""
    assert " ".join(FailureKind) == (
        "number unit date entity exclusion polarity direction opposite scope qualifier hedge order "
        "echo misplaced quality term bad_citation prior_knowledge addition other "
        "cherry_picked_exclusion cherry_picked_contradiction cherry_picked_limit cherry_picked "
        "dropped_condition dropped_exception dropped_time dropped_population dropped_place "
        "dropped_quantity dropped_hedge dropped_source stale"
    )


def test_ids_of_findings_are_those_that_databases_have() -> None:
    """Rows and reports of before name their kinds so."""
    assert {kind.finding_id for kind in FailureKind} == {
        "numeric_slip",
        "entity_swap",
        "negation_flip",
        "dropped_qualifier",
        "cherry_picked_exclusion",
        "cherry_picked_contradiction",
        "cherry_picked_limit",
        "stale_source",
        "sycophantic_restatement",
        "unsupported_generalisation",
        "inference_as_fact",
        "prior_knowledge",
        "temporal_shift",
        "bad_citation",
        "overreach",
        "other",
    }
    assert [str(name) for name in FindingName] == [
        "chunk_attribution",
        "chunk_utilisation",
        "citation",
        "cherry_picked",
        "dropped_qualifier",
        "sycophantic",
        "stale",
        "overreach",
        "context_compressed",
        "decision_basis",
        "linked_by_words_only",
        "findings_limited",
        "failure_kind",
    ]


@pytest.mark.parametrize("label", [Label.CONTRADICTED, Label.BASELESS, Label.ENTAILED])
def test_labels_and_descriptions_tell_kinds_apart(label: Label) -> None:
    """No two kinds, families or findings have the same text."""
    texts = [kind.label(label) for kind in FailureKind]
    others = [kind.description for kind in FailureKind]

    assert len(set(texts)) == len(set(others)) == len(FailureKind)
    assert len({one.label for one in FailureFamily}) == len(FailureFamily)
    assert len({one.label for one in FindingName}) == len(FindingName)
    assert {kind.family for kind in FailureKind} == set(FailureFamily)


@pytest.mark.parametrize("kind", sorted(EXPLAINED))
def test_a_kind_that_rules_explain_has_one_name_for_both_unfaithful_labels(
    kind: FailureKind,
) -> None:
    """Its contradicted and its baseless claims are one issue, whose title names the kind."""
    assert kind.label(Label.CONTRADICTED) == kind.label(Label.BASELESS) == kind.label("unfaithful")
    assert pattern_of(Label.CONTRADICTED, kind) == pattern_of(Label.BASELESS, kind)


@pytest.mark.parametrize(
    ("clash", "expected"),
    [
        (Clash("number", "14 days", "30 days"), FailureKind.NUMBER),
        (Clash("number", "14 days", "14 weeks"), FailureKind.UNIT),
        (Clash("number", "14 days", ""), FailureKind.NUMBER),
        (Clash("number", "ten", "twelve"), FailureKind.NUMBER),
        (Clash("term", "14", "14"), FailureKind.TERM),
    ],
)
def test_a_clash_has_the_kind_of_its_slot(clash: Clash, expected: FailureKind) -> None:
    """Numbers with the same digits differ in their unit."""
    assert kind_of_clash(clash) is expected


@pytest.mark.parametrize(
    ("fingerprint", "broader"),
    [
        ("fp5:entailed:dropped_time", "fp5:entailed:qualifier"),
        ("fp5:entailed:qualifier", "fp5:entailed:qualifier"),
        ("fp5:entailed:cherry_picked_limit", "fp5:entailed:cherry_picked"),
        ("fp5:entailed:stale", ""),
        ("fp5:contradicted:qualifier", ""),
        ("fp5:contradicted:number", ""),
        ("?", ""),
    ],
)
def test_kinds_of_one_status_have_a_broader_one(fingerprint: str, broader: str) -> None:
    """Of misleading claims alone: what is unfaithful in two ways has two causes."""
    assert broader_fingerprint(fingerprint) == broader
