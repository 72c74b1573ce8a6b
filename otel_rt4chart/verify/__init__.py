"""The RT4CHART verification core: pure, without OpenTelemetry, database, environment or clock."""

from otel_rt4chart.verify.judge import Judge
from otel_rt4chart.verify.local.judge import LocalJudge
from otel_rt4chart.verify.model import (
    AnswerLabel,
    AnswerRange,
    Chunk,
    Claim,
    Clash,
    DraftClaim,
    Evidence,
    Exchange,
    Finding,
    Judgement,
    Label,
    Passage,
    Report,
    Sentence,
    Usage,
)
from otel_rt4chart.verify.pipeline import Verifier

__all__ = [
    "AnswerLabel",
    "AnswerRange",
    "Chunk",
    "Claim",
    "Clash",
    "DraftClaim",
    "Evidence",
    "Exchange",
    "Finding",
    "Judge",
    "Judgement",
    "Label",
    "LocalJudge",
    "Passage",
    "Report",
    "Sentence",
    "Usage",
    "Verifier",
]
