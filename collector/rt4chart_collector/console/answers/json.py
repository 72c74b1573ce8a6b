"""An answer as JSON: all of it, also what its page leaves out for length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from otel_rt4chart.verify.core.model import Passage
from rt4chart_collector.console.answers.answer_view import View
from rt4chart_collector.store.answers.claims import ClaimRow
from rt4chart_collector.store.answers.feedback import Feedback
from rt4chart_collector.store.answers.trace_tree import TraceTree
from rt4chart_collector.store.answers.verifications import Verification
from rt4chart_collector.store.issues.issues import ClaimIssue


def answer_document(
    one: Verification,
    claims: Sequence[ClaimRow],
    view: View,
    issues: Sequence[ClaimIssue],
    feedback: Sequence[Feedback],
    texts: Mapping[str, Passage] | None,
    trace: TraceTree | None,
) -> dict[str, object]:
    """The document: a passage's `text` is null where its span is gone, ranges are characters."""
    verdict = asdict(one)
    verdict.pop("passages")
    known = texts or {}
    return {
        **verdict,
        "claims": [{"index": each.index, **asdict(each.claim)} for each in claims],
        "passages": [
            {
                "id": each.id,
                "role": each.role,
                "stages": each.stages,
                "text": known[each.id].text if each.id in known else None,
            }
            for each in view.named
        ],
        "issues": [asdict(each) for each in issues],
        "feedback": [asdict(each) for each in feedback],
        "spans": [asdict(each) for each in trace.spans] if trace else None,
    }
