"""What one span says, in neutral terms, whichever convention wrote it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.verify.core.model import Passage


class Kind(StrEnum):
    """What a span did; the values are OpenInference's. NONE is a span of no convention."""

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
class Message:
    """One message of a conversation; its reasoning is no part of the text.

    `role` is lower case: system, user, assistant, tool, or what the convention says.
    """

    role: str
    text: str
    calls_tools: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """One span as the assembly of exchanges sees it; text that is missing is the empty string.

    `input` and `output` are the whole of what went in and came out: of a retrieval the query, of a
    generation the answer. `prompt` are the messages that a generation was given. `documents` are
    what a retriever found, a reranker kept or a tool returned; `given` what a reranker chose from;
    `variables` the context among a prompt template's variables. `is_datastore` marks a tool that
    looks things up. `is_redacted` is True where a placeholder stands for text that was there,
    `is_truncated` where a limit cut text or evicted attributes, so that what is missing may have
    been there; `calls_tools_only` for a generation that asked for a tool and told the user nothing.
    `convention` is the name of the one that told the kind.
    """

    span: SpanRecord
    kind: Kind = Kind.NONE
    input: str = ""
    output: str = ""
    prompt: tuple[Message, ...] = ()
    documents: tuple[Passage, ...] = ()
    given: tuple[Passage, ...] = ()
    variables: tuple[Passage, ...] = ()
    is_datastore: bool = False
    model: str = ""
    prompt_version: str = ""
    session: str = ""
    is_redacted: bool = False
    is_truncated: bool = False
    calls_tools_only: bool = False
    convention: str = ""

    @property
    def user_message(self) -> str:
        """The last thing that the user said in the prompt."""
        said = [one.text for one in self.prompt if one.role == "user"]
        return said[-1] if said else ""
