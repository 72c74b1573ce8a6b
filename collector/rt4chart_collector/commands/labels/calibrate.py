"""`rt4chart calibrate`: how far a judge's confidence can be trusted, from trusted labels."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from otel_rt4chart.cli import Command
from otel_rt4chart.core.settings import load
from rt4chart_collector.commands.database import add_dsn, open_database
from rt4chart_collector.core.printing import write
from rt4chart_collector.core.settings import ServiceSettings


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_dsn(parser)
    parser.add_argument("--verifier", metavar="ID", help="the judge (default: of the last draw)")
    parser.add_argument("--route", help="only this route")
    parser.add_argument(
        "--error",
        type=float,
        default=0.2,
        metavar="SHARE",
        help="the share of flagged claims that may be right (default 0.2)",
    )
    parser.add_argument(
        "--confidence",
        type=float,
        default=0.9,
        metavar="SHARE",
        help="how sure the threshold must be (default 0.9)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def execute(options: argparse.Namespace) -> int:
    """Print the threshold and the reliability of the judge."""
    # Imported here, so that declaring the options needs neither the store nor the formulas.
    from rt4chart_collector.labelling.calibration import calibration_lines, read_calibration
    from rt4chart_collector.store.engine.scope import QueryScope

    dsn = load(ServiceSettings, {"dsn": options.dsn}).dsn
    scope = QueryScope(verifier=options.verifier, route=options.route)
    with open_database(dsn, needs="rt4chart_labels") as client:
        found = read_calibration(client, scope, error=options.error, confidence=options.confidence)
    write(asdict(found), "\n".join(calibration_lines(found)), as_json=options.json)
    return 0


COMMAND = Command(
    "calibrate", "the confidence from which a judge's flags can be trusted", configure, execute
)
