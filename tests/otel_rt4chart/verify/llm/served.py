"""Cases that the tests of endpoint judges share: a model, its mistakes, an endpoint."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from otel_rt4chart.verify import Endpoint, Exchange, Label, OpenAIJudge, Passage, Report, Verifier
from tests.endpoint_server import Answer, EndpointServer, Seen, text
from tests.oracle import Oracle, Truth
from tests.running_example import ANSWER, POLICY

CON, ENT, NIC = Label.CONTRADICTED, Label.ENTAILED, Label.BASELESS
ORACLE = Oracle(
    {
        "The policy applies to all users.": Truth(
            "contradicted", ("only to new users",), "all users", "only to new users"
        ),
        "Verification is not required.": Truth(
            "contradicted", ("Verification is required",), "not required", "required"
        ),
        "The free trial lasts 14 days.": Truth("entailed", ("lasts 14 days",)),
        "Verified new users can receive a one-time 7-day extension of the free trial.": Truth(
            "entailed", ("can ask once", "is 7 days")
        ),
    }
)
RUNNING = Exchange("What does the trial offer?", [Passage("p1", POLICY)], ANSWER)
POOL = Exchange("", [Passage("p1", "The pool is heated. Dogs are welcome.")], "The pool is warm.")
WARM = Truth("entailed", ("heated",))


@contextmanager
def served(script: Callable[[Seen], Answer]) -> Iterator[tuple[EndpointServer, Endpoint]]:
    """A server with that model, and an endpoint that knows it."""
    with EndpointServer(script) as server:
        endpoint = Endpoint(base_url=server.base_url, max_retries=0, timeout_s=30)
        try:
            yield server, endpoint
        finally:
            endpoint.close()
        assert server.errors == []


class Spoiling:
    """A model that answers right, but for its first replies to labelling, which it spoils."""

    def __init__(
        self, oracle: Oracle, spoil: Callable[[dict[str, Any]], str | Answer], times: int = 1
    ) -> None:
        self.oracle, self.spoil, self.left = oracle, spoil, times

    def __call__(self, seen: Seen) -> Answer:
        """The reply, spoilt or not."""
        reply = self.oracle.reply(seen)
        if "verdicts" in reply and self.left > 0:
            self.left -= 1
            spoilt = self.spoil(reply)
            return spoilt if isinstance(spoilt, Answer) else text(spoilt)
        return text(json.dumps(reply))


def verify(script: Callable[[Seen], Answer], exchange: Exchange = POOL) -> tuple[Report, int]:
    """The report, and how many requests it took."""
    with served(script) as (server, endpoint):
        report = Verifier(OpenAIJudge(endpoint)).verify(exchange)
        return report, len(server.seen)
