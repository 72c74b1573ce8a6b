"""The worker's settings: the source's URL, the client's properties, and nothing secret told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import flags_of, load
from rt4chart_collector.core.settings import WorkerSettings, WorkSettings
from rt4chart_collector.core.settings_parsers import KafkaAddress, kafka_properties, parse_kafka_url

SOURCE = "kafka://one:9092,[::1]:9093/otlp_spans?group=mine"
PAGE = Path(__file__).parents[3] / "docs/reference/settings.md"


def test_url_names_brokers_topic_and_group() -> None:
    """The group has a default."""
    assert parse_kafka_url(SOURCE) == KafkaAddress("one:9092,[::1]:9093", "otlp_spans", "mine")
    assert parse_kafka_url("kafka://one:9092/spans").group == "rt4chart"
    assert parse_kafka_url("kafka://one:9092/spans").dead_letters == "spans.dlq"


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "one:9092",
        "http://one:9092/spans",
        "kafka://one/spans",
        "kafka://one:9092",
        "kafka://one:9092/",
        "kafka://one:99999/spans",
        "kafka://one:9092,/spans",
        "kafka://one:9092/a/b",
        "kafka://one:9092/spans?group=",
        "kafka://one:9092/spans?groups=mine",
        "kafka://one:9092/spans?x",
        "kafka://one:9092/spans#x",
        "kafka://me:hunter2@one:9092/spans",
        "kafka://[one:9092/spans",
    ],
)
def test_wrong_url_is_told_with_what_was_expected(wrong: str) -> None:
    """And without what may be a password."""
    with pytest.raises(SettingsError, match=r"^RT4CHART_SOURCE: expected kafka://") as told:
        load(WorkerSettings, {}, {"RT4CHART_SOURCE": wrong})

    assert "hunter2" not in str(told.value)


def test_properties_come_from_a_file_and_from_variables(tmp_path: Path) -> None:
    """A variable wins; its name is the property's with underscores."""
    file = tmp_path / "client.properties"
    file.write_text("# ours\n\nsasl.username = me\nsasl.password=a=b\nclient.id=file\n")

    found = kafka_properties(
        {"RT4CHART_KAFKA_CONFIG": str(file), "RT4CHART_KAFKA_CLIENT_ID": "it", "KAFKA_X": "1"}
    )

    assert found == {"sasl.username": "me", "sasl.password": "a=b", "client.id": "it"}


def test_variables_that_kubernetes_sets_for_a_service_are_no_properties() -> None:
    """Every pod has them where a service is named rt4chart-kafka."""
    port = "RT4CHART_KAFKA_PORT"
    names = [
        *(port, f"{port}_9092_TCP", f"{port}_9092_TCP_ADDR", f"{port}_9092_TCP_PORT"),
        *("RT4CHART_KAFKA_SERVICE_HOST", "RT4CHART_KAFKA_SERVICE_PORT_KAFKA"),
        "RT4CHART_KAFKA_SERVICE_PORT",
    ]
    own = {"RT4CHART_KAFKA_SASL_KERBEROS_SERVICE_NAME": "kafka"}

    found = kafka_properties({**dict.fromkeys(names, "tcp://10.0.0.1:9092"), **own})

    assert found == {"sasl.kerberos.service.name": "kafka"}


def test_properties_that_the_guarantees_rest_on_cannot_be_set(tmp_path: Path) -> None:
    """Neither in a variable nor in the file."""
    file = tmp_path / "client.properties"
    file.write_text("group.id=other\n")

    with pytest.raises(SettingsError, match=r"^enable\.auto\.commit"):
        kafka_properties({"RT4CHART_KAFKA_ENABLE_AUTO_COMMIT": "true"})
    with pytest.raises(SettingsError, match=r"^group\.id"):
        kafka_properties({"RT4CHART_KAFKA_CONFIG": str(file)})


def test_file_that_cannot_be_read_is_told_without_its_content(tmp_path: Path) -> None:
    """A line without a name may be a secret's."""
    file = tmp_path / "client.properties"
    file.write_text("sasl.username=me\nhunter2\n")

    with pytest.raises(SettingsError, match="line 2") as told:
        kafka_properties({"RT4CHART_KAFKA_CONFIG": str(file)})
    with pytest.raises(SettingsError, match="No such file"):
        kafka_properties({"RT4CHART_KAFKA_CONFIG": str(tmp_path / "none")})

    assert "hunter2" not in str(told.value)


def test_flags_win_over_variables() -> None:
    """Those of the service that a worker shares, too."""
    environ = {"RT4CHART_SOURCE": "kafka://a:1/b", "RT4CHART_WORKERS": "3", "HOME": "/nowhere"}

    found = load(
        WorkSettings, {"source": SOURCE, "store_spans": "true", "work_http": "off"}, environ
    )

    assert str(found.worker.source) == SOURCE
    assert found.worker.store_spans is True
    assert found.worker.work_http is None
    assert found.service.workers == 3


def test_secrets_are_not_shown_with_the_settings() -> None:
    """As they would be in a traceback."""
    found = load(
        WorkSettings, {}, {"RT4CHART_SOURCE": SOURCE, "RT4CHART_KAFKA_SASL_PASSWORD": "hunter2"}
    )

    assert found.worker.kafka == {"sasl.password": "hunter2"}
    assert "hunter2" not in repr(found)


def test_figures_for_other_machines_need_a_token() -> None:
    """As the service's."""
    environ = {"RT4CHART_SOURCE": SOURCE, "RT4CHART_WORK_HTTP": "0.0.0.0:8320"}

    with pytest.raises(SettingsError, match="RT4CHART_READ_TOKEN"):
        load(WorkSettings, {}, environ)

    assert (
        load(WorkSettings, {}, {**environ, "RT4CHART_READ_TOKEN": "t"}).worker.work_http is not None
    )


def test_a_worker_sends_its_metrics_anywhere_but_to_itself() -> None:
    """The service's addresses are others' here."""
    environ = {"RT4CHART_SOURCE": SOURCE, "RT4CHART_SELF_METRICS": "http://127.0.0.1:4318"}
    own = {**environ, "RT4CHART_SELF_METRICS": "http://127.0.0.1:8320"}

    assert (
        load(WorkSettings, {}, environ).service.self_metrics == "http://127.0.0.1:4318/v1/metrics"
    )
    with pytest.raises(SettingsError, match="own address"):
        load(WorkSettings, {}, own)
    assert load(WorkSettings, {"work_http": "off"}, own).worker.work_http is None


def test_every_setting_of_a_worker_is_in_the_reference() -> None:
    """Its own, and those that it shares."""
    page = PAGE.read_text()
    names = [one.variable for one in flags_of(WorkSettings)]

    assert [name for name in names if not re.search(rf"`{name}`", page)] == []
