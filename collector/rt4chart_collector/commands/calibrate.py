"""`rt4chart calibrate`: how far a judge's confidence can be trusted, from trusted labels."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from otel_rt4chart.core.settings import load
from rt4chart_collector.core.printing import write
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.labelling.calibration import calibration_lines, read_calibration
from rt4chart_collector.store.engine.open_database import open_database
from rt4chart_collector.store.engine.scope import QueryScope


def execute(options: argparse.Namespace) -> int:
    """Print the threshold and the reliability of the judge."""
    dsn = load(ServiceSettings, {"dsn": options.dsn}).dsn
    scope = QueryScope(verifier=options.verifier, route=options.route)
    with open_database(dsn, needs="rt4chart_labels") as client:
        found = read_calibration(client, scope, error=options.error, confidence=options.confidence)
    write(asdict(found), "\n".join(calibration_lines(found)), as_json=options.json)
    return 0
