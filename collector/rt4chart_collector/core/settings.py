"""All settings of the service, its workers, console, monitor and alerts, each declared once.

To add a setting, add a field to its section: `python -m rt4chart_collector.core.settings`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_network

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.semconv import CarrierPlace
from otel_rt4chart.core.settings import (
    PREFIX,
    REQUIRED,
    computed,
    reference,
    section,
    setting,
    settings_of,
)
from otel_rt4chart.core.settings_parsers import (
    OFF,
    Address,
    Network,
    Parser,
    address,
    bearer_token,
    boolean,
    header_name,
    host_names,
    http_url,
    http_urls,
    integer,
    matching,
    name_set,
    networks,
    number,
    one_of,
    or_off,
    secure_url,
    share,
    signing_secret,
    text,
)
from otel_rt4chart.sampling.layers import Layers
from otel_rt4chart.settings.application import SECTIONS as APPLICATION
from otel_rt4chart.settings.application import JudgeSettings, carrier_setting, layers_setting
from otel_rt4chart.settings.criteria_file import criteria_setting
from otel_rt4chart.verify.criteria.model import Criteria
from rt4chart_collector.core.grouping_settings import GroupingSettings
from rt4chart_collector.core.logs import JSON, LEVELS, TEXT
from rt4chart_collector.core.retention import Retention
from rt4chart_collector.core.settings_checks import (
    check_distinct,
    check_ingest_is_closed,
    check_is_server,
    check_metrics,
    check_one,
    check_reachable,
    check_tls,
)
from rt4chart_collector.core.settings_parsers import (
    ONE_A_LINE,
    AlertRoute,
    KafkaAddress,
    default_dsn,
    default_metrics_url,
    kafka_properties,
    parse_apprise,
    parse_kafka_url,
    parse_metrics_url,
    parse_routing,
)

STORED, ENQUEUED = "stored", "enqueued"
LOCAL = "127.0.0.1"
REPLICAS = matching(r"[2-9]|auto", "a number from 2 to 9, or auto for most of them")
SLACK_API = "https://slack.com/api"
PAGERDUTY_API = "https://events.pagerduty.com/v2/enqueue"


def database_setting() -> str:
    """The setting RT4CHART_DSN, which several sections have."""
    return setting(
        "",
        "the database; embedded in the user's data folder unless set",
        Parser("chdb:///absolute/path or http://user:password@host:8123/database", str),
        unset=default_dsn,
    )


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """Settings of the service: `rt4chart up`, in part `rt4chart work` and `rt4chart console`."""

    dsn: str = database_setting()
    judge: str = setting(
        "local", "who verifies: local, openai, single, cascade, onnx:PATH or onnx-spans:PATH", text
    )
    strict_routes: frozenset[str] = setting(
        frozenset[str](), "routes whose every claim goes to a cascade's second judge", name_set
    )
    sample_rate: float = setting(
        1.0, "share of the answers to verify, where the application has not marked them", share
    )
    layers: Layers = layers_setting()
    criteria: Criteria = criteria_setting()
    fold_routes: bool = setting(True, "store the route /users/7 as /users/{id}", boolean)
    route_limit: int = setting(10_000, "routes that a process stores by name", integer(1, 10**6))
    trail_calls: int = setting(60, "questions to the judge for an answer's trails", integer(1, 999))
    carrier: CarrierPlace = carrier_setting()
    otlp_http: Address = setting(Address(LOCAL, 4318), "where to accept OTLP over HTTP", address)
    otlp_grpc: Address = setting(Address(LOCAL, 4317), "where to accept OTLP over gRPC", address)
    health: Address | None = setting(
        Address(LOCAL, 13134),
        "where to serve /healthz and /readyz apart from all other requests; or off",
        or_off(address, None),
    )
    connections: int = setting(512, "HTTP connections open at once", integer(1, 100_000))
    connections_per_client: int = setting(
        256, "the same for one client address, which a proxy shares", integer(1, 100_000)
    )
    ingest_token: str = setting("", "what clients send with spans", bearer_token, secret=True)
    ingest_token_file: str = setting("", ONE_A_LINE, text)
    read_token: str = setting(
        "", "what opens /metrics, /status and /v1/rates", bearer_token, secret=True
    )
    read_token_file: str = setting("", ONE_A_LINE, text)
    tls_cert: str = setting("", "certificate chain in PEM; both servers speak TLS with it", text)
    tls_key: str = setting("", "private key of that certificate in PEM", text)
    ack: str = setting(
        STORED,
        "when a request is acknowledged: stored (after the insert) or enqueued (before it)",
        one_of(STORED, ENQUEUED),
    )
    attribute_mib: int = setting(
        4,
        "the largest value of a span that is stored whole, a longer one is shortened; a span may "
        "have four times as much",
        integer(1, 64, "MiB"),
    )
    trace_quiet_s: float = setting(
        2.0,
        "seconds without a new span after which a trace with its root is verified",
        number(0, 3600, "seconds"),
    )
    trace_orphan_s: float = setting(
        30.0, "the same for a trace whose root has not arrived", number(0, 3600, "seconds")
    )
    trace_max_s: float = setting(
        600.0, "seconds after which a trace is verified as it is then", number(1, 86_400, "seconds")
    )
    trace_buffer_mib: int = setting(256, "memory for open traces", integer(1, 65_536, "MiB"))
    ingest_queue_mib: int = setting(
        128, "memory for requests that wait to be stored", integer(1, 65_536, "MiB")
    )
    work_queue: int = setting(1024, "traces that may wait for a worker", integer(1, 1_000_000))
    workers: int = setting(2, "verification threads", integer(1, 64))
    ttl_days: int = setting(30, "days to keep spans and verdicts", integer(1, 36_500, "days"))
    spans_ttl_days: int = setting(
        0, "the same for spans alone (0: as ttl-days)", integer(0, 36_500, "days")
    )
    verdicts_ttl_days: int = setting(
        0, "the same for verdicts alone (0: as ttl-days)", integer(0, 36_500, "days")
    )
    issues_ttl_days: int = setting(
        0, "days to keep an issue after it was last seen (0: forever)", integer(0, 36_500, "days")
    )
    rollup_ttl_days: int = setting(400, "days to keep sums per minute", integer(1, 36_500, "days"))
    cluster: str = setting(
        "",
        "the cluster of the ClickHouse server on which the tables are made",
        matching(
            r"[A-Za-z_][\w.-]*|\{\w+\}",
            "the name of a cluster in system.clusters, or a macro such as {cluster}",
        ),
    )
    cluster_pruning: bool = setting(
        False, "ask a trace's shard alone: if all rows came through Distributed tables", boolean
    )
    insert_quorum: str = setting("", "replicas that an insert waits for (none: one)", REPLICAS)
    stop_s: float = setting(
        30.0, "seconds to finish accepted work at shutdown", number(0, 3600, "seconds")
    )
    log_format: str = setting(TEXT, "how the log is written: text or json", one_of(TEXT, JSON))
    log_level: str = setting("warning", "the least severe level that is logged", one_of(*LEVELS))
    self_metrics: str = setting(
        "",
        "where to send the service's own metrics, as OTLP over HTTP, or off",
        Parser("a URL such as http://127.0.0.1:14318, or off", parse_metrics_url),
        unset=default_metrics_url,
    )

    def __post_init__(self) -> None:
        """Refuse settings that do not go together."""
        for name in ("otlp_http", "otlp_grpc"):
            check_reachable(name, getattr(self, name), self, "ingest_token")
        check_one(self, "ingest_token", "read_token")
        check_tls(self.tls_cert, self.tls_key)
        # Recovery looks for spans of the last day without a verdict, which must not expire first.
        days = self.retention
        if days.verdicts < min(2, days.spans):
            raise SettingsError(
                f"{PREFIX}VERDICTS_TTL_DAYS: expected at least 2 where spans are kept longer than "
                f"a day; got {days.verdicts}; answers would be judged twice"
            )
        check_is_server(self, "cluster", "cluster_pruning", "insert_quorum")

    @property
    def retention(self) -> Retention:
        """How long the rows of each kind of table are kept."""
        return Retention(
            others=self.ttl_days,
            spans=self.spans_ttl_days or self.ttl_days,
            verdicts=self.verdicts_ttl_days or self.ttl_days,
            issues=self.issues_ttl_days,
            rollup=self.rollup_ttl_days,
        )


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Settings of a worker: `rt4chart work`."""

    source: KafkaAddress = setting(
        REQUIRED,
        "the Kafka topic of spans to work on, which the Collector's Kafka exporter writes",
        Parser(
            "kafka://broker1:9092,broker2:9092/topic?group=name, user and password in "
            "RT4CHART_KAFKA_SASL_USERNAME and _PASSWORD",
            parse_kafka_url,
        ),
    )
    # librdkafka's properties, which hold secrets.
    kafka: Mapping[str, str] = computed(kafka_properties)
    store_spans: bool = setting(
        False, "store the spans, where no Collector does with its ClickHouse exporter", boolean
    )
    work_http: Address | None = setting(
        Address(LOCAL, 8320),
        "where to serve /metrics, /status, /healthz and /readyz; or off",
        or_off(address, None),
    )


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """Settings of the console: `rt4chart up` and `rt4chart console`."""

    console: Address | None = setting(
        Address(LOCAL, 8321), "where to serve the console; or off", or_off(address, None)
    )
    console_token: str = setting("", "what people sign in with", bearer_token, secret=True)
    console_token_file: str = setting("", ONE_A_LINE, text)
    admin_token: str = setting(
        "",
        "what signed-in people also need to change anything; they need no more unless it is set",
        bearer_token,
        secret=True,
    )
    admin_token_file: str = setting("", "a file of such tokens, one a line", text)
    console_user_header: str = setting("", "the header in which a proxy names people", header_name)
    console_trusted: tuple[Network, ...] = setting(
        (ip_network("127.0.0.0/8"), ip_network("::1/128")),
        "from where that header is believed",
        networks,
    )
    console_hosts: frozenset[str] = setting(
        frozenset[str](), "the names under which people open the console", host_names
    )
    console_readonly: bool = setting(False, "show everything, change nothing", boolean)
    console_try: bool = setting(True, "let readers check answers of their own at /try", boolean)
    console_clients: int = setting(4, "connections of the console to the database", integer(1, 64))
    console_page_s: float = setting(10.0, "seconds that a page may take", number(1, 300, "seconds"))

    def __post_init__(self) -> None:
        """Refuse a console that other machines can reach without signing in."""
        check_one(self, "console_token", "admin_token")
        place = self.console
        if place is not None and not place.is_loopback and self.is_open:
            raise SettingsError(
                f"{PREFIX}CONSOLE: other machines can reach {place}; set {PREFIX}CONSOLE_TOKEN to "
                f"a secret that people sign in with, or {PREFIX}CONSOLE_USER_HEADER to the header "
                "of a proxy that signs them in, or listen on 127.0.0.1"
            )

    @property
    def is_open(self) -> bool:
        """True if the console needs no sign-in."""
        return not (self.console_token or self.console_token_file or self.console_user_header)


@dataclass(frozen=True, slots=True)
class MonitorSettings:
    """Settings of the monitor: `rt4chart up` and `rt4chart console`."""

    monitor: float = setting(
        60.0,
        "seconds between two rounds of the monitor over the routes; or off",
        Parser(
            "seconds from 1 to 3600, or off",
            lambda written: 0.0 if written in (OFF, "0") else number(1, 3600)(written),
        ),
    )
    monitor_routes: int = setting(1_000, "routes that are watched, the busiest", integer(1, 10_000))
    monitor_gauges: int = setting(1_000, "routes with gauges, the busiest", integer(0, 3_000))
    drift_rule: str = setting(
        "evidence", "how a rise is detected", one_of("evidence", "threshold", "window")
    )
    drift_false_alarms: float = setting(
        1.0,
        "false alarms a month that are accepted, of all routes together, for each measure",
        number(0.01, 100),
    )
    drift_threshold: float = setting(
        0.15,
        "share of unfaithful, or of misleading claims that alarms, with the rule threshold",
        number(0.001, 0.999, "a share"),
    )
    drift_points: float = setting(
        0.03,
        "rise in that share that alarms, with the rule window",
        number(0.001, 0.999, "a share"),
    )
    drift_minutes: int = setting(60, "minutes these rules look back", integer(5, 1440, "minutes"))
    # The judge `local` leaves a fifth undecided, up to a third on some routes: that is no failure.
    undecided_share: float = setting(
        0.5, "share of an hour's claims without a decision that alarms", number(0.01, 1, "a share")
    )
    max_corrected_rate: float = setting(
        0.0,
        "share of unfaithful claims that alarms when a corrected rate is above it; 0 is none",
        number(0, 0.999, "a share"),
    )
    backlog_answers: int = setting(
        200, "answers waiting for another attempt that alarm", integer(1, 10_000_000)
    )
    no_data_answers: int = setting(
        20,
        "answers in the same hour a week ago that make it an alarm if there are none now",
        integer(1, 1_000_000),
    )
    adaptive: bool = setting(
        True,
        "raise sampling while evidence of a rise grows, for applications that read the rates",
        boolean,
    )
    adaptive_cap: float = setting(
        1000.0, "verified answers an hour that a route may be raised to", number(1, 1_000_000)
    )
    adaptive_budget: float = setting(
        50.0,
        "answers an hour beyond the routes' own rates, on average over a week, of all routes",
        number(0, 1_000_000),
    )


@dataclass(frozen=True, slots=True)
class AlertSettings:
    """Settings of alerts: who is notified, of what and how often."""

    alerts_slack: str = setting("", "a Slack incoming webhook", secure_url, secret=True)
    alerts_slack_token: str = setting("", "a Slack bot's token", bearer_token, secret=True)
    alerts_slack_channel: str = setting(
        "", "the channel's id for that bot", Parser("an id such as C0123456789", str)
    )
    alerts_slack_url: str = setting(SLACK_API, "Slack's Web API", secure_url)
    alerts_pagerduty: str = setting(
        "", "the key of a PagerDuty Events API v2 integration", bearer_token, secret=True
    )
    alerts_pagerduty_url: str = setting(PAGERDUTY_API, "PagerDuty's Events API", secure_url)
    alerts_webhook: str = setting("", "a URL that alerts are posted to", secure_url, secret=True)
    alerts_webhook_secret: str = setting("", "what signs those posts", signing_secret, secret=True)
    alerts_alertmanager: tuple[str, ...] = setting((), "where Alertmanagers are", http_urls)
    alerts_alertmanager_token: str = setting(
        "", "a bearer token for those Alertmanagers", bearer_token, secret=True
    )
    alerts_apprise: str = setting(
        "",
        "URLs of apprise, for e-mail and other services",
        Parser("URLs that apprise knows, with spaces between them", parse_apprise),
        secret=True,
    )
    alerts_routing: tuple[AlertRoute, ...] = setting(
        (),
        "from which severity on, and of which rules, a target is notified",
        Parser(
            "TARGET=SEVERITY or TARGET=SEVERITY:RULE|RULE with commas between them, such as "
            "pagerduty=critical:route_drift|no_data,slack=warning",
            parse_routing,
        ),
    )
    alerts_keep_min: float = setting(
        30.0, "minutes without evidence after which an alert is over", number(1, 1_440, "minutes")
    )
    alerts_remind_h: float = setting(
        4.0,
        "hours after which an open alert without acknowledgement is sent again; 0 is never",
        number(0, 720, "hours"),
    )
    alerts_console: str = setting(
        "", "where people open the console, for links in messages and from the gate", http_url
    )
    alerts_texts: bool = setting(
        False, "whether messages quote claims and answers that users were given", boolean
    )

    def __post_init__(self) -> None:
        """Refuse settings that do not go together."""
        if bool(self.alerts_slack_token) != bool(self.alerts_slack_channel):
            raise SettingsError(
                f"{PREFIX}ALERTS_SLACK_TOKEN and {PREFIX}ALERTS_SLACK_CHANNEL: expected both or "
                "neither; got one; a webhook needs neither, only its address"
            )
        if self.alerts_slack and self.alerts_slack_token:
            raise SettingsError(
                f"{PREFIX}ALERTS_SLACK and {PREFIX}ALERTS_SLACK_TOKEN: expected a webhook's "
                "address or a bot's token; got both; every alert would be sent twice"
            )
        if self.alerts_webhook_secret and not self.alerts_webhook:
            raise SettingsError(
                f"{PREFIX}ALERTS_WEBHOOK_SECRET: expected {PREFIX}ALERTS_WEBHOOK too; got none"
            )


@dataclass(frozen=True, slots=True)
class MonitoringSettings:
    """All settings of a monitor, and of the alerts that it raises."""

    monitor: MonitorSettings = section(MonitorSettings)
    alerts: AlertSettings = section(AlertSettings)

    @property
    def is_on(self) -> bool:
        """False where RT4CHART_MONITOR is off."""
        return self.monitor.monitor > 0


@dataclass(frozen=True, slots=True)
class UpSettings:
    """All settings of `rt4chart up`."""

    service: ServiceSettings = section(ServiceSettings)
    console: ConsoleSettings = section(ConsoleSettings)
    monitoring: MonitoringSettings = section(MonitoringSettings)
    grouping: GroupingSettings = section(GroupingSettings)
    judge: JudgeSettings = section(JudgeSettings, flags=())

    def __post_init__(self) -> None:
        """Refuse metrics sent to itself, a token to read alone, and two listeners on one port."""
        service = self.service
        check_ingest_is_closed(service)
        check_distinct(service, self.console, "otlp_http", "otlp_grpc", "health", "console")
        check_metrics(service.self_metrics, (service.otlp_http, service.otlp_grpc))


@dataclass(frozen=True, slots=True)
class WorkSettings:
    """All settings of `rt4chart work`."""

    worker: WorkerSettings = section(WorkerSettings)
    service: ServiceSettings = section(
        ServiceSettings,
        flags=(
            *("dsn", "cluster", "cluster_pruning", "insert_quorum", "judge", "strict_routes"),
            *("sample_rate", "layers", "carrier"),
            *("fold_routes", "route_limit", "trace_quiet_s", "trace_orphan_s", "trace_max_s"),
            *("trace_buffer_mib", "work_queue", "workers", "trail_calls", "criteria", "stop_s"),
            *("log_format", "log_level", "self_metrics"),
        ),
    )

    def __post_init__(self) -> None:
        """Refuse to serve other machines without a token, or to send metrics to itself."""
        place = self.worker.work_http
        if place is not None:
            check_reachable("work_http", place, self.service, "read_token")
        check_metrics(self.service.self_metrics, [place] if place else [])


@dataclass(frozen=True, slots=True)
class ConsoleProcessSettings:
    """All settings of `rt4chart console`."""

    console: ConsoleSettings = section(ConsoleSettings)
    service: ServiceSettings = section(
        ServiceSettings, flags=("dsn", "tls_cert", "tls_key", "log_format", "log_level")
    )
    monitoring: MonitoringSettings = section(MonitoringSettings)


CONSOLE = (ConsoleSettings, MonitorSettings, AlertSettings)
SECTIONS = (ServiceSettings, GroupingSettings, WorkerSettings, *CONSOLE)
KNOWN = tuple(setting.variable for setting in settings_of(*SECTIONS, *APPLICATION))
if __name__ == "__main__":
    sys.stdout.write(reference(*SECTIONS))
