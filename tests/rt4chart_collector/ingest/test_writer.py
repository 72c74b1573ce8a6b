"""The writer: bounded, batched, and never an answer before the spans are stored."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from otel_rt4chart.core.errors import InputError, RT4ChartError, StoreError
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.ingest.writer import BATCH_BYTES, IngestWriter
from tests.rt4chart_collector.records import SPAN, trace_spans


class Store:
    """Keeps the batches; raises for spans with a name in `errors`."""

    def __init__(
        self, errors: dict[str, Exception] | None = None, *, conflicts: Sequence[int] = ()
    ) -> None:
        self.batches: list[list[SpanRecord]] = []
        self.errors = errors or {}
        self.conflicts = conflicts

    def __call__(self, spans: Sequence[SpanRecord]) -> Sequence[int]:
        """Write a batch."""
        for span in spans:
            if span.trace_id in self.errors:
                raise self.errors[span.trace_id]
        self.batches.append(list(spans))
        return self.conflicts


def ran(ingest: IngestWriter) -> None:
    """Let the writer do what is queued."""
    ingest.stop()
    ingest.run()


def test_requests_are_written_together_and_each_is_answered() -> None:
    """One batch for what waited, told on, then the answers."""
    store, heard = Store(), Store()
    ingest = IngestWriter(store, heard, max_bytes=1000)
    stored = [ingest.offer(trace_spans(number), 10) for number in (1, 2)]

    ran(ingest)

    assert [f.result(0) if f else "none" for f in stored] == [0, 0]
    assert store.batches == heard.batches == [[*trace_spans(1), *trace_spans(2)]]
    assert ingest.size_bytes == 0


def test_full_queue_takes_nothing() -> None:
    """The bytes that wait are bounded; a single large request still goes through."""
    ingest = IngestWriter(Store(), Store(), max_bytes=100)

    taken = [ingest.offer([SPAN], size) is not None for size in (500, 1)]

    assert taken == [True, False]
    assert ingest.size_bytes == 500


def test_stopped_queue_takes_nothing_and_finishes_the_rest() -> None:
    """What was taken is written, what comes after is refused."""
    store = Store()
    ingest = IngestWriter(store, Store(), max_bytes=100)
    ingest.offer([SPAN], 1)
    ingest.stop()

    assert ingest.offer([SPAN], 1) is None
    ingest.run()

    assert store.batches == [[SPAN]]


def test_large_queue_is_written_in_several_batches() -> None:
    """A batch ends at its number of bytes."""
    store = Store()
    ingest = IngestWriter(store, Store(), max_bytes=10**9)
    for number in range(3):
        ingest.offer(trace_spans(number), 5 * 2**20)

    ran(ingest)

    assert [len(batch) for batch in store.batches] == [6, 3]


def test_failed_batch_is_an_error_for_each_of_its_requests() -> None:
    """Nothing is acknowledged or told on, and the writer lives on."""
    store, heard = Store({"a" * 32: StoreError("away")}), Store()
    ingest = IngestWriter(store, heard, max_bytes=100)
    futures = [ingest.offer(spans, 1) for spans in ([SPAN], trace_spans(1))]

    ran(ingest)

    for future in futures:
        assert future is not None
        with pytest.raises(StoreError, match="away"):
            future.result(0)
    assert heard.batches == []


def test_outage_of_the_store_is_two_lines_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """The first failure with its reason, and the end with the number of refused requests."""
    store = Store({"a" * 32: StoreError("not enough space")})
    ingest = IngestWriter(store, Store(), max_bytes=10**9)
    for spans in ([SPAN], [SPAN], trace_spans(1)):
        # As large as a batch may be: each is one.
        ingest.offer(spans, BATCH_BYTES)

    ran(ingest)

    assert caplog.messages == [
        "requests are not stored, and refused until one is stored: not enough space",
        "requests are stored again; 2 were refused",
    ]


@pytest.mark.parametrize(
    ("error", "kind", "seen"),
    [
        (InputError("does not fit"), InputError, "does not fit"),
        (RuntimeError("secret"), StoreError, "unexpected RuntimeError"),
        # A client must not send these for ever.
        (RecursionError("deep"), InputError, "expected less nested spans: RecursionError"),
    ],
)
def test_one_bad_request_costs_the_others_nothing(
    error: Exception, kind: type[RT4ChartError], seen: str
) -> None:
    """Where it is to blame, the requests are written one by one."""
    store = Store({"a" * 32: error})
    ingest = IngestWriter(store, Store(), max_bytes=100)
    bad, good = ingest.offer([SPAN], 1), ingest.offer(trace_spans(1), 1)
    assert bad is not None
    assert good is not None

    ran(ingest)

    with pytest.raises(kind, match=seen):
        bad.result(0)
    assert good.result(0) == 0
    assert store.batches == [list(trace_spans(1))]


def test_each_request_learns_how_many_of_its_spans_conflict() -> None:
    """The store names their positions in the batch; they are not told on."""
    store, heard = Store(conflicts=(1, 3, 4)), Store()
    ingest = IngestWriter(store, heard, max_bytes=1000)
    spans = [trace_spans(number) for number in (1, 2, 3)]
    stored = [ingest.offer(one, 10) for one in spans]

    ran(ingest)

    assert [f.result(0) if f else "none" for f in stored] == [1, 2, 0]
    assert heard.batches == [[spans[0][0], spans[0][2], spans[1][2], *spans[2]]]


def test_many_threads_offer_while_one_writes() -> None:
    """Every span that was taken is written once."""
    store = Store()
    ingest = IngestWriter(store, Store(), max_bytes=10**6)
    writer = threading.Thread(target=ingest.run)
    writer.start()

    def send(start: int) -> None:
        for number in range(start, start + 20):
            stored = ingest.offer(trace_spans(number), 1)
            assert stored is not None
            stored.result(10)

    senders = [threading.Thread(target=send, args=(n * 100,)) for n in range(4)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    ingest.stop()
    writer.join()

    written = [(span.trace_id, span.span_id) for batch in store.batches for span in batch]
    assert len(written) == len(set(written)) == 4 * 20 * 3
