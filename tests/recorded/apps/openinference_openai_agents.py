# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "openinference-instrumentation-openai-agents==2.6.0",
#   "openai-agents==0.24.0",
# ]
# ///
"""The OpenAI Agents SDK, traced by OpenInference: an agent with a tool, and one with an agent."""

from __future__ import annotations

import asyncio
import json

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool
from openai import AsyncOpenAI
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from opentelemetry.sdk.trace import TracerProvider

from otel_rt4chart import RT4ChartInstrumentor
from tests.recorded import shelf


def instrument(provider: TracerProvider) -> None:
    """Instrument with the package, then with otel-rt4chart."""
    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
    RT4ChartInstrumentor().instrument(tracer_provider=provider)


@function_tool
def search_texts(query: str) -> str:
    """Search the support texts."""
    return json.dumps([{"id": one.id, "text": one.text} for one, _ in shelf.search(query)])


def model(url: str) -> OpenAIChatCompletionsModel:
    """The chat model behind the endpoint."""
    return OpenAIChatCompletionsModel("local-chat", AsyncOpenAI(base_url=url, api_key="none"))


def shop(url: str) -> Agent:
    """The agent that searches."""
    return Agent(
        "lamp-shop", instructions=shelf.INSTRUCTIONS, tools=[search_texts], model=model(url)
    )


def agent(url: str) -> None:
    """Answer one question."""
    asyncio.run(Runner.run(shop(url), shelf.QUESTION))


def steps(url: str) -> None:
    """An agent that asks the agent that searches, and answers from what it says."""
    asked = shop(url).as_tool("ask_shop", "Ask the shop.")
    desk = Agent("front-desk", instructions=shelf.INSTRUCTIONS, tools=[asked], model=model(url))
    asyncio.run(Runner.run(desk, shelf.QUESTION))
