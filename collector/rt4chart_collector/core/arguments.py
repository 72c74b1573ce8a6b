"""Arguments that several subcommands share."""

from __future__ import annotations

import argparse

from otel_rt4chart.core.arguments import parse_duration_s


def add_dsn(parser: argparse.ArgumentParser) -> None:
    """Add `--dsn`."""
    parser.add_argument("--dsn", metavar="DSN", help="the database (default: RT4CHART_DSN)")


def add_since(parser: argparse.ArgumentParser, default: str, help: str) -> None:
    """Add `--since`, the beginning of a period that ends now, in seconds ago."""
    parser.add_argument(
        "--since", type=parse_duration_s, default=default, metavar="TIME", help=help
    )


def add_tenant(parser: argparse.ArgumentParser) -> None:
    """Add `--tenant`, "" for all."""
    parser.add_argument(
        "--tenant", default="", metavar="NAME", help="only the answers of this tenant"
    )
