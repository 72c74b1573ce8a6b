"""Names of attributes that we write, or that more than one module reads.

Names that only one convention uses are in its table, in `spans/conventions/`. Sources:
OpenInference semantic conventions (spec/semantic_conventions.md, spec/annotations.md) and
OpenTelemetry GenAI semantic conventions (docs/gen-ai/gen-ai-events.md).
"""

from __future__ import annotations

from enum import StrEnum

# Our own. On the application's spans:
ROUTE = "rt4chart.route"
SAMPLED = "rt4chart.sampled"
SAMPLE_RATE = "rt4chart.sample_rate"
DECISION = "rt4chart.decision"
# What the service wrote to a span whose values it shortened:
SHORTENED_ATTRIBUTES = "rt4chart.shortened_attributes"
# The application may set these itself, as attributes or, where that counts, as baggage (ROUTE too):
FORCE = "rt4chart.force"
FEEDBACK = "rt4chart.feedback"
# On a resource, whose spans are those of one tenant:
TENANT = "rt4chart.tenant"
# On the carrier span:
LABEL = "rt4chart.label"
HALLUCINATION_RATE = "rt4chart.hallucination_rate"
MISLEADING_RATE = "rt4chart.misleading_rate"
CLAIMS = "rt4chart.claims"
CLAIM_COUNTS = "rt4chart.claim_counts"
STATUS = "rt4chart.status"
STATUSES = "rt4chart.statuses"
FINDINGS = "rt4chart.findings"
BLAME_STAGE = "rt4chart.blame.stage"
BLAME_CLAIMS = "rt4chart.blame.claims"
CRITERIA = "rt4chart.criteria"
ACTION = "rt4chart.action"
JUDGE = "rt4chart.judge"
VERSION = "rt4chart.version"

SCOPE_NAME = "otel_rt4chart"
# Handmade spans have a scope of their own: they belong to the application and are no verdicts.
HANDMADE_SCOPE = "otel_rt4chart.handmade"
CARRIER_NAME = "rt4chart.verify"


class CarrierPlace(StrEnum):
    """Where the carrier span stands; it is linked to the answer's span in either case."""

    TRACE = "trace"
    """In the answer's trace, as a child of the answer's span."""
    OWN = "own"
    """In a trace of its own, as its root."""


# OpenInference.
SPAN_KIND = "openinference.span.kind"
INPUT_VALUE = "input.value"
OUTPUT_VALUE = "output.value"
OUTPUT_MIME_TYPE = "output.mime_type"
RETRIEVAL_DOCUMENTS = "retrieval.documents"
RERANKER_OUTPUT_DOCUMENTS = "reranker.output_documents"
DOCUMENT_ID = "document.id"
DOCUMENT_CONTENT = "document.content"
DOCUMENT_SCORE = "document.score"
DOCUMENT_METADATA = "document.metadata"
LLM_INPUT_MESSAGES = "llm.input_messages"
LLM_OUTPUT_MESSAGES = "llm.output_messages"
LLM_MODEL_NAME = "llm.model_name"
LLM_PROMPT_TEMPLATE_VERSION = "llm.prompt_template.version"
MESSAGE_ROLE = "message.role"
MESSAGE_CONTENT = "message.content"
METADATA = "metadata"
REDACTED = "__REDACTED__"
EVALUATION = "evaluations.0.evaluation"
# Those of custom criteria follow the verdict on the claims, numbered from 1.
EVALUATION_NUMBERED = "evaluations.{}.evaluation"

# OpenTelemetry.
GEN_AI_EVALUATION_NAME = "gen_ai.evaluation.name"
GEN_AI_EVALUATION_SCORE = "gen_ai.evaluation.score.value"
GEN_AI_EVALUATION_LABEL = "gen_ai.evaluation.score.label"
GEN_AI_EVALUATION_EXPLANATION = "gen_ai.evaluation.explanation"
SERVICE_NAME = "service.name"
SERVICE_VERSION = "service.version"
DEPLOYMENT_ENVIRONMENT = "deployment.environment.name"
HTTP_ROUTE = "http.route"
