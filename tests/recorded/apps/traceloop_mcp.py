# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "opentelemetry-instrumentation-mcp==0.62.4",
#   "opentelemetry-instrumentation-openai==0.62.4",
#   "mcp==1.30.0",
#   "openai==3.54.0",
# ]
# ///
"""A tool of an MCP server, called over stdio, traced by Traceloop (OpenLLMetry)."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from openai import AsyncOpenAI
from opentelemetry import trace
from opentelemetry.instrumentation.mcp import McpInstrumentor
from opentelemetry.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider

from otel_rt4chart import RT4ChartInstrumentor
from tests.recorded import shelf

TRACER = trace.get_tracer("lamp-shop")
ROOT = Path(__file__).parents[3]
SERVER = """
from mcp.server.fastmcp import FastMCP
from tests.recorded import shelf

server = FastMCP("support-texts")

@server.tool()
def search_texts(query: str) -> list[dict[str, str]]:
    "Search the shop's support texts."
    return [{"id": one.id, "text": one.text} for one, _ in shelf.search(query)]

server.run("stdio")
"""


def instrument(provider: TracerProvider) -> None:
    """Instrument with the packages, then with otel-rt4chart."""
    McpInstrumentor().instrument(tracer_provider=provider)
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    RT4ChartInstrumentor().instrument(tracer_provider=provider)


def agent(url: str) -> None:
    """The model asks for a search, which a server in another process makes."""
    asyncio.run(_agent(AsyncOpenAI(base_url=url, api_key="none")))


async def _agent(client: AsyncOpenAI) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-c", SERVER], env={"PYTHONPATH": str(ROOT)}
    )
    said: list[dict[str, object]] = [
        {"role": "system", "content": shelf.INSTRUCTIONS},
        {"role": "user", "content": shelf.QUESTION},
    ]
    with TRACER.start_as_current_span(shelf.ROUTE):
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            tools = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.inputSchema,
                    },
                }
                for tool in (await session.list_tools()).tools
            ]
            while True:
                reply = await client.chat.completions.create(
                    model="local-chat", messages=said, tools=tools
                )
                choice = reply.choices[0].message
                said.append(choice.model_dump(exclude_none=True))
                if not choice.tool_calls:
                    return
                for call in choice.tool_calls:
                    found = await session.call_tool(
                        call.function.name, json.loads(call.function.arguments)
                    )
                    content = "\n".join(part.text for part in found.content)
                    said.append({"role": "tool", "tool_call_id": call.id, "content": content})
