"""The expected result of each recorded application, and the table in the documentation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from otel_rt4chart.spans.model.verdict import Decision, Stage
from tests.recorded.header import NAMES, header
from tests.recorded.shelf import ANSWER, QUESTION, ROUTE, SUMMARIES, TEXTS, UNANSWERED

SALE, UNUSED = TEXTS[1], TEXTS[0]
BOTH = (SALE.text, UNUSED.text)
IDS = (SALE.id, UNUSED.id)
RETRIEVED = (Stage.RETRIEVED, Stage.PROMPT)
AS_TOOL = (Stage.RETRIEVED, Stage.TOOL, Stage.PROMPT)
TOOL_ALONE = (Stage.TOOL, Stage.PROMPT)
FROM_TEMPLATE = (Stage.RETRIEVED, Stage.TEMPLATE, Stage.PROMPT)


@dataclass(frozen=True, slots=True)
class Expected:
    """One exchange. Without `ids`, the ids of passages are hashes of their texts.

    `beside` are texts that were seen at a stage and are not among its passages.

    `is_marked` is False where the trace's root, which has the mark, is never exported.
    """

    texts: tuple[str, ...] = BOTH
    ids: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = RETRIEVED
    beside: tuple[tuple[str, tuple[Stage, ...]], ...] = ()
    route: str = ROUTE
    model: str = "local-chat"
    question: str = QUESTION
    answer: str = ANSWER
    blocked: Decision | None = None
    is_marked: bool = True


@dataclass(frozen=True, slots=True)
class Recorded:
    """An application: its tracing packages, what they record, and the exchange of each variant."""

    packages: tuple[str, ...]
    seen: str
    variants: dict[str, Expected] = field(default_factory=dict)
    remark: str = ""


def empty(plain: Expected, blocked: Decision = Decision.NO_ANSWER) -> Expected:
    """The same question and passages, and no answer."""
    return replace(plain, question=UNANSWERED, answer="", blocked=blocked)


def three(plain: Expected, agent: Expected) -> dict[str, Expected]:
    """The same exchange for a plain and a streamed answer, and another for an agent."""
    return {"plain": plain, "streamed": plain, "agent": agent}


# The texts reach the summaries; the answer is made from these alone.
IN_TEMPLATE = "\n".join(SUMMARIES[one.id] for one in (SALE, UNUSED))
SUMMARISED = Expected(ids=IDS, stages=(Stage.RETRIEVED,))
# The application's span around a chain without a name.
CALLER = "POST /returns"
# Retrieval is traced with our `retriever`; for the agent, only the tool's message exists.
OPENAI = three(Expected(ids=IDS), Expected(ids=IDS, stages=TOOL_ALONE))
NAMED = Expected(ids=IDS)
LANGCHAIN = three(NAMED, Expected(ids=IDS, stages=AS_TOOL, route="lamp-shop")) | {
    "empty": empty(NAMED),
    "unnamed": replace(NAMED, route=CALLER),
    "steps": SUMMARISED,
}
FORMED = Expected(ids=IDS, stages=FROM_TEMPLATE)
GENAI_LANGCHAIN = Expected(texts=("\n".join(BOTH),), stages=(Stage.PROMPT,))
ENGINE = Expected(ids=IDS, stages=FROM_TEMPLATE, route="RetrieverQueryEngine.query")
TRACELOOP_ENGINE = Expected(ids=IDS, route="RetrieverQueryEngine.workflow")
# What CrewAI makes of a task.
TASK = (
    f"\nCurrent Task: {QUESTION}\n\n"
    "This is the expected criteria for your final answer: The answer.\n"
    "you MUST return the actual complete content as the final answer, not a summary."
)
OURS = "passages by our `retriever`, or from the tool's message; question, answer, model"
# The root span's name.
TRULENS = "tests.recorded.apps.trulens_app.Support.asked"
RECORDED = {
    "langfuse_sdk": Recorded(
        ("langfuse",),
        "passages with ids from a retriever's output; question, answer, route, model",
        {"plain": Expected(ids=IDS), "streamed": Expected(ids=IDS)},
        "a return value that is a list of mappings with a `text`",
    ),
    "mlflow_openai": Recorded(
        ("mlflow",),
        "passages with ids, question, answer, route, model",
        {"plain": Expected(ids=IDS), "streamed": Expected(ids=IDS)},
    ),
    "openinference_crewai": Recorded(
        ("openinference-instrumentation-crewai", "openinference-instrumentation-openai"),
        "passages with ids from a tool's result; the task as the question, answer, model",
        {
            "agent": Expected(
                ids=IDS, stages=TOOL_ALONE, route="lamp-shop._execute_core", question=TASK
            )
        },
        "`Crew(name=…)` names the route; else it is the agent's",
    ),
    "openinference_dspy": Recorded(
        ("openinference-instrumentation-dspy",),
        "passages, question, answer, model",
        {"plain": Expected(route="Support.forward")},
        "`dspy.Retrieve`; a retriever class of one's own is not traced",
    ),
    "openinference_haystack": Recorded(
        ("openinference-instrumentation-haystack",),
        "passages with ids, question, answer, model",
        dict.fromkeys(("plain", "streamed"), Expected(ids=IDS, route="Pipeline.run")),
    ),
    "openinference_langchain": Recorded(
        ("openinference-instrumentation-langchain",),
        "passages with ids and metadata, question, answer, route, model",
        three(FORMED, LANGCHAIN["agent"])
        | {
            "empty": empty(FORMED),
            "unnamed": replace(FORMED, route=CALLER),
            "steps": replace(SUMMARISED, beside=((IN_TEMPLATE, (Stage.TEMPLATE, Stage.PROMPT)),)),
        },
    ),
    "openinference_llama_index": Recorded(
        ("openinference-instrumentation-llama-index",),
        "passages with ids, question, answer, model",
        {
            **dict.fromkeys(("plain", "streamed", "awaited"), ENGINE),
            "empty": empty(ENGINE),
            "agent": Expected(ids=IDS, stages=(Stage.RETRIEVED,), route="FunctionAgent.run"),
        },
    ),
    "openinference_openai": Recorded(("openinference-instrumentation-openai",), OURS, OPENAI),
    "openinference_openai_agents": Recorded(
        ("openinference-instrumentation-openai-agents",),
        "passages with ids from a tool's result; question, answer, model",
        {
            "agent": Expected(ids=IDS, stages=TOOL_ALONE, route="lamp-shop"),
            # The answer of the inner agent is what the outer one was given.
            "steps": Expected(texts=(ANSWER,), stages=TOOL_ALONE, route="front-desk"),
        },
    ),
    "otel_genai_langchain": Recorded(
        ("opentelemetry-instrumentation-genai-langchain",),
        "ids without texts of what was retrieved: the passages are the prompt's context, as one; "
        "question, answer, route, model",
        three(
            GENAI_LANGCHAIN,
            Expected(texts=("\n\n".join(BOTH),), stages=TOOL_ALONE, route="lamp-shop"),
        )
        # An empty answer leaves no attribute behind.
        | {
            "empty": empty(GENAI_LANGCHAIN, Decision.NO_CONTENT),
            "unnamed": replace(GENAI_LANGCHAIN, route=CALLER),
            "steps": replace(GENAI_LANGCHAIN, texts=(IN_TEMPLATE,)),
        },
    ),
    "otel_genai_openai": Recorded(("opentelemetry-instrumentation-genai-openai",), OURS, OPENAI),
    "otel_openai_v2": Recorded(
        ("opentelemetry-instrumentation-openai-v2",),
        OURS,
        OPENAI,
        "beside it `openai` 2 and `opentelemetry-util-genai` 1.0b0, not later ones",
    ),
    "pydantic_ai_agent": Recorded(
        ("pydantic-ai-slim",),
        "passages with ids from a tool's result; question, answer, route, model",
        dict.fromkeys(
            ("agent", "streamed"), Expected(ids=IDS, stages=TOOL_ALONE, route="lamp-shop")
        ),
    ),
    "traceai_langchain": Recorded(
        ("traceai-langchain",),
        "passages with names and metadata, question, answer, route, model",
        LANGCHAIN,
    ),
    "traceai_openai": Recorded(("traceai-openai",), OURS, OPENAI),
    "traceloop_langchain": Recorded(
        ("opentelemetry-instrumentation-langchain",),
        "passages with names and metadata, question, answer, route, model",
        LANGCHAIN,
    ),
    "traceloop_llama_index": Recorded(
        ("opentelemetry-instrumentation-llamaindex",),
        "passages with ids, question, answer, model",
        {
            **dict.fromkeys(("plain", "awaited"), TRACELOOP_ENGINE),
            # The outer spans of a streamed answer are never ended, and so never exported.
            "streamed": replace(TRACELOOP_ENGINE, route="OpenAILike.workflow", is_marked=False),
            "empty": empty(TRACELOOP_ENGINE),
            "agent": Expected(ids=IDS, stages=(Stage.RETRIEVED,), route="FunctionAgent.workflow"),
        },
        "name the route of a streamed answer yourself: its outer spans are never exported",
    ),
    "traceloop_mcp": Recorded(
        ("opentelemetry-instrumentation-mcp", "opentelemetry-instrumentation-openai"),
        "passages with ids from the result of a tool of an MCP server, question, answer, model",
        {"agent": Expected(ids=IDS, stages=TOOL_ALONE)},
        "the tool's span has the first part of a result; the others are read from the prompt",
    ),
    "traceloop_openai": Recorded(
        ("opentelemetry-instrumentation-openai", "opentelemetry-instrumentation-chromadb"),
        "passages with ids from the vector store's events; question, answer, model",
        OPENAI,
    ),
    "trulens_app": Recorded(
        ("trulens-core",),
        "passages, question, answer",
        {"plain": Expected(stages=(Stage.RETRIEVED,), route=TRULENS, model="")},
        "set the tracer provider before `TruSession()`",
    ),
}


def version(name: str, package: str) -> str:
    """The pinned version of a package in the header of an application."""
    (found,) = (
        pin.partition("==")[2]
        for pin in header(name).pins
        if pin.partition("==")[0].partition("[")[0] == package
    )
    return found


def table() -> str:
    """The rows of docs/instrument/application.md."""
    rows = ["| package | version | what is seen | what must be switched on |", "|---|---|---|---|"]
    for name in NAMES:
        one = RECORDED[name]
        packages = "<br>".join(f"`{package}`" for package in one.packages)
        versions = "<br>".join(version(name, package) for package in one.packages)
        told = header(name).environment.items()
        switched = "<br>".join([*(f"`{key}={value}`" for key, value in told), one.remark])
        rows.append(f"| {packages} | {versions} | {one.seen} | {switched.removesuffix('<br>')} |")
    return "\n".join(rows)
