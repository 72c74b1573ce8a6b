"""The two joins of RT4CHART: over the chunks of a claim, and over the claims of an answer."""

from __future__ import annotations

from collections.abc import Iterable

from otel_rt4chart.verify.model import AnswerLabel, Label


def or_join(labels: Iterable[Label]) -> Label:
    """A claim's local label from its chunks' (section 3.4): contradicted, else entailed.

    A chunk that could not be judged decides nothing; where none could be, the claim is undecided.
    """
    seen = set(labels)
    for label in (Label.CONTRADICTED, Label.ENTAILED, Label.BASELESS):
        if label in seen:
            return label
    return Label.UNDECIDED if Label.UNDECIDED in seen else Label.BASELESS


def and_join(labels: Iterable[Label]) -> AnswerLabel:
    """An answer's label from its claims' (section 3.6); what is not a claim counts nowhere."""
    seen = set(labels) - {Label.NOT_A_CLAIM}
    if not seen:
        return AnswerLabel.NO_CLAIMS
    for label in (Label.CONTRADICTED, Label.BASELESS, Label.UNDECIDED):
        if label in seen:
            return AnswerLabel(label.value)
    return AnswerLabel.ENTAILED
