"""Texts of the answer and health pages: decisions, stages and findings."""

from __future__ import annotations

from functools import cache
from shlex import quote

from otel_rt4chart.spans.model.verdict import Decision, Stage
from otel_rt4chart.verify.core.model import Action, Finding
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from rt4chart_collector.console.view.criteria import outcome_label  # noqa: F401 - for templates
from rt4chart_collector.console.view.filters import visible  # noqa: F401 - templates call it here
from rt4chart_collector.store.answers.verifications import Verification

# {route} stands for the route option, quoted for a shell.
BACKFILL_COMMAND = "rt4chart backfill --since 24h{route}"
# Why an answer has no verdict, what to do about it, and a command if one helps.
DECISIONS: dict[str, tuple[str, str, str]] = {
    Decision.NOT_SAMPLED: (
        "The sampler did not select this answer.",
        "Rates account for sampling. To verify more answers, raise RT4CHART_SAMPLE_RATE; to verify "
        "this one, backfill it.",
        BACKFILL_COMMAND,
    ),
    Decision.THROTTLED: (
        "The application's throttle skipped it, because too many answers came at once.",
        "Raise the throttle of the sampler (docs/instrument/sampling.md), or backfill the answer.",
        BACKFILL_COMMAND,
    ),
    Decision.OVER_BUDGET: (
        "The budget of the judge, or the application's own, was used up for the hour or day.",
        "Raise RT4CHART_JUDGE_BUDGET (docs/deploy/judges.md), or the budget of the sampler "
        "(docs/instrument/sampling.md), or backfill the answer.",
        BACKFILL_COMMAND,
    ),
    Decision.NO_CONTENT: (
        "The spans contain no text of the answer.",
        "Let the instrumentation capture message content (docs/instrument/application.md).",
        "rt4chart doctor",
    ),
    Decision.NO_ANSWER: (
        "The model returned no text: it called tools, refused, or its answer was empty.",
        "There is nothing to verify, and the answer counts in no rate. If users saw a text, set it "
        "as the output of the outermost span.",
        "",
    ),
    Decision.REDACTED: (
        "The text was redacted before it arrived.",
        "Redact values instead of whole texts, or verify in the application before redaction "
        "(docs/instrument/redaction.md).",
        "",
    ),
    Decision.TRUNCATED: (
        "A limit cut the text or dropped attributes.",
        "Raise OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT and OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT in the "
        "application, and the limits of collectors between the application and this service.",
        "rt4chart doctor",
    ),
    Decision.NO_CONTEXT: (
        "No passages were found in the context of this answer.",
        "Trace the retriever as a sibling of the generator, or link to it "
        "(docs/instrument/application.md); the answer's page shows which spans arrived.",
        "rt4chart doctor",
    ),
    Decision.QUEUE_FULL: (
        "The queue for verification was full.",
        "Backfill the answer; if it happens again, add workers or lower RT4CHART_SAMPLE_RATE.",
        BACKFILL_COMMAND,
    ),
    Decision.ERROR: (
        "The judge failed on this answer.",
        "Temporary failures are retried automatically; rt4chart replay retries answers that were "
        "given up.",
        "rt4chart replay --since 24h",
    ),
}
ACTIONS = {
    Action.ACCEPT: "Accept",
    Action.REVISE: "Revise",
    Action.ESCALATE: "Escalate to a person",
}
# What a passage is to the answer.
ROLES = {
    "contradicts": "contradicts the answer",
    "limits": "limits the answer",
    "supports": "supports the answer",
    "unused": "not used",
    "lost": "dropped: retrieved, but not in the context",
}
CHECKS = {
    "citations": "citations",
    "cherry_picking": "cherry-picking",
    "sycophancy": "repeated premises",
}
STAGES = {
    Stage.RETRIEVED: "retrieved",
    Stage.RERANKED: "reranked",
    Stage.TEMPLATE: "in the template",
    Stage.TOOL: "from a tool",
    Stage.PROMPT: "in the prompt",
    Stage.EARLIER: "of an earlier turn",
}
# Findings that measure the use of the context and report no problem.
FIGURES = (FindingName.CHUNK_ATTRIBUTION, FindingName.CHUNK_UTILISATION)


def suggested_command(verification: Verification) -> str:
    """The command for an answer without a verdict, "" if none helps."""
    _, _, template = DECISIONS.get(verification.decision, ("", "", ""))
    return template.format(
        route=f" --route {quote(verification.route)}" if verification.route else ""
    )


def decision_reason(decision: str) -> str:
    """Why an answer has this decision, and what to do about it; "" for verified answers."""
    reason, advice, _ = DECISIONS.get(decision, ("", "", ""))
    return f"{reason} {advice}".strip()


def finding_title(finding: Finding) -> str:
    """The title of a finding; its name in words if a different version wrote it."""
    labels = {str(name): name.label for name in FindingName}
    return labels.get(finding.name, finding.name.replace("_", " ").capitalize())


@cache
def stages_in_words(stages: frozenset[Stage]) -> str:
    """The stages as text, in pipeline order."""
    return ", ".join(words for stage, words in STAGES.items() if stage in stages)
