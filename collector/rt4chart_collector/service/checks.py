"""The service's part of `rt4chart doctor`."""

from __future__ import annotations

from collections.abc import Iterator

from otel_rt4chart.commands.doctor import Check
from otel_rt4chart.core.errors import NoStoreError, RT4ChartError, SettingsError, StoreBusyError
from otel_rt4chart.core.settings import load
from otel_rt4chart.core.settings_parsers import Address
from rt4chart_collector.core.settings import AlertSettings, ServiceSettings
from rt4chart_collector.ingest.servers import bound_socket
from rt4chart_collector.ingest.tls import date_doubt, load_tls
from rt4chart_collector.notify.registry import build_targets
from rt4chart_collector.store.engine.connect import connect
from rt4chart_collector.store.engine.damage import (
    ADVICE,
    damage_of,
    describe_damage,
    left_out_parts,
)
from rt4chart_collector.store.engine.dsn import parse_dsn

# How long all parts of an embedded database are read, to find damaged ones.
CHECK_S = 20.0


def checks() -> Iterator[Check]:
    """The service's settings, the database, the ports, and the targets of alerts."""
    try:
        settings = load(ServiceSettings)
        shown = parse_dsn(settings.dsn).display_name
    except SettingsError as error:
        yield Check("service settings", "failed", str(error), "change or unset that variable")
        return
    yield Check("service settings", "ok", f"judge {settings.judge}, database {shown}")
    yield check_database(settings.dsn, shown)
    yield check_port(settings.otlp_http, "otlp_http")
    yield check_port(settings.otlp_grpc, "otlp_grpc")
    if settings.health:
        yield check_port(settings.health, "health")
    if settings.tls_cert or settings.tls_key:
        yield check_certificate(settings.tls_cert, settings.tls_key)
    yield check_alert_targets()


def check_database(dsn: str, shown: str) -> Check:
    """The database answers; one in use by a service, or not created yet, is no failure."""
    try:
        with connect(dsn, creates=False) as client:
            version = client.query("SELECT version()").result_rows[0][0]
            damage = describe_damage(left_out_parts(client))
            # A server checks its own parts, and may have more than can be read here.
            unread, is_all = damage_of(client, CHECK_S) if client.target.path else ({}, True)
    except StoreBusyError as error:
        return Check("database", "ok", f"in use: {error}")
    except NoStoreError as error:
        return Check(
            "database", "missing", str(error), "rt4chart up creates it; or set RT4CHART_DSN"
        )
    except RT4ChartError as error:
        return Check("database", "failed", str(error), "set RT4CHART_DSN, or start that server")
    if damage:
        return Check("database", "failed", f"damaged parts in {shown}: {damage}", ADVICE)
    if unread:
        told = f"damaged parts in {shown} that are in use: {describe_damage(unread)}"
        return Check("database", "failed", told, "rt4chart repair lists them and says what to do")
    rest = "" if is_all else f"; not every part could be read in {CHECK_S:.0f} s: rt4chart repair"
    return Check("database", "ok", f"{shown}, ClickHouse {version}{rest}")


def check_certificate(cert: str, key: str) -> Check:
    """The files of the certificate can be used, and clients accept its dates."""
    try:
        doubt = date_doubt(load_tls(cert, key))
    except SettingsError as error:
        return Check("certificate", "failed", str(error), "change or unset these variables")
    if doubt:
        return Check("certificate", "failed", doubt, "renew it, then start the service again")
    return Check("certificate", "ok", f"{cert} and its key; valid for two weeks and more")


def check_alert_targets() -> Check:
    """The targets of alerts can be built from the settings; nothing is sent."""
    try:
        targets = [target.receiver.name for target in build_targets(load(AlertSettings))]
    except SettingsError as error:
        return Check("alerts", "failed", str(error), "change or unset that variable")
    if not targets:
        return Check(
            "alerts",
            "ok",
            "no targets are set, so only the console shows alerts: see docs/operate/alerts.md",
        )
    return Check("alerts", "ok", f"sent to {', '.join(targets)}: rt4chart alerts test tries them")


def check_port(address: Address, setting: str) -> Check:
    """Whether a port is free; one in use is no failure, as the service may be running."""
    name = {"otlp_http": "OTLP/HTTP port", "otlp_grpc": "OTLP/gRPC port", "health": "health port"}[
        setting
    ]
    try:
        with bound_socket(address, setting):
            return Check(name, "ok", f"{address} is free")
    except RT4ChartError as error:
        return Check(name, "ok", f"{address} is taken, by rt4chart up or another: {error}")
