"""The table of the service's metrics: both ways out, `prometheus` and `push`, go through it.

No label has a value that users choose, such as a route: there would be no bound on the series. But
those of the monitor, which tells of so many routes and no more.
"""

from __future__ import annotations

from otel_rt4chart.spans.model.verdict import Decision
from otel_rt4chart.verify.core.model import AnswerLabel, Label
from rt4chart_collector.telemetry import reads
from rt4chart_collector.telemetry.metric import Kind, Metric, Read

INSERTS = ("spans", "verdicts")
ROUTE = ("service", "route")
INVALID, FULL, NOT_STORED = "invalid", "queue_full", "not_stored"


def _counter(name: str, unit: str, told: str, read: Read, *labels: str) -> Metric:
    return Metric(Kind.COUNTER, name, f"{{{unit}}}", told, read, labels)


def _gauge(name: str, unit: str, told: str, read: Read, *labels: str) -> Metric:
    return Metric(Kind.GAUGE, name, unit, told, read, labels)


def _times(name: str, told: str, read: Read, *labels: str) -> Metric:
    return Metric(Kind.HISTOGRAM, name, "s", told, read, labels)


TABLE = (
    _counter(
        "requests",
        "request",
        "OTLP requests by way in and result",
        reads.requests,
        "way",
        "result",
    ),
    _counter(
        "spans_received",
        "span",
        "Spans of requests that could be read",
        reads.count("spans_received"),
    ),
    _counter("spans_stored", "span", "Spans that were stored", reads.count("spans_stored")),
    _counter(
        "spans_refused",
        "span",
        "Spans that were not taken: invalid (no id or time), queue_full, not_stored; the client "
        "sends the last two again",
        reads.by("spans_refused", (INVALID, FULL, NOT_STORED)),
        "reason",
    ),
    _counter(
        "spans_lost",
        "span",
        "Spans that were acknowledged when queued and then not stored (RT4CHART_ACK=enqueued)",
        reads.by("spans_lost", (NOT_STORED,)),
        "reason",
    ),
    _counter(
        "spans_recovered",
        "span",
        "Spans read from the store to find undecided answers",
        reads.count("spans_recovered"),
    ),
    _gauge("ingest_queue", "By", "Requests that wait to be stored, in bytes", reads.queue_bytes),
    _gauge(
        "ingest_queue_limit", "By", "What may wait, RT4CHART_INGEST_QUEUE_MIB", reads.queue_limit
    ),
    _gauge(
        "ingest_queue_requests",
        "{request}",
        "Requests that wait to be stored",
        reads.queue_requests,
    ),
    _times(
        "store_insert_duration",
        "Inserts that succeeded, by what was inserted: spans or verdicts",
        reads.times("insert"),
        "kind",
    ),
    _counter(
        "store_insert_failures",
        "insert",
        "Inserts that failed",
        reads.by("failed.insert", INSERTS),
        "kind",
    ),
    _gauge(
        "kafka_lag",
        "{message}",
        "Messages behind the committed offset, by partition of this worker",
        reads.stream_lag,
        "partition",
    ),
    _gauge("kafka_partitions", "{partition}", "Partitions of this worker", reads.stream_partitions),
    _gauge(
        "kafka_paused_partitions",
        "{partition}",
        "Those that are paused, because the memory is full (RT4CHART_TRACE_BUFFER_MIB)",
        reads.stream_paused,
    ),
    _counter(
        "kafka_messages",
        "message",
        "Messages that came (read), went to the topic for dead letters (buried), or did not get "
        "there (unburied, each attempt)",
        reads.stream_messages,
        "result",
    ),
    _gauge("open_traces", "{trace}", "Traces that wait for more spans", reads.open_traces),
    _gauge("open_traces_size", "By", "About what they take in memory", reads.open_bytes),
    _counter(
        "evicted_traces",
        "trace",
        "Traces given up for want of memory (RT4CHART_TRACE_BUFFER_MIB), found again in the store",
        reads.evicted,
    ),
    _gauge(
        "work_queue_traces",
        "{trace}",
        "Traces that wait for a worker, or that one has in hand",
        reads.waiting,
    ),
    _gauge(
        "work_queue_limit", "{trace}", "How many may wait, RT4CHART_WORK_QUEUE", reads.waiting_limit
    ),
    _counter(
        "unsaved_traces",
        "trace",
        "Traces whose verdicts could not be stored, to be found again",
        reads.count("unsaved"),
    ),
    _counter(
        "answers",
        "answer",
        "Answers by what was decided on them",
        reads.by("decisions", Decision),
        "decision",
    ),
    _counter(
        "verified_answers",
        "answer",
        "Verified answers by their label",
        reads.by("labels", AnswerLabel),
        "label",
    ),
    _counter(
        "claims",
        "claim",
        "Claims of verified answers by their label",
        reads.by("claims", Label),
        "label",
    ),
    _times(
        "verification_duration",
        "How long the judge took for an answer, failures among them",
        reads.times("verification"),
        "judge",
    ),
    _times("verdict_lag", "From an answer's end to its verdict in the store", reads.time("lag")),
    _gauge(
        "judge_paused",
        "1",
        "1 while the judge is left alone because it fails, else 0",
        reads.paused,
    ),
    _counter(
        "put_off_answers",
        "answer",
        "Answers put off while the judge was paused",
        reads.count("put_off"),
    ),
    _counter(
        "retries",
        "answer",
        "Answers to be tried again (planned), given up (given_up), settled by a retry (answered)",
        reads.by("retries", ("planned", "given_up", "answered")),
        "result",
    ),
    _gauge(
        "retries_waiting",
        "{answer}",
        "Answers in the store that wait for another attempt",
        reads.retries_waiting,
    ),
    _gauge(
        "dead_letters",
        "{answer}",
        "Answers in the store that were given up, by reason",
        reads.dead_letters,
        "reason",
    ),
    _gauge(
        "route_hallucination_rate",
        "1",
        "Share of the decided claims of the last hour that are unfaithful, weighted by sampling",
        reads.route_rates,
        *ROUTE,
    ),
    _gauge(
        "route_claims",
        "{claim}",
        "Decided claims of the last hour: what that rate is of",
        reads.route_claims,
        *ROUTE,
    ),
    _gauge(
        "route_undecided_ratio",
        "1",
        "Share of all claims of the last hour that the judge could not decide",
        reads.route_undecided,
        *ROUTE,
    ),
    _gauge(
        "route_drift_log_evidence",
        "1",
        "Natural logarithm of the evidence that the rate has risen; any without a dead band, page "
        "with it, which the thresholds are for",
        reads.drift_evidence,
        *ROUTE,
        "level",
    ),
    _gauge(
        "route_drift_threshold",
        "1",
        "The evidence, as its logarithm, from which on it is a warning or an alarm",
        reads.drift_thresholds,
        *ROUTE,
        "level",
    ),
    _gauge(
        "route_min_detectable_rise",
        "1",
        "The smallest rise of the rate that is found within 90 minutes at the present sampling",
        reads.detectable_rises,
        *ROUTE,
    ),
    _counter(
        "failures",
        "failure",
        "Traces that could not be read or saved, by the type of the error",
        reads.by("failures"),
        "type",
    ),
    _gauge(
        "unready",
        "1",
        "1 for each reason for which /readyz says 503, else 0",
        reads.unready,
        "reason",
    ),
    _gauge("start_time", "s", "When the process began, since the epoch", reads.started),
    _gauge(
        "build_info",
        "1",
        "Always 1; version of the package and id of the judge",
        reads.build,
        "version",
        "judge",
    ),
)
