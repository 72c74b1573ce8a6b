"""Who changes stored data: the software itself, or a person who runs a command."""

from __future__ import annotations

import argparse
import getpass

from otel_rt4chart.core.errors import InputError

# Recorded as the actor of every automatic change; a person may not use this name.
SYSTEM_ACTOR = "rt4chart"


def add_actor(parser: argparse.ArgumentParser, *, has_note: bool = True) -> None:
    """Add `--by` and `--note`, which the history records."""
    parser.add_argument("--by", metavar="NAME", help="who does it (default: the system user)")
    if has_note:
        parser.add_argument(
            "--note", default="", metavar="TEXT", help="the reason, for the history"
        )


def actor_of(options: argparse.Namespace) -> str:
    """The name from `--by`, else the system user; InputError for the name of the software."""
    name = options.by
    if name is None:
        try:
            name = getpass.getuser()
        except (ImportError, KeyError, OSError):  # a user in a container may have no name
            name = "unknown"
    if not name.strip() or name == SYSTEM_ACTOR:
        raise InputError(f"--by: expected a person's name, got {name!r}")
    return str(name)
