"""A scripted endpoint for the rivals: replies by the name of the prompt."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from otel_rt4chart.bench.rivals.asking import Asker
from otel_rt4chart.verify import Exchange, Passage
from otel_rt4chart.verify.llm.endpoint import Endpoint
from tests.endpoint_server import Answer, EndpointServer, Seen, text

POOL = Exchange(
    "Is the pool warm?",
    (Passage("p1", "The pool is heated."),),
    "The pool is warm. Dogs may swim in it.",
)
Replies = Mapping[str, Callable[[Seen], Any]]


def name_of(seen: Seen) -> str:
    """The prompt that a request is of."""
    name: str = seen.body["response_format"]["json_schema"]["name"]
    return name.removeprefix("rival_")


@contextmanager
def asked(replies: Replies) -> Iterator[tuple[EndpointServer, Asker]]:
    """A server with these replies, as objects or as answers, and who asks it."""

    def script(seen: Seen) -> Answer:
        reply = replies[name_of(seen)](seen)
        return reply if isinstance(reply, Answer) else text(json.dumps(reply))

    with (
        EndpointServer(script) as server,
        Endpoint(base_url=server.base_url, api_key="k", max_retries=0) as endpoint,
    ):
        yield server, Asker(endpoint)
