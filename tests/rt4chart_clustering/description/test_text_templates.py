"""Names and descriptions of issues."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.findings.classify import MeaningChange, classify_failure
from otel_rt4chart.verify.findings.failure_kinds import FailureKind
from rt4chart_clustering.description.text_templates import (
    describe_claim,
    mask_claim,
    template_title,
)


@pytest.mark.parametrize(
    ("fingerprint", "changes", "expected"),
    [
        (
            "fp1:contradicted:number",
            [MeaningChange(FailureKind.NUMBER, str(at), "14") for at in range(37)],
            "Number not as in the source · sales_call",
        ),
        (
            "fp1:contradicted:exclusion",
            [MeaningChange(FailureKind.EXCLUSION, "", "out-of-network clinics")] * 3,
            "Exclusion ignored: “out-of-network clinics” · sales_call",
        ),
        (
            "fp1:contradicted:entity",
            [MeaningChange(FailureKind.ENTITY, "Atlantis", "Discovery")] * 4
            + [MeaningChange(FailureKind.ENTITY, "NASA", "ESA")],
            "Name not as in the source: “Atlantis” for “Discovery” · sales_call",
        ),
        (
            "fp1:baseless:entity",
            [MeaningChange(FailureKind.ENTITY, "Atlantis")] * 3,
            "Name not as in the source: “Atlantis” · sales_call",
        ),
        (
            "fp1:baseless:addition",
            [MeaningChange(FailureKind.ADDITION, "largest")],
            "Added to the source · sales_call",
        ),
        (
            "fp1:contradicted:term",
            [MeaningChange(FailureKind.TERM, "raising", "upped delivery")] * 3
            + [MeaningChange(FailureKind.TERM, "trucks", "sheds")],
            "Word not as in the source · sales_call",
        ),
        (
            "fp1:contradicted:term",
            [MeaningChange(FailureKind.TERM, "asks", "suggest")] * 9,
            "Word not as in the source · sales_call",
        ),
        (
            "fp1:baseless:term",
            [MeaningChange(FailureKind.TERM, "article")] * 30,
            "Word not as in the source · sales_call",
        ),
        (
            "fp1:baseless:term",
            [MeaningChange(FailureKind.TERM, "of the")] * 30,
            "Word not as in the source · sales_call",
        ),
        (
            "fp5:entailed:cherry_picked_exclusion",
            [MeaningChange(FailureKind.CHERRY_PICKED_EXCLUSION)] * 10,
            "Cherry-picked exclusion · sales_call",
        ),
    ],
)
def test_title_is_pattern_value_and_route(
    fingerprint: str, changes: list[MeaningChange], expected: str
) -> None:
    """A value is named only if nearly all claims share it, and if it says something."""
    assert template_title(fingerprint, "sales_call", changes, len(changes)) == expected


@pytest.mark.parametrize("label", ["contradicted", "baseless", "entailed"])
@pytest.mark.parametrize("kind", FailureKind)
def test_a_title_is_the_label_that_findings_have(label: str, kind: FailureKind) -> None:
    """The same failure is called the same on an answer's page and on its issue."""
    assert template_title(f"fp1:{label}:{kind}", "r", [], 2) == f"{kind.label(label)} · r"


@pytest.mark.parametrize(
    "value",
    ["4111 1111 1111 1111", "sk-live-abcdefghijklmnop1234", "ann@shop.example", "+1 415 555 2671"],
)
def test_title_names_no_personal_data(value: str) -> None:
    """It goes to tickets and alerts, also where they carry no text of users."""
    changes = [MeaningChange(FailureKind.NUMBER, value, "14 days")] * 5

    title = template_title("fp1:contradicted:number", "billing", changes, 5)

    assert title == "Number not as in the source · billing"


def test_title_strips_control_characters_of_values() -> None:
    """An answer cannot write escape sequences into a title."""
    changes = [MeaningChange(FailureKind.EXCLUSION, found="\x1b[31mred\u202e text")] * 3

    shown = template_title("fp1:contradicted:exclusion", "a\nb", changes, 3)

    assert shown == "Exclusion ignored: “(31mred text” · a b"


def test_description_of_an_explained_claim_tells_operations_alone() -> None:
    """Topic, names and values are left out."""
    one = classify_failure("The trial lasts 14 days.", "contradicted", ["The trial lasts 30 days."])
    other = classify_failure("Rent is due in 5 weeks.", "contradicted", ["Rent is due in 9 weeks."])

    texts = {
        describe_claim("The trial lasts 14 days.", Label.CONTRADICTED, one),
        describe_claim("Rent is due in 5 weeks.", Label.CONTRADICTED, other),
    }

    assert texts == {"contradicted: a number differs from the source"}


def test_masked_claim_keeps_words_without_values() -> None:
    """Names, numbers and dates become their kind, function words go."""
    assert mask_claim("On April 24, 1990 the Atlantis crew of Houston flew 3 rockets.") == (
        "[date] [name] crew [name] flew [number] rockets"
    )


@pytest.mark.parametrize("stored", ["a:b", "fp9:contradicted:number:more", "fp9:baseless:new", "x"])
def test_a_fingerprint_of_another_shape_stands_as_it_is(stored: str) -> None:
    """Another version may have written it."""
    assert template_title(stored, "billing", [], 3) == f"{stored} · billing"
