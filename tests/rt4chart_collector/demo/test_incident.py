from __future__ import annotations

import json
import re

from otel_rt4chart.verify.core.model import AnswerLabel, AnswerRange, Claim, Clash, Label
from rt4chart_collector.demo.helpdesk import read_helpdesk
from rt4chart_collector.demo.incident import Incident, right_failure
from rt4chart_collector.store.answers.answers import StoredAnswer

WRITTEN = read_helpdesk()["refunds-008"]
CLAIM = Claim(
    text=WRITTEN.answer,
    label=Label.CONTRADICTED,
    local_label=Label.CONTRADICTED,
    confidence=0.9,
    decided_by="local",
    kind="numeric",
    answer_range=AnswerRange(0, len(WRITTEN.answer)),
    sentence=0,
    clashes=(Clash("number", "90 days", "30 days"),),
)


def stored(*clashes: Clash) -> StoredAnswer:
    """The written answer with a verdict that names these words."""
    return StoredAnswer(
        trace_id="a" * 32,
        span_id="b" * 16,
        verifier="local/1",
        service="helpdesk",
        route=WRITTEN.route,
        question=WRITTEN.question,
        answer=WRITTEN.answer,
        label=AnswerLabel.CONTRADICTED,
        metadata=json.dumps({"answer_id": WRITTEN.id}),
        claims=(Claim(**{name: getattr(CLAIM, name) for name in CLAIM.__slots__}
                      | {"clashes": clashes}),),
    )  # fmt: skip


def test_an_example_is_shown_only_with_the_words_of_the_truth() -> None:
    """Not with the words of another sentence of the passage, and not without words."""
    assert right_failure(stored(*CLAIM.clashes)) == CLAIM
    assert right_failure(stored(Clash("number", "90 days", "15 euros"))) is None
    assert right_failure(stored()) is None
    assert right_failure(stored(*CLAIM.clashes, *CLAIM.clashes)) is None


def test_the_incident_is_told_in_three_lines() -> None:
    """Rates, time and release; the wrong words beside the right ones; the sentence."""
    first, second, third = Incident(
        alert_id="01",
        title="Drift",
        route="support/refunds",
        before=0.0128,
        after=0.297,
        since_ns=1_900_000_000 * 10**9,
        release="2.4.0",
        trace_id="a",
        span_id="b",
        claim_index=0,
        claim=CLAIM.text,
        claimed="90 days",
        found="30 days",
    ).lines()

    assert re.fullmatch(r"support/refunds: 1\.3% → 29\.7% since \d\d:\d\d, release 2\.4\.0", first)
    assert (second, third) == ("“90 days” should be “30 days”", f"in: {CLAIM.text}")
