"""Options of `rt4chart judge`."""

from __future__ import annotations

import argparse
from pathlib import Path

from otel_rt4chart.hub.catalogue import NAMES

USES = ("judge", "second")
ROWS = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands and their options."""
    parser.set_defaults(action="list", json=False)
    subparsers = parser.add_subparsers(metavar="SUBCOMMAND")
    listing = _declare(subparsers, "list", "list the open models, with their published figures")
    listing.add_argument("--json", action="store_true", help="print JSON")
    get = _declare(
        subparsers,
        "get",
        "bring an open model from the model hub, check it and measure it on some labelled answers",
    )
    get.add_argument("name", metavar="NAME", help=f"one of: {', '.join(NAMES)}")
    get.add_argument(
        "--use",
        choices=USES,
        help="judge: in place of the embedded judge; second: after it, as a cascade's second judge",
    )
    get.add_argument(
        "--env",
        type=Path,
        metavar="FILE",
        help="write the settings of --use into this file of variables; else they are printed",
    )
    get.add_argument(
        "--dir",
        type=Path,
        metavar="FOLDER",
        help="where models are kept (RT4CHART_MODELS)",
    )
    get.add_argument(
        "--revision",
        default="",
        metavar="COMMIT",
        help="another commit of the repository than the pinned one",
    )
    get.add_argument(
        "--replace", action="store_true", help="fetch again what is there, at the same commit"
    )
    get.add_argument(
        "--convert-with",
        default="",
        metavar="PYTHON",
        help="an interpreter with torch and transformers, for models without an ONNX file",
    )
    get.add_argument(
        "--rows",
        type=int,
        default=ROWS,
        metavar="N",
        help=f"labelled answers that come with the package to measure it on; 0 for none "
        f"(default: {ROWS})",
    )


def _declare(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str
) -> argparse.ArgumentParser:
    subparser = subparsers.add_parser(name, help=text, description=text)
    subparser.set_defaults(action=name)
    return subparser
