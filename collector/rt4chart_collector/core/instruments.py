"""The table of the service's own metrics: to add a metric, add a line here.

Prometheus' name of a metric is OpenTelemetry's with `_` for `.`, the unit and, for counters,
`_total` appended, as OpenTelemetry's specification translates names.

Label values are bounded. No label takes a value that users choose, such as a route, except those
of the monitor, which reports on a bounded number of routes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from otel_rt4chart.spans.model.verdict import Decision
from otel_rt4chart.verify.core.model import AnswerLabel, ClaimStatus, Label

PROMETHEUS_UNITS = {"s": "seconds", "By": "bytes"}
# Upper bounds in seconds: an insert takes milliseconds, a model's verdict seconds, and an answer
# that is found again after a restart may have waited for hours.
BOUNDS_S = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3600.0, 21_600.0, 86_400.0),
)


class InstrumentKind(StrEnum):
    """What a metric does over time."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


# Compared by identity: an instrument is looked up for each thing that is counted.
@dataclass(frozen=True, slots=True, eq=False)
class Instrument:
    """One metric. `unit` is UCUM's: `s`, `By`, `1`, or what is counted in braces.

    A counter with a single label shows its `known` values as 0 from the start.
    """

    kind: InstrumentKind
    name: str
    unit: str
    description: str
    labels: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

    @property
    def otel_name(self) -> str:
        """The name in OpenTelemetry."""
        return f"rt4chart.{self.name}"

    @property
    def prometheus_name(self) -> str:
        """The name in Prometheus, with `_total` for a counter."""
        total = "total" if self.kind is InstrumentKind.COUNTER else ""
        parts = ("rt4chart", self.name, PROMETHEUS_UNITS.get(self.unit, ""), total)
        return "_".join(filter(None, parts))


def counter(
    name: str, counted: str, description: str, *labels: str, known: Iterable[str] = ()
) -> Instrument:
    """A number that only grows."""
    values = tuple(str(value) for value in known)
    return Instrument(InstrumentKind.COUNTER, name, f"{{{counted}}}", description, labels, values)


def gauge(name: str, unit: str, description: str, *labels: str) -> Instrument:
    """A number that is read at each scrape or push."""
    return Instrument(InstrumentKind.GAUGE, name, unit, description, labels)


def duration(name: str, description: str, *labels: str) -> Instrument:
    """A histogram of seconds."""
    return Instrument(InstrumentKind.HISTOGRAM, name, "s", description, labels)


ROUTE = ("service", "route")

REQUESTS = counter("requests", "request", "OTLP requests by way in and result", "way", "result")
CONNECTIONS_REFUSED = counter(
    "connections_refused",
    "connection",
    "HTTP connections to the OTLP port that were refused, or closed to make room (total, "
    "per_client) or because a client broke a limit (slow, small_chunks, head, pipeline)",
    "reason",
    known=("total", "per_client", "slow", "small_chunks", "head", "pipeline"),
)
TOKENS_REFUSED = counter(
    "tokens_refused",
    "request",
    "Requests refused for their token, by what it should open: missing, wrong, other_purpose, "
    "throttled (too many wrong ones), closed (the service has none)",
    "purpose",
    "result",
)
SPANS_RECEIVED = counter("spans_received", "span", "Spans of requests that could be decoded")
SPANS_STORED = counter("spans_stored", "span", "Spans that were stored")
SPANS_REFUSED = counter(
    "spans_refused",
    "span",
    "Spans that were not taken: invalid (no id or time), conflict (the ids of a stored span, other "
    "content), too_many_days (far from the retention, on too many days), other_tenant (than that "
    "of the token), past_days (on many days before yesterday at once), queue_full, not_stored; the "
    "client sends the last three again",
    "reason",
    known=(
        *("invalid", "conflict", "too_many_days", "other_tenant"),
        *("past_days", "queue_full", "not_stored"),
    ),
)
ROUTES_RENAMED = counter(
    "routes_renamed",
    "answer",
    "Answers stored under another route than their own: folded (ids in a path, "
    "RT4CHART_FOLD_ROUTES) or overflow (more than RT4CHART_ROUTE_LIMIT routes)",
    "reason",
    known=("folded", "overflow"),
)
SHORTENED = counter(
    "attributes_shortened",
    "value",
    "Values in spans that were too large to be stored whole: shortened because the value "
    "(RT4CHART_ATTRIBUTE_MIB), the whole span (four times as much) or a name was too large, or "
    "dropped; in spans that are sent again once more",
    "reason",
    known=("value", "span", "name", "dropped"),
)
SPANS_DUPLICATE = counter(
    "spans_duplicate",
    "span",
    "Spans that were sent again: acknowledged, and not stored a second time",
)
SPANS_LOST = counter(
    "spans_lost",
    "span",
    "Spans that were acknowledged when queued and then not stored (RT4CHART_ACK=enqueued): the "
    "insert failed (not_stored), or a stored span has the ids and other content (conflict)",
    "reason",
    known=("not_stored", "conflict"),
)
SPANS_RECOVERED = counter(
    "spans_recovered", "span", "Spans read from the store to find undecided answers"
)
INGEST_QUEUE = gauge("ingest_queue", "By", "Requests that wait to be stored, in bytes")
INGEST_QUEUE_LIMIT = gauge(
    "ingest_queue_limit", "By", "The limit of that queue (RT4CHART_INGEST_QUEUE_MIB)"
)
INGEST_QUEUE_REQUESTS = gauge(
    "ingest_queue_requests", "{request}", "Requests that wait to be stored"
)
STORE_INSERT_DURATION = duration(
    "store_insert_duration",
    "Inserts that succeeded, by what was inserted: spans or verdicts",
    "kind",
)
STORE_INSERT_FAILURES = counter(
    "store_insert_failures", "insert", "Inserts that failed", "kind", known=("spans", "verdicts")
)
STORE_DAMAGED_PARTS = gauge(
    "store_damaged_parts",
    "{part}",
    "Damaged parts by table: left out when the database started, or met within ten minutes",
    "table",
)
KAFKA_LAG = gauge(
    "kafka_lag",
    "{message}",
    "Messages behind the committed offset, by partition of this worker",
    "partition",
)
KAFKA_PARTITIONS = gauge("kafka_partitions", "{partition}", "Partitions of this worker")
KAFKA_PAUSED_PARTITIONS = gauge(
    "kafka_paused_partitions",
    "{partition}",
    "Partitions that are paused because the memory is full (RT4CHART_TRACE_BUFFER_MIB)",
)
KAFKA_MESSAGES = counter(
    "kafka_messages",
    "message",
    "Messages that were read (read), written to the dead letter topic (buried), or could not be "
    "written there (unburied, each attempt)",
    "result",
)
OPEN_TRACES = gauge("open_traces", "{trace}", "Traces that wait for more spans")
OPEN_TRACES_SIZE = gauge("open_traces_size", "By", "Approximate memory that open traces take")
EVICTED_TRACES = counter(
    "evicted_traces",
    "trace",
    "Traces dropped because the memory is full (RT4CHART_TRACE_BUFFER_MIB); the store has them",
)
WORK_QUEUE_TRACES = gauge(
    "work_queue_traces", "{trace}", "Traces that wait for a worker or are being verified"
)
WORK_QUEUE_LIMIT = gauge(
    "work_queue_limit", "{trace}", "The number of traces that may wait (RT4CHART_WORK_QUEUE)"
)
WORK_QUEUE_OLDEST = gauge(
    "work_queue_oldest",
    "s",
    "Seconds for which the oldest trace has waited for a worker; it grows while judging is stalled",
)
UNSAVED_TRACES = counter(
    "unsaved_traces", "trace", "Traces whose verdicts could not be stored; they are verified again"
)
ANSWERS = counter("answers", "answer", "Answers by decision", "decision", known=Decision)
VERIFIED_ANSWERS = counter(
    "verified_answers", "answer", "Verified answers by label", "label", known=AnswerLabel
)
CLAIMS = counter("claims", "claim", "Claims of verified answers by label", "label", known=Label)
CLAIM_STATUSES = counter(
    "claim_statuses",
    "claim",
    "Claims of verified answers by status: what is wrong with them beyond the label",
    "status",
    known=ClaimStatus,
)
TRAILS = counter(
    "trails",
    "claim",
    "Failed claims by what their trail says: the step in which they entered (located), several "
    "(several), that it is not known (unknown; no_chain where the spans do not say what the steps "
    "have read), nothing for an answer of one step (one_step), that tracing failed (failed)",
    "result",
    known=("located", "several", "unknown", "no_chain", "one_step", "failed"),
)
EARLIER_TURNS = counter(
    "earlier_turns",
    "turn",
    "Earlier turns that were read to support baseless claims (read), those that the limits on time "
    "and size left out (missed), single texts of turns for which there was no room "
    "(text_left_out), and answers whose earlier turns could not be read (failed)",
    "result",
    known=("read", "missed", "text_left_out", "failed"),
)
CRITERION_VERDICTS = counter(
    "criteria",
    "verdict",
    "Verdicts of custom criteria on answers: pass, fail, not_applicable or undecided",
    "criterion",
    "outcome",
)
CRITERIA_DURATION = duration(
    "criteria_duration", "Judging an answer by its custom criteria, with the calls to a model"
)
TRAIL_DURATION = duration("trail_duration", "Time that tracing the failed claims of an answer took")
VERIFICATION_DURATION = duration(
    "verification_duration", "Time that the judge took for an answer, failures included", "judge"
)
VERDICT_LAG = duration("verdict_lag", "Time from an answer's end to its stored verdict")
JUDGE_PAUSED = gauge("judge_paused", "1", "1 while the judge is paused because it fails, else 0")
JUDGE_CALLS_REFUSED = counter(
    "judge_calls_refused",
    "call",
    "Calls that were not sent to the judge: a budget of the hour or day was used up (over_budget), "
    "or the store did not tell what is left of it (budget_unknown)",
    "reason",
    known=("over_budget", "budget_unknown"),
)
PUT_OFF_ANSWERS = counter(
    "put_off_answers", "answer", "Answers postponed while the judge was paused"
)
RETRIES = counter(
    "retries",
    "answer",
    "Answers to be tried again (planned), given up (given_up), or verified by a retry (answered)",
    "result",
    known=("planned", "given_up", "answered"),
)
RETRIES_WAITING = gauge(
    "retries_waiting", "{answer}", "Answers in the store that wait for another attempt"
)
DEAD_LETTERS = gauge(
    "dead_letters", "{answer}", "Answers in the store that were given up, by reason", "reason"
)
MONITOR_ROUTES = gauge(
    "monitor_routes",
    "{route}",
    "Routes with claims of the last 15 days, by what the monitor does: watched, unread (watched as"
    " soon as it is read), left_out (RT4CHART_MONITOR_ROUTES), without_gauges, which are watched or"
    " not (RT4CHART_MONITOR_GAUGES); of several monitors each counts its own routes, and the one"
    " that leads those left out",
    "state",
)
ROUTE_HALLUCINATION_RATE = gauge(
    "route_hallucination_rate",
    "1",
    "Share of the decided claims of the last hour that are unfaithful, weighted by sampling",
    *ROUTE,
)
ROUTE_CLAIMS = gauge(
    "route_claims",
    "{claim}",
    "Decided claims of the last hour, over which that rate is computed",
    *ROUTE,
)
ROUTE_UNDECIDED_RATIO = gauge(
    "route_undecided_ratio",
    "1",
    "Share of all claims of the last hour that the judge could not decide",
    *ROUTE,
)
ROUTE_DRIFT_LOG_EVIDENCE = gauge(
    "route_drift_log_evidence",
    "1",
    "Natural logarithm of the evidence that the rate has risen: any without a dead band, page "
    "with it; the thresholds apply to page",
    *ROUTE,
    "level",
)
ROUTE_DRIFT_THRESHOLD = gauge(
    "route_drift_threshold",
    "1",
    "Logarithm of the evidence at which a warning or an alarm begins",
    *ROUTE,
    "level",
)
ROUTE_MIN_DETECTABLE_RISE = gauge(
    "route_min_detectable_rise",
    "1",
    "Smallest rise of the rate that is detected within 90 minutes at the current sampling",
    *ROUTE,
)
ROUTE_MISLEADING_RATE = gauge(
    "route_misleading_rate",
    "1",
    "Share of the decided claims of the last hour that are entailed and mislead, of the answers "
    "that were checked for it, weighted by sampling",
    *ROUTE,
)
ROUTE_CHECKED_CLAIMS = gauge(
    "route_checked_claims",
    "{claim}",
    "Decided claims of the last hour in answers that were checked for misleading ones, over which "
    "that rate is computed",
    *ROUTE,
)
ROUTE_MISLEADING_DRIFT_LOG_EVIDENCE = gauge(
    "route_misleading_drift_log_evidence",
    "1",
    "Natural logarithm of the evidence that the misleading rate has risen, by level as above",
    *ROUTE,
    "level",
)
ROUTE_MISLEADING_DRIFT_THRESHOLD = gauge(
    "route_misleading_drift_threshold",
    "1",
    "Logarithm of the evidence at which a warning or an alarm about it begins",
    *ROUTE,
    "level",
)
ROUTE_MISLEADING_MIN_DETECTABLE_RISE = gauge(
    "route_misleading_min_detectable_rise",
    "1",
    "Smallest rise of the misleading rate that is detected within 90 minutes at the current "
    "sampling",
    *ROUTE,
)
ROUTE_CORRECTED_RATE = gauge(
    "route_corrected_rate",
    "1",
    "Share of all claims of the last seven days that are unfaithful, corrected by labels, and its "
    "95% interval, by bound: value, low and high; absent while labels are missing",
    *ROUTE,
    "bound",
)
ROUTE_TRUSTED_LABELS = gauge(
    "route_trusted_labels",
    "{label}",
    "Labels that this rate counts; absent where no claims were drawn for labels",
    *ROUTE,
)
ROUTE_MISLEADING_CORRECTED_RATE = gauge(
    "route_misleading_corrected_rate",
    "1",
    "Share of all claims of the last seven days that mislead, corrected by the labels that say "
    "whether a claim does, and its 95% interval, by bound as above",
    *ROUTE,
    "bound",
)
ROUTE_MISLEADING_TRUSTED_LABELS = gauge(
    "route_misleading_trusted_labels",
    "{label}",
    "Labels that say whether a claim misleads; absent where no claims were drawn for labels",
    *ROUTE,
)
GROUPING_RUNS = counter(
    "grouping_runs",
    "run",
    "Runs that group failures into issues: completed, failed, or left to another process that was "
    "grouping (busy)",
    "result",
    known=("completed", "failed", "busy"),
)
GROUPING_DURATION = duration("grouping_duration", "Time that a completed run of grouping took")
GROUPING_LAST_RUN = gauge(
    "grouping_last_run", "s", "End of the last completed run of grouping, since the epoch"
)
GROUPING_WAITING = gauge(
    "grouping_waiting_failures", "{failure}", "Failures in no issue at the end of that run"
)
FAILURES = counter(
    "failures",
    "failure",
    "Traces that could not be read or saved, by the type of the error",
    "type",
)
LOG_LINES_DROPPED = counter(
    "log_lines_dropped", "line", "Lines of the log that were dropped, because stderr was not read"
)
UNREADY = gauge("unready", "1", "1 for each reason for which /readyz answers 503, else 0", "reason")
START_TIME = gauge("start_time", "s", "Start of the process, since the epoch")
BUILD_INFO = gauge(
    "build_info",
    "1",
    "Always 1; labels give the version of the package and the id of the judge",
    "version",
    "judge",
)

# In the order of the definitions above, which is that of the documentation.
INSTRUMENTS = tuple(value for value in globals().values() if isinstance(value, Instrument))
