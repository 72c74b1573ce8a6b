"""What the environment holds beside the settings: variables of no effect, and the demo's own."""

from __future__ import annotations

import os
from pathlib import Path

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import PREFIX, Environment, misspelt
from rt4chart_collector.core.settings import KNOWN
from rt4chart_collector.core.settings_parsers import data_folder

# Settings that are gone, each with what takes its place.
GONE = {
    "RT4CHART_ACCESS": "commands find the running service by themselves, and `rt4chart sql` asks "
    "it a query"
}


def check_retired(environ: Environment | None = None) -> None:
    """Raise SettingsError for a variable whose loss would open or close a door."""
    given = os.environ if environ is None else environ
    if given.get(f"{PREFIX}TOKEN"):
        raise SettingsError(
            f"{PREFIX}TOKEN: expected a token for each purpose; got one for all, which is gone; "
            f"set {PREFIX}INGEST_TOKEN to what clients send with spans and {PREFIX}READ_TOKEN to "
            "another, which opens /metrics, /status and /v1/rates"
        )


def setting_warnings(environ: Environment | None = None) -> list[str]:
    """A warning for each variable that is not a setting, but was one or looks like one."""
    given = os.environ if environ is None else environ
    gone = [f"{name} is gone and has no effect: {GONE[name]}" for name in GONE if name in given]
    others = (name for name in given if name not in GONE)
    return [*gone, *misspelt(others, KNOWN, cutoff=0.85)]


def demo_environ(environ: Environment | None = None) -> dict[str, str]:
    """The environment of the demo's service, without the user's secrets, ports and alerts."""
    given = os.environ if environ is None else environ
    tokens = ("TOKEN", "INGEST_TOKEN", "READ_TOKEN", "ADMIN_TOKEN")
    own = (*tokens, "TLS_CERT", "TLS_KEY", "OTLP_GRPC", "HEALTH", "ALERTS_", "CONSOLE")
    left_out = tuple(PREFIX + name for name in own)
    return {name: value for name, value in given.items() if not name.startswith(left_out)}


def demo_folder(environ: Environment | None = None) -> Path:
    """Where the demo keeps its database, apart from the user's own."""
    return data_folder(os.environ if environ is None else environ) / "demo"


def grouping_environ(dsn: str, environ: Environment | None = None) -> dict[str, str]:
    """The environment of a grouping run of the service: its database, and one thread to compute.

    The database is not on the command line, which other users can read: it may hold a password.
    """
    given = os.environ if environ is None else environ
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**given, **threads, f"{PREFIX}DSN": dsn}


def silence_grpc() -> None:
    """Keep gRPC's core from writing to stderr, unless GRPC_VERBOSITY is set.

    Of a failed handshake or a malformed request, which anyone can cause, it writes a line that is
    neither counted nor limited, and it stops where stderr is a pipe that nobody reads.
    """
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
