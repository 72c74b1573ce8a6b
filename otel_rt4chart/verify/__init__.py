"""The RT4CHART verification core: pure, without OpenTelemetry, database, environment or clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_rt4chart.core.lazy import lazy_names

if TYPE_CHECKING:
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
    from otel_rt4chart.verify.neural.onnx_spans_judge import OnnxSpansJudge
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
    "OnnxSpansJudge",
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

# Loaded on first access: who needs the model of an answer need not load its judges.
_HOME = {
    "Action": "otel_rt4chart.verify.core.model",
    "Advice": "otel_rt4chart.verify.core.model",
    "AnswerCheck": "otel_rt4chart.verify.core.model",
    "AnswerLabel": "otel_rt4chart.verify.core.model",
    "AnswerRange": "otel_rt4chart.verify.core.model",
    "Budget": "otel_rt4chart.verify.core.meter",
    "CascadeJudge": "otel_rt4chart.verify.core.cascade",
    "CheckPlan": "otel_rt4chart.verify.core.model",
    "Chunk": "otel_rt4chart.verify.core.model",
    "Claim": "otel_rt4chart.verify.core.model",
    "ClaimStatus": "otel_rt4chart.verify.core.model",
    "Clash": "otel_rt4chart.verify.core.model",
    "DraftClaim": "otel_rt4chart.verify.core.model",
    "Edit": "otel_rt4chart.verify.core.model",
    "Embedder": "otel_rt4chart.verify.core.judge",
    "Endpoint": "otel_rt4chart.verify.llm.endpoint",
    "Evidence": "otel_rt4chart.verify.core.model",
    "Exchange": "otel_rt4chart.verify.core.model",
    "Finding": "otel_rt4chart.verify.core.model",
    "Hint": "otel_rt4chart.verify.core.judge",
    "Judge": "otel_rt4chart.verify.core.judge",
    "Judgement": "otel_rt4chart.verify.core.model",
    "Label": "otel_rt4chart.verify.core.model",
    "LocalJudge": "otel_rt4chart.verify.neural.local_judge",
    "Measure": "otel_rt4chart.verify.core.rates",
    "Node": "otel_rt4chart.verify.trail.tracer",
    "OnnxJudge": "otel_rt4chart.verify.neural.onnx_judge",
    "OnnxSpansJudge": "otel_rt4chart.verify.neural.onnx_spans_judge",
    "OpenAIJudge": "otel_rt4chart.verify.llm.openai_judge",
    "Passage": "otel_rt4chart.verify.core.model",
    "Report": "otel_rt4chart.verify.core.model",
    "RulesJudge": "otel_rt4chart.verify.local.rules_judge",
    "Sentence": "otel_rt4chart.verify.core.model",
    "SingleJudge": "otel_rt4chart.verify.llm.single_judge",
    "Tracer": "otel_rt4chart.verify.trail.tracer",
    "Trail": "otel_rt4chart.verify.trail.tracer",
    "Usage": "otel_rt4chart.verify.core.model",
    "Verifier": "otel_rt4chart.verify.pipeline",
    "revised": "otel_rt4chart.verify.core.revision",
}

__getattr__ = lazy_names(__name__, _HOME)
