"""The switches of other conventions that keep content out of telemetry: ours obeys them too.

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
    """What must not be written: questions and passages, answers, or neither."""

    hide_inputs: bool = False
    hide_outputs: bool = False

    @property
    def hide_any(self) -> bool:
        """True where a verdict is told without texts: its claims quote both sides."""
        return self.hide_inputs or self.hide_outputs


def switches_from(environment: Mapping[str, str]) -> ContentSwitches:
    """What the environment says; a switch that is not set hides nothing."""

    def told(name: str) -> str:
        return environment.get(name, "").strip().lower()

    is_off = told(TRACELOOP) in ("false", "0", "no") or told(GEN_AI) in ("no_content", "false")
    hidden = [
        is_off or any(told(_HIDE + name) in ("true", "1") for name in names)
        for names in (_INPUTS, _OUTPUTS)
    ]
    return ContentSwitches(*hidden)
