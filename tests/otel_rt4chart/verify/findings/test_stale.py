"""A claim that stands on sources that are no longer in force is found."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify import (
    AnswerRange,
    Claim,
    Evidence,
    Exchange,
    Finding,
    Label,
    Passage,
    RulesJudge,
    Verifier,
)
from otel_rt4chart.verify.findings.stale import stale

AGE = "Eligibility extends to members aged 16 and above."
NOW = "2026-05-01"


def claim(*passages: str, label: Label = Label.ENTAILED) -> Claim:
    """A claim that stands on those passages."""
    evidence = tuple(Evidence(name, 0, len(AGE), AGE, "supports") for name in passages)
    return Claim(AGE, label, label, 1.0, "hand", "attribute", AnswerRange(0, len(AGE)), 0, evidence)


def found(
    old: Mapping[str, object], new: Mapping[str, object] | None = None, as_of: str = NOW
) -> list[Finding]:
    """What is stale of a claim on the old passage alone, with the new one beside it."""
    passages = [Passage("old", AGE, metadata=old)]
    if new is not None:
        passages.append(Passage("new", "Members aged 18.", metadata=new))
    return list(stale(Exchange("", passages, AGE, as_of), [claim("old")], None))


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({"valid_to": "2026-04-30"}, "was valid until 2026-04-30"),
        ({"valid_until": "2026-04-30T23:59:59Z"}, "was valid until 2026-04-30"),
        ({"expires_at": datetime(2026, 4, 30, tzinfo=UTC)}, "was valid until 2026-04-30"),
        ({"status": "superseded"}, "is superseded"),
        ({"status": "Deprecated"}, "is deprecated"),
        ({"is_current": False}, "is marked as not current"),
        ({"superseded_by": "policy-2026"}, "is superseded by policy-2026"),
    ],
)
def test_a_source_whose_metadata_says_so_is_stale(metadata: dict[str, object], reason: str) -> None:
    """Its own date, state or successor."""
    (finding,) = found(metadata)

    assert (finding.name, finding.claim, finding.passage_ids) == ("stale", 0, ("old",))
    assert finding.detail == f"supported by passage old alone, which {reason}"
    assert finding.evidence == claim("old").evidence


@pytest.mark.parametrize(
    ("metadata", "as_of"),
    [
        ({"valid_to": "2026-04-30"}, ""),
        ({"valid_to": "2026-05-01"}, NOW),
        ({"valid_to": "2026-05-01"}, "2026-05-01T10:00:00Z"),
        ({"valid_to": "2027-01-01"}, NOW),
        ({"valid_to": "30 April 2026"}, NOW),
        ({"valid_to": "2026-04-30"}, "yesterday"),
        ({"valid_to": None, "status": None, "superseded_by": ""}, NOW),
        ({"status": "current", "is_current": True}, NOW),
        ({"version": "1"}, NOW),
        ({}, NOW),
    ],
)
def test_a_source_that_may_be_in_force_is_not_stale(
    metadata: dict[str, object], as_of: str
) -> None:
    """Without the answer's date no expiry is known, and the last day counts."""
    assert found(metadata, as_of=as_of) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"version": "1.9"}, {"version": "1.10"}),
        ({"version": 1}, {"version": 2}),
        ({"version": "v1.9"}, {"version": "v2"}),
        ({"updated_at": "2025-12-31"}, {"updated_at": "2026-01-01"}),
        ({"updated_at": "2026-01-01T09:00"}, {"last_modified": "2026-01-01 10:00:00"}),
        ({"version": "draft", "updated_at": "2025-12-31"}, {"updated_at": "2026-01-01"}),
    ],
)
def test_a_later_edition_of_the_same_document_replaces_a_source(
    old: dict[str, object], new: dict[str, object]
) -> None:
    """Versions are compared by their numbers, dates where there are no versions."""
    document = {"document_id": "policy"}

    (finding,) = found(document | old, document | new)

    assert "passage new replaces" in finding.detail
    assert found(document | new, document | old) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"version": "1.9", "source": "a"}, {"version": "1.10", "source": "b"}),
        ({"version": "1.9"}, {"version": "1.10"}),
        ({"version": "2", "source": "a"}, {"version": "2", "source": "a"}),
        ({"version": "2", "source": "a"}, {"source": "a"}),
        ({"updated_at": NOW, "source": "a"}, {"updated_at": NOW, "source": "a"}),
        (
            {"version": "2", "updated_at": "2025-01-01", "source": "a"},
            {"version": "1", "updated_at": "2026-01-01", "source": "a"},
        ),
    ],
    ids=["other document", "no document", "same version", "one version", "same date", "version"],
)
def test_another_passage_that_is_not_later_replaces_nothing(
    old: dict[str, object], new: dict[str, object]
) -> None:
    """Of another document, of the same edition, or of an earlier version."""
    assert found(old, new) == []


class Withdrawn:
    """A user's knowledge: these ids are no longer to be relied on."""

    def __init__(self, *ids: str) -> None:
        """The passages that are not current."""
        self.ids = ids

    def is_current(self, passage: Passage) -> bool:
        """False for the ids given."""
        return passage.id not in self.ids


def test_an_authority_knows_better_than_the_metadata() -> None:
    """A whole verification with one."""
    exchange = Exchange("Who is eligible?", [Passage("age", AGE)], AGE)

    (finding,) = [
        one
        for one in Verifier(RulesJudge(), authority=Withdrawn("age")).verify(exchange).findings
        if one.name == "stale"
    ]

    assert "is not current by the given authority" in finding.detail
    current = Verifier(RulesJudge(), authority=Withdrawn("other")).verify(exchange)
    assert "stale" not in [one.name for one in current.findings]


def test_an_authority_that_approves_leaves_the_metadata_to_speak() -> None:
    """What has expired has expired."""
    passage = Passage("age", AGE, metadata={"valid_to": "2020-01-01"})

    found = stale(Exchange("", [passage], AGE, NOW), [claim("age")], Withdrawn())

    assert [(one.name, one.passage_ids) for one in found] == [("stale", ("age",))]


def test_a_claim_with_one_current_source_is_not_stale() -> None:
    """It would still be said without the old one."""
    passages = [Passage("old", AGE, metadata={"status": "archived"}), Passage("new", AGE)]
    exchange = Exchange("", passages, AGE)

    assert [one.passage_ids for one in stale(exchange, [claim("old")], None)] == [("old",)]
    assert list(stale(exchange, [claim("old", "new")], None)) == []


@pytest.mark.parametrize("label", [label for label in Label if label is not Label.ENTAILED])
def test_only_an_entailed_claim_can_be_stale(label: Label) -> None:
    """The others have no support to lose."""
    passages = [Passage("old", AGE, metadata={"status": "archived"})]

    assert list(stale(Exchange("", passages, AGE), [claim("old", label=label)], None)) == []


def test_a_claim_without_evidence_is_not_stale() -> None:
    """It stands on nothing that could expire."""
    passages = [Passage("old", AGE, metadata={"status": "archived"})]

    assert list(stale(Exchange("", passages, AGE), [claim()], None)) == []


NAMES = ("version", "updated_at", "valid_to", "status", "source", "superseded_by")
METADATA = st.dictionaries(
    st.sampled_from(NAMES), st.none() | st.booleans() | st.integers() | st.floats() | st.text()
)


@given(METADATA, METADATA, st.text(max_size=12) | st.just(NOW))
def test_no_metadata_breaks_the_check(
    old: dict[str, object], new: dict[str, object], as_of: str
) -> None:
    """Users put anything there."""
    assert len(found(old, new, as_of)) <= 1
