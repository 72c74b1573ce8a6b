"""What the page of an answer says in words: decisions, stages, findings."""

from __future__ import annotations

from shlex import quote

from otel_rt4chart.spans.model.verdict import Decision, Stage
from otel_rt4chart.verify.core.failure_kinds import FindingName
from otel_rt4chart.verify.core.model import Finding
from rt4chart_collector.store.answers.verifications import Verification

# {route} stands for the route as a shell takes it.
BY_HAND = "rt4chart backfill --since 24h{route}"
# Why an answer has no verdict, what to do about it, and a command where there is one.
DECISIONS: dict[Decision, tuple[str, str, str]] = {
    Decision.NOT_SAMPLED: (
        "The sampler did not choose it.",
        "Rates are weighted for that. To judge it all the same, raise RT4CHART_SAMPLE_RATE for "
        "what comes, or judge what is stored with another judge.",
        BY_HAND,
    ),
    Decision.THROTTLED: (
        "So many answers came at once that the application's throttle let this one go.",
        "Raise the throttle of the sampler (docs/instrument/sampling.md), or judge what is stored.",
        BY_HAND,
    ),
    Decision.OVER_BUDGET: (
        "The application's budget for verification was used up.",
        "Raise the budget of the sampler (docs/instrument/sampling.md), or judge what is stored.",
        BY_HAND,
    ),
    Decision.NO_CONTENT: (
        "The spans hold no text of the answer.",
        "Let the instrumentation capture content (docs/instrument/application.md).",
        "rt4chart doctor",
    ),
    Decision.REDACTED: (
        "A placeholder stands where the text was.",
        "Redact values instead of whole texts, or verify before redaction, in the application "
        "(docs/instrument/redaction.md).",
        "",
    ),
    Decision.TRUNCATED: (
        "A limit cut the text or took attributes away.",
        "Raise OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT and OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT in the "
        "application, and the limits of collectors on the way.",
        "rt4chart doctor",
    ),
    Decision.NO_CONTEXT: (
        "No passages are known to have reached this answer.",
        "Trace the retriever as the generator's sibling or link to it "
        "(docs/instrument/application.md); the tree below shows what came.",
        "rt4chart doctor",
    ),
    Decision.QUEUE_FULL: (
        "More answers waited than the queue holds.",
        "Judge what is stored; if it happens again, add workers or lower RT4CHART_SAMPLE_RATE.",
        BY_HAND,
    ),
    Decision.ERROR: (
        "The judge failed on it.",
        "The reason is below. What may pass is tried again by itself; what was given up is tried "
        "again by the command.",
        "rt4chart replay --since 24h",
    ),
}
STAGES = {
    Stage.RETRIEVED: "retrieved",
    Stage.RERANKED: "reranked",
    Stage.TEMPLATE: "in the template",
    Stage.TOOL: "from a tool",
    Stage.PROMPT: "in the prompt",
}
# Findings that measure the use of the context and report no problem.
FIGURES = (FindingName.CHUNK_ATTRIBUTION, FindingName.CHUNK_UTILISATION)


def command(one: Verification) -> str:
    """The command for an answer without a verdict, "" where none helps."""
    _, _, written = DECISIONS.get(one.decision, ("", "", ""))
    return written.format(route=f" --route {quote(one.route)}" if one.route else "")


def finding_title(one: Finding) -> str:
    """The label of a finding; its name in words if another version wrote it."""
    labels = {str(name): name.label for name in FindingName}
    return labels.get(one.name, one.name.replace("_", " ").capitalize())


def stages_in_words(stages: frozenset[Stage]) -> str:
    """The stages in the order of the way."""
    return ", ".join(words for stage, words in STAGES.items() if stage in stages)


def visible(text: str) -> str:
    """The text with control characters as pictures: a browser drops them, or shows nothing."""
    return text.translate(PICTURES)


# Unicode's control pictures; tabs and newlines stay, a carriage return before a newline goes.
PICTURES = {
    **{code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A, 0x0D)},
    0x0D: None,
    0x7F: 0x2421,
}
