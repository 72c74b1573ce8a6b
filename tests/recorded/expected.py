"""The expected result of each recorded application, and the table in the documentation."""

from __future__ import annotations

from dataclasses import dataclass, field

from otel_rt4chart.spans.model.verdict import Stage
from tests.recorded.header import NAMES, header
from tests.recorded.shelf import QUESTION, ROUTE, TEXTS

SALE, UNUSED = TEXTS[1], TEXTS[0]
BOTH = (SALE.text, UNUSED.text)
IDS = (SALE.id, UNUSED.id)
RETRIEVED = (Stage.RETRIEVED, Stage.PROMPT)
AS_TOOL = (Stage.RETRIEVED, Stage.TOOL, Stage.PROMPT)
TOOL_ALONE = (Stage.TOOL, Stage.PROMPT)
FROM_TEMPLATE = (Stage.RETRIEVED, Stage.TEMPLATE, Stage.PROMPT)


@dataclass(frozen=True, slots=True)
class Expected:
    """One exchange. Without `ids`, the ids of passages are hashes of their texts."""

    texts: tuple[str, ...] = BOTH
    ids: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = RETRIEVED
    route: str = ROUTE
    model: str = "local-chat"
    question: str = QUESTION


@dataclass(frozen=True, slots=True)
class Recorded:
    """An application: its tracing packages, what they record, and the exchange of each variant."""

    packages: tuple[str, ...]
    seen: str
    variants: dict[str, Expected] = field(default_factory=dict)
    remark: str = ""


def three(plain: Expected, agent: Expected) -> dict[str, Expected]:
    """The same exchange for a plain and a streamed answer, and another for an agent."""
    return {"plain": plain, "streamed": plain, "agent": agent}


# Retrieval is traced with our `retriever`; for the agent, only the tool's message exists.
OPENAI = three(Expected(ids=IDS), Expected(ids=IDS, stages=TOOL_ALONE))
LANGCHAIN = three(Expected(), Expected(stages=AS_TOOL, route="lamp-shop"))
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
        "passages with metadata, question, answer, route, model",
        three(Expected(stages=FROM_TEMPLATE), LANGCHAIN["agent"]),
    ),
    "openinference_llama_index": Recorded(
        ("openinference-instrumentation-llama-index",),
        "passages with ids, question, answer, model",
        {
            "plain": Expected(ids=IDS, stages=FROM_TEMPLATE, route="RetrieverQueryEngine.query"),
            "streamed": Expected(ids=IDS, stages=FROM_TEMPLATE, route="RetrieverQueryEngine.query"),
            "agent": Expected(ids=IDS, stages=(Stage.RETRIEVED,), route="FunctionAgent.run"),
        },
    ),
    "openinference_openai": Recorded(("openinference-instrumentation-openai",), OURS, OPENAI),
    "otel_genai_langchain": Recorded(
        ("opentelemetry-instrumentation-genai-langchain",),
        "ids without texts of what was retrieved: the passages are the prompt's context, as one; "
        "question, answer, route, model",
        three(
            Expected(texts=("\n".join(BOTH),), stages=(Stage.PROMPT,)),
            Expected(texts=("\n\n".join(BOTH),), stages=TOOL_ALONE, route="lamp-shop"),
        ),
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
        ("traceai-langchain",), "passages with metadata, question, answer, route, model", LANGCHAIN
    ),
    "traceai_openai": Recorded(("traceai-openai",), OURS, OPENAI),
    "traceloop_langchain": Recorded(
        ("opentelemetry-instrumentation-langchain",),
        "passages with metadata, question, answer, route, model",
        LANGCHAIN,
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
