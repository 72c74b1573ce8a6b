from __future__ import annotations

import pytest

from otel_rt4chart.verify.decompose.rules import decompose
from otel_rt4chart.verify.text.segment import segment


def claims(answer: str) -> list[tuple[str, str]]:
    """The claims of an answer, each with the text at its range."""
    return [
        (draft.text, answer[draft.range.start : draft.range.end])
        for draft in decompose(segment(answer))
        if draft.is_claim
    ]


def test_a_cell_is_a_claim_with_its_row_and_header() -> None:
    """Headers, dashes and blank cells claim nothing; the text around is read as ever."""
    answer = (
        "Here are the plans:\n\n| Plan | Price | Setup fee |\n|:--|--:|---|\n"
        "| Basic | $10 | none |\n| Pro | **$20** | - |\n\nAll plans are billed monthly."
    )
    assert claims(answer) == [
        ("Basic: price is $10", "$10"),
        ("Basic: no setup fee", "none"),
        ("Pro: price is $20", "**$20**"),
        ("All plans are billed monthly.", "All plans are billed monthly."),
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("|From Bergen to|Duration|\n|-|-|\n|Oslo|7 hours|",
         [("From Bergen to Oslo: duration is 7 hours", "7 hours")]),
        ("|Year|Winner|\n|-|-|\n|1968|Sweden|", [("Year 1968: winner is Sweden", "Sweden")]),
        ("|Field|Value|\n|-|-|\n|Weight|254 g|", [("Weight is 254 g", "254 g")]),
        ("| |X200|\n|-|-|\n|Waterproof|no|", [("X200: is not waterproof", "no")]),
        ("Plan | Price\n--- | ---\nBasic | $10", [("Basic: price is $10", "$10")]),
        ("|a|b|\n|-|-|\n|x|", []),
        ("```\n|a|b|\n|-|-|\n|x|y|\n```", []),
    ],
)  # fmt: skip
def test_tables_of_every_form_are_read(answer: str, expected: list[tuple[str, str]]) -> None:
    """Lists of properties, tables without outer bars, short rows; a block of code is none."""
    assert claims(answer) == expected


def test_tags_are_no_claims() -> None:
    """Nor part of one."""
    answer = "<h2>Plans</h2>\n<ul>\n<li>Basic costs <b>$10</b>.</li>\n</ul>\n<br/>\nPro costs $20."

    assert [text for text, _ in claims(answer)][-2:] == ["Basic costs $10.", "Pro costs $20."]
    assert not any("<" in text for text, _ in claims(answer))


def test_a_comparison_in_angle_brackets_stays() -> None:
    """What is no tag is text."""
    assert claims("Use <name> if x < 5 and y > 3 holds.") == [
        ("Use <name> if x < 5 and y > 3 holds.", "Use <name> if x < 5 and y > 3 holds.")
    ]
