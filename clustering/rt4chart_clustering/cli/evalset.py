"""Options of `rt4chart evalset`."""

from __future__ import annotations

import argparse
from pathlib import Path

from rt4chart_clustering.evalset.formats import FORMATS

DEFAULT = "regressions"
CASE_STATES = ("pending", "approved", "rejected")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands and their options."""
    parser.set_defaults(action="list")
    subparsers = parser.add_subparsers(metavar="SUBCOMMAND")
    _declare(subparsers, "list", "list the eval sets")
    subparser = _declare(subparsers, "promote", "make cases from an issue's failures")
    subparser.add_argument("issue", help="the issue's id")
    subparser.add_argument("--to", default=DEFAULT, metavar="SET", help=f"default: {DEFAULT}")
    subparser.add_argument("--n", type=int, default=20, metavar="N", help="at most (default 20)")
    subparser.add_argument("--redact", choices=("mask", "hash"), help="how to redact personal data")
    subparser.add_argument(
        "--redact-pattern", default="", metavar="P", help="email, phone, … or a regex"
    )
    subparser = _declare(subparsers, "show", "show the cases of a set")
    subparser.add_argument("set")
    subparser.add_argument("--state", choices=CASE_STATES, help="only cases in this state")
    subparser = _declare(subparsers, "review", "review the pending cases")
    subparser.add_argument("set")
    subparser.add_argument(
        "--approve", nargs="+", metavar="ID", help="these cases, or `all` pending ones"
    )
    subparser.add_argument(
        "--reject", nargs="+", metavar="ID", help="these cases, or `all` pending ones"
    )
    subparser.add_argument("--note", default="", help="a reason")
    subparser = _declare(subparsers, "release", "release the approved cases under a number")
    subparser.add_argument("set")
    subparser = _declare(subparsers, "export", "write a release as files")
    subparser.add_argument("set", help="NAME or NAME@RELEASE")
    subparser.add_argument("--format", choices=[*FORMATS], default="jsonl")
    subparser.add_argument(
        "--out", type=Path, default=Path(), metavar="FOLDER", help="default: here"
    )
    subparser.add_argument("--force", action="store_true", help="overwrite existing files")


def _declare(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str
) -> argparse.ArgumentParser:
    subparser = subparsers.add_parser(name, help=text, description=text)
    subparser.set_defaults(action=name)
    subparser.add_argument("--dsn", help="the database (default: RT4CHART_DSN)")
    subparser.add_argument("--by", metavar="NAME", help="your name (default: the system's user)")
    subparser.add_argument("--json", action="store_true", help="print JSON")
    return subparser
