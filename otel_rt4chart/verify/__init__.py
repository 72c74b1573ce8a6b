"""The RT4CHART verification core: pure, without OpenTelemetry, database, environment or clock."""

from otel_rt4chart.verify.core.cascade import CascadeJudge
from otel_rt4chart.verify.core.judge import Embedder, Hint, Judge
from otel_rt4chart.verify.core.meter import Budget
from otel_rt4chart.verify.core.model import (
    Action,
    Advice,
    AnswerCheck,
    AnswerLabel,
    AnswerRange,
    CheckPlan,
    Chunk,
    Claim,
    ClaimStatus,
    Clash,
    DraftClaim,
    Edit,
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
from otel_rt4chart.verify.core.rates import Measure
from otel_rt4chart.verify.core.revision import revised
from otel_rt4chart.verify.llm.endpoint import Endpoint
from otel_rt4chart.verify.llm.openai_judge import OpenAIJudge
from otel_rt4chart.verify.llm.single_judge import SingleJudge
from otel_rt4chart.verify.local.rules_judge import RulesJudge
from otel_rt4chart.verify.neural.local_judge import LocalJudge
from otel_rt4chart.verify.neural.onnx_judge import OnnxJudge
from otel_rt4chart.verify.pipeline import Verifier
from otel_rt4chart.verify.trail.tracer import Node, Tracer, Trail

__all__ = [
    "Action",
    "Advice",
    "AnswerCheck",
    "AnswerLabel",
    "AnswerRange",
    "Budget",
    "CascadeJudge",
    "CheckPlan",
    "Chunk",
    "Claim",
    "ClaimStatus",
    "Clash",
    "DraftClaim",
    "Edit",
    "Embedder",
    "Endpoint",
    "Evidence",
    "Exchange",
    "Finding",
    "Hint",
    "Judge",
    "Judgement",
    "Label",
    "LocalJudge",
    "Measure",
    "Node",
    "OnnxJudge",
    "OpenAIJudge",
    "Passage",
    "Report",
    "RulesJudge",
    "Sentence",
    "SingleJudge",
    "Tracer",
    "Trail",
    "Usage",
    "Verifier",
    "revised",
]
