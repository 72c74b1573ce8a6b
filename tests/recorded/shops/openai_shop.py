"""The lamp shop on OpenAI's client alone; what it retrieves is told by our `retriever`."""

from __future__ import annotations

import json

from openai import OpenAI
from opentelemetry import trace

from otel_rt4chart import Passage, retriever
from tests.recorded import shelf

TOOL = {
    "type": "function",
    "function": {
        "name": "search_texts",
        "description": "Search the shop's support texts.",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
    },
}
TRACER = trace.get_tracer("lamp-shop")


def messages(question: str) -> list[dict[str, str]]:
    """The prompt, with the texts that share most words with the question."""
    with retriever("search", query=question) as span:
        found = shelf.search(question)
        span.documents([Passage(one.id, one.text, score=score) for one, score in found])
    return shelf.prompt(question, "\n".join(one.text for one, _ in found))


def plain(url: str) -> None:
    """Retrieve, ask, answer."""
    client = OpenAI(base_url=url, api_key="none")
    with TRACER.start_as_current_span(shelf.ROUTE):
        client.chat.completions.create(model="local-chat", messages=messages(shelf.QUESTION))


def streamed(url: str) -> None:
    """The same, the answer word by word."""
    client = OpenAI(base_url=url, api_key="none")
    with TRACER.start_as_current_span(shelf.ROUTE):
        for _ in client.chat.completions.create(
            model="local-chat", messages=messages(shelf.QUESTION), stream=True
        ):
            pass


def agent(url: str) -> None:
    """The model asks for a search; only the messages say what it found."""
    client = OpenAI(base_url=url, api_key="none")
    said: list[dict[str, object]] = [
        {"role": "system", "content": shelf.INSTRUCTIONS},
        {"role": "user", "content": shelf.QUESTION},
    ]
    with TRACER.start_as_current_span(shelf.ROUTE):
        while True:
            reply = client.chat.completions.create(model="local-chat", messages=said, tools=[TOOL])
            choice = reply.choices[0].message
            said.append(choice.model_dump(exclude_none=True))
            if not choice.tool_calls:
                return
            for call in choice.tool_calls:
                texts = shelf.search(json.loads(call.function.arguments)["query"])
                content = json.dumps([{"id": one.id, "text": one.text} for one, _ in texts])
                said.append({"role": "tool", "tool_call_id": call.id, "content": content})
