"""One endpoint among threads, event loops and processes, and its end."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from otel_rt4chart.verify import (
    AnswerLabel,
    Endpoint,
    Exchange,
    Label,
    OpenAIJudge,
    Passage,
    Report,
    Verifier,
)
from otel_rt4chart.verify.llm.openai_embedder import OpenAIEmbedder
from tests.endpoint_server import Answer, EndpointServer, Seen
from tests.oracle import Oracle
from tests.otel_rt4chart.verify.llm.served import WARM

ORACLE = Oracle(judge=lambda claim, sentences: WARM)
PASSAGES = [Passage("p1", "The pool is heated. Dogs are welcome.")]
LONG = 60.0  # seconds: what does not end in this time hangs


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    """A model that finds everything warm, and takes its time."""
    with EndpointServer(ORACLE, latency_s=0.05) as running:
        yield running


def exchange(name: str) -> Exchange:
    """An answer that no other exchange has."""
    return Exchange("", PASSAGES, f"The pool {name} is warm.")


def together(*targets: Thread) -> None:
    """Run them side by side to their end."""
    for one in targets:
        one.start()
    for one in targets:
        one.join(LONG)
        assert not one.is_alive()


def test_threads_and_event_loops_share_one_bound(server: EndpointServer) -> None:
    """No more requests are under way than allowed, whoever asks; embeddings count too."""
    reports: list[Report] = []
    with Endpoint(base_url=server.base_url, max_retries=0, concurrency=2) as endpoint:
        verifier = Verifier(OpenAIJudge(endpoint), embedder=OpenAIEmbedder(endpoint))

        def verified(name: str) -> None:
            reports.append(verifier.verify(exchange(name)))

        def awaited(name: str) -> None:
            reports.append(asyncio.run(verifier.verify_async(exchange(name))))

        together(
            *(Thread(target=verified, args=(f"a{n}",)) for n in range(6)),
            *(Thread(target=awaited, args=(f"b{n}",)) for n in range(6)),
        )

    assert [report.label for report in reports] == [AnswerLabel.ENTAILED] * 12
    assert server.most_at_once == 2
    assert len({one.path for one in server.seen}) == 2


def test_event_loops_in_turn_leave_nothing_open(server: EndpointServer) -> None:
    """A loop's end needs no closing of ours."""
    files = Path("/proc/self/fd")
    with Endpoint(base_url=server.base_url, max_retries=0, concurrency=2) as endpoint:
        verifier = Verifier(OpenAIJudge(endpoint))

        def rounds(name: str) -> int:
            for n in range(10):
                report = asyncio.run(verifier.verify_async(exchange(f"{name}{n}")))
                assert report.label is AnswerLabel.ENTAILED
            gc.collect()
            return len(list(files.iterdir())) if files.exists() else 0

        before = rounds("a")
        assert rounds("b") <= before + 2


def test_a_cancelled_verification_sends_nothing_more() -> None:
    """What waits for its turn is dropped, and the endpoint is there for the next one."""
    answer = " ".join(f"The pool number {n} is warm." for n in range(400))
    begun = Event()

    def script(seen: Seen) -> Answer:
        begun.set()
        return ORACLE(seen)

    async def cancelled(verifier: Verifier) -> None:
        task = asyncio.create_task(verifier.verify_async(Exchange("", PASSAGES, answer)))
        assert await asyncio.to_thread(begun.wait, LONG)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    with (
        EndpointServer(script, latency_s=0.1) as server,
        Endpoint(base_url=server.base_url, max_retries=0, concurrency=1) as endpoint,
    ):
        verifier = Verifier(OpenAIJudge(endpoint))
        asyncio.run(cancelled(verifier))
        report = verifier.verify(exchange("next"))

    assert report.label is AnswerLabel.ENTAILED
    assert len(server.seen) <= 2 + 2  # at most two had begun, the others are the next answer's


def test_closing_leaves_what_was_not_sent_undecided(server: EndpointServer) -> None:
    """Verification under way ends with a report, and so does one that begins later."""
    answer = " ".join(f"The pool number {n} is warm." for n in range(60))
    reports: list[Report] = []
    endpoint = Endpoint(base_url=server.base_url, max_retries=0, concurrency=1)
    verifier = Verifier(OpenAIJudge(endpoint))

    def verified() -> None:
        reports.append(verifier.verify(Exchange("", PASSAGES, answer)))

    thread = Thread(target=verified)
    thread.start()
    while not server.seen:
        thread.join(0.01)
    endpoint.close()
    thread.join(LONG)
    endpoint.close()
    reports.append(asyncio.run(verifier.verify_async(exchange("late"))))

    for report in reports:
        claims = [claim for claim in report.claims if claim.label is Label.UNDECIDED]
        assert len(claims) == len(report.claims)
        assert {claim.reason for claim in claims} == {"not sent: the endpoint is closed"}
    assert reports[0].usage.calls == len(server.seen)
    assert reports[1].usage.calls == 0


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="the system cannot fork"
)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("is_closed", [False, True])
def test_a_forked_process_has_threads_and_connections_of_its_own(
    is_closed: bool, server: EndpointServer
) -> None:
    """An endpoint that was used before the fork is used in the child and in the parent."""
    context = multiprocessing.get_context("fork")
    endpoint = Endpoint(base_url=server.base_url, max_retries=0, concurrency=2)
    verifier = Verifier(OpenAIJudge(endpoint))
    assert verifier.verify(exchange("before")).label is AnswerLabel.ENTAILED
    if is_closed:
        endpoint.close()
    receiver, sender = context.Pipe(duplex=False)

    def child() -> None:
        sender.send(verifier.verify(exchange("child")).label)

    process = context.Process(target=child)
    process.start()
    try:
        assert receiver.poll(LONG)
        told = receiver.recv()
    finally:
        process.kill()
        process.join(LONG)

    expected = AnswerLabel.UNDECIDED if is_closed else AnswerLabel.ENTAILED
    assert told is verifier.verify(exchange("parent")).label is expected
    endpoint.close()
