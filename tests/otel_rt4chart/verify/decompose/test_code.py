"""Code in an answer is no claim, prose around it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.decompose.rules import are_code, decompose
from otel_rt4chart.verify.text.segment import segment


def claims(answer: str) -> list[str]:
    """The texts that are claims."""
    return [draft.text for draft in decompose(segment(answer)) if draft.is_claim]


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_a_fenced_block_is_no_claim(fence: str) -> None:
    """The sentences around it stay claims."""
    block = f"{fence}python\nclient = Client(timeout=30)\n# It waits.\n\nx = 1\n{fence}"

    assert claims(f"It waits 30 seconds.\n\n{block}\nIt retries twice.") == [
        "It waits 30 seconds.",
        "It retries twice.",
    ]


def test_fenced_prose_is_claims() -> None:
    """A fence that says so holds text."""
    assert claims("```text\nThe trial lasts 14 days.\n```") == ["The trial lasts 14 days."]


@pytest.mark.parametrize(
    "line",
    [
        "client = Client(timeout=30)",
        "import os",
        "from os import path",
        "def wait(seconds: int) -> None:",
        "client.close()",
        "print('done')",
        "const client = new Client({",
        "});",
    ],
)
def test_a_line_that_is_plainly_code_is_no_claim(line: str) -> None:
    """Without a fence too."""
    assert claims(f"It retries.\n{line}") == ["It retries."]


@pytest.mark.parametrize(
    "text",
    ["From Paris.", "Refund(s)", "The tower (330 m)", "Revenue = 5 million.", "It is `wait(3)`."],
)
def test_prose_with_brackets_or_signs_stays_a_claim(text: str) -> None:
    """Only what could be nothing else is code."""
    assert claims(text) == [text]


@given(st.text(alphabet="`~ab=(\n. ", max_size=60))
def test_every_sentence_is_told(answer: str) -> None:
    """One word for each."""
    sentences = segment(answer)

    assert len(list(are_code(sentences))) == len(sentences)
