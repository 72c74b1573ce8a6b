"""The switches of other conventions that keep content out of telemetry; we obey them as well.

Sources: OpenInference spec/configuration.md, Traceloop's TRACELOOP_TRACE_CONTENT, and
opentelemetry-util-genai's OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_HIDE = "OPENINFERENCE_HIDE_"
_INPUTS = ("INPUTS", "INPUT_MESSAGES", "INPUT_TEXT", "PROMPTS", "LLM_PROMPTS")
_OUTPUTS = ("OUTPUTS", "OUTPUT_MESSAGES", "OUTPUT_TEXT", "CHOICES")
TRACELOOP = "TRACELOOP_TRACE_CONTENT"
GEN_AI = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


@dataclass(frozen=True, slots=True)
class ContentSwitches:
    """The texts that must not be written: inputs (questions and passages), outputs (answers)."""

    hide_inputs: bool = False
    hide_outputs: bool = False

    @property
    def hide_any(self) -> bool:
        """True if a verdict must be emitted without texts: its claims quote both sides."""
        return self.hide_inputs or self.hide_outputs


def switches_from(environment: Mapping[str, str]) -> ContentSwitches:
    """The switches of an environment; one that is not set hides nothing."""

    def value(name: str) -> str:
        return environment.get(name, "").strip().lower()

    is_off = value(TRACELOOP) in ("false", "0", "no") or value(GEN_AI) in ("no_content", "false")
    hidden = [
        is_off or any(value(_HIDE + name) in ("true", "1") for name in names)
        for names in (_INPUTS, _OUTPUTS)
    ]
    return ContentSwitches(*hidden)
