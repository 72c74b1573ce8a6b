# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "openinference-instrumentation-crewai==1.1.21",
#   "openinference-instrumentation-openai==0.1.66",
#   "crewai==1.15.30",
#   "openai==2.54.0",
# ]
# ///
"""CrewAI, traced by OpenInference: a crew of one agent with a tool."""

from __future__ import annotations

import json
import os

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool
from openinference.instrumentation.crewai import CrewAIInstrumentor
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider

from otel_rt4chart import RT4ChartInstrumentor
from tests.recorded import shelf


def instrument(provider: TracerProvider) -> None:
    """Instrument with the packages, then with otel-rt4chart."""
    # A recording reaches nothing but the endpoint.
    os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false"}
    CrewAIInstrumentor().instrument(tracer_provider=provider)
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    RT4ChartInstrumentor().instrument(tracer_provider=provider)


@tool("search_texts")
def search_texts(query: str) -> str:
    """Search the support texts."""
    return json.dumps([{"id": one.id, "text": one.text} for one, _ in shelf.search(query)])


def crew(url: str) -> Crew:
    """One agent with the tool, and its task."""
    chat = LLM(model="openai/local-chat", base_url=url, api_key="none")
    clerk = Agent(
        role="lamp-shop",
        goal=shelf.INSTRUCTIONS,
        backstory="A clerk.",
        tools=[search_texts],
        llm=chat,
    )
    ask = Task(description=shelf.QUESTION, expected_output="The answer.", agent=clerk)
    return Crew(agents=[clerk], tasks=[ask])


def agent(url: str) -> None:
    """Answer one question."""
    crew(url).kickoff()
