"""The bounded search for findings."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify import Exchange, Passage, RulesJudge, Verifier
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.steps import answer_batch, run_steps
from otel_rt4chart.verify.findings.cherry_picking import CherryPickSearch
from otel_rt4chart.verify.findings.citations import BoundedScanner, ScanLimitError
from otel_rt4chart.verify.findings.find import find
from otel_rt4chart.verify.stages.verification import VerificationNotes
from otel_rt4chart.verify.text.segment import segment_passages

TRIAL = Passage("p1", "The trial lasts 14 days. It is free.")


def test_a_search_ends_at_its_comparisons() -> None:
    """A comparison is of up to 25 sentences."""
    (claim,) = Verifier(RulesJudge()).verify(Exchange("", [TRIAL], "The trial is free.")).claims
    scanner = BoundedScanner(RulesJudge(), most=3)
    many = segment_passages([Passage("p", "It is free. " * 26)])

    scanner.judge_one(claim, many, "")
    scanner.judge_one(claim, many[:25], "")
    with pytest.raises(ScanLimitError, match="too_large: more than 3 comparisons for findings"):
        scanner.judge_one(claim, many[:1], "")


def test_an_answer_with_too_many_citations_says_which_findings_were_not_searched() -> None:
    """What was found before stays."""
    text = "The trial lasts 14 days [2]. It is free [2]. The moon is made of cheese [9]."
    other = Passage("p2", "Nothing is said about the length of it. " * 13_000)
    exchange = Exchange("", [TRIAL, other], text)
    claims = Verifier(RulesJudge()).verify(Exchange("", [TRIAL], text)).claims

    notes = VerificationNotes({}, "", None)

    steps = find(exchange, claims, notes, CherryPickSearch(RulesJudge()))
    found = run_steps(steps, lambda batch: answer_batch(batch, Meter()))

    told = [(one.name, one.kind) for one in found if one.name in ("citation", "findings_limited")]
    assert ("citation", "unknown_id") in told
    assert ("findings_limited", "citation") in told
