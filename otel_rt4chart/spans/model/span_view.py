"""The content of one span in neutral terms, independent of the convention that wrote it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.verify.core.model import Passage


class OperationKind(StrEnum):
    """The operation that a span records; values are OpenInference's. NONE: no known convention."""

    NONE = ""
    LLM = "LLM"
    RETRIEVER = "RETRIEVER"
    RERANKER = "RERANKER"
    TOOL = "TOOL"
    CHAIN = "CHAIN"
    AGENT = "AGENT"
    EMBEDDING = "EMBEDDING"
    PROMPT = "PROMPT"
    GUARDRAIL = "GUARDRAIL"
    EVALUATOR = "EVALUATOR"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation, without its reasoning.

    `role` is lower case: system, user, assistant, tool, or the convention's own.
    """

    role: str
    text: str
    calls_tools: bool = False


@dataclass(frozen=True, slots=True)
class SpanView:
    """The content of one span, from which exchanges are assembled. Missing text is empty.

    `input` and `output` are the complete input and output: of a retrieval the query, of a
    generation the answer. `prompt` holds the messages sent to a generation. `documents` are what a
    retriever found, a reranker kept or a tool returned, `input_documents` what a reranker ranked,
    `variables` the context among the variables of a prompt template. `is_datastore` marks a tool
    that looks up data. `is_redacted` is True if a placeholder replaces text, `is_truncated` if a
    limit cut text or dropped attributes, so that missing text may have existed.
    `calls_tools_only` marks a generation that only called tools, `is_blank` an output that was
    recorded without text: there was none, which is not the same as not recorded.
    `convention` names the convention that determined the kind.
    """

    span: SpanRecord
    kind: OperationKind = OperationKind.NONE
    input: str = ""
    output: str = ""
    prompt: tuple[ChatMessage, ...] = ()
    documents: tuple[Passage, ...] = ()
    input_documents: tuple[Passage, ...] = ()
    variables: tuple[Passage, ...] = ()
    is_datastore: bool = False
    model: str = ""
    prompt_version: str = ""
    session: str = ""
    is_redacted: bool = False
    is_truncated: bool = False
    calls_tools_only: bool = False
    is_blank: bool = False
    convention: str = ""

    @property
    def user_message(self) -> str:
        """The last user message of the prompt."""
        texts = [message.text for message in self.prompt if message.role == "user"]
        return texts[-1] if texts else ""
