"""The neutral view of a span: what a convention's reader makes and the assembly of traces takes."""

from __future__ import annotations

from dataclasses import dataclass

from otel_rt4chart.verify.model import Passage


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; `text` is empty where it holds tool calls alone."""

    role: str
    text: str
    has_tool_calls: bool = False


@dataclass(frozen=True, slots=True)
class SpanView:
    """What a span says, whatever convention wrote it.

    `kind` is an OpenInference kind (`LLM`, `RETRIEVER`, …), `UNKNOWN` where the convention is
    recognised and the kind is not, empty for a span of something else. `is_redacted` and
    `is_truncated` speak of what is verified, the documents and the output text: content that was
    hidden on purpose, or content of which attribute limits may have dropped a part.
    """

    kind: str = ""
    input_text: str = ""
    output_text: str = ""
    documents: tuple[Passage, ...] = ()
    input_messages: tuple[Message, ...] = ()
    output_messages: tuple[Message, ...] = ()
    model: str = ""
    prompt_version: str = ""
    is_redacted: bool = False
    is_truncated: bool = False

    @property
    def calls_tools_only(self) -> bool:
        """True for a generation that asks for tools and tells the reader nothing."""
        called = any(message.has_tool_calls for message in self.output_messages)
        return called and not self.output_text
