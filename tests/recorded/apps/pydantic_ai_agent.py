# /// script
# requires-python = ">=3.11"
# dependencies = ["pydantic-ai-slim[openai]==2.68.0"]
# ///
"""Pydantic AI: an agent that looks things up with a tool, and one that is told the context."""

from __future__ import annotations

import asyncio

from opentelemetry.sdk.trace import TracerProvider
from pydantic_ai import Agent
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from otel_rt4chart import RT4ChartInstrumentor
from tests.recorded import shelf


def instrument(provider: TracerProvider) -> None:
    """Instrument with the package, then with otel-rt4chart."""
    Agent.instrument_all(InstrumentationSettings(tracer_provider=provider))
    RT4ChartInstrumentor().instrument(tracer_provider=provider)


def shop(url: str) -> Agent:
    """The agent and its tool."""
    model = OpenAIChatModel("local-chat", provider=OpenAIProvider(base_url=url, api_key="none"))
    found = Agent(model, name="lamp-shop", instructions=shelf.INSTRUCTIONS)

    @found.tool_plain
    def search_texts(query: str) -> list[dict[str, str]]:
        """Search the support texts."""
        return [{"id": one.id, "text": one.text} for one, _ in shelf.search(query)]

    return found


def agent(url: str) -> None:
    """Answer one question."""
    shop(url).run_sync(shelf.QUESTION)


def streamed(url: str) -> None:
    """Answer one question with a streamed answer."""

    async def asked() -> None:
        async with shop(url).run_stream(shelf.QUESTION) as answer:
            async for _ in answer.stream_text():
                pass

    asyncio.run(asked())
