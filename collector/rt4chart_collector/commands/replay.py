"""`rt4chart replay`: put dead letters back in the queue."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import printable
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.pipeline.retry import SECOND, revived_letter
from rt4chart_collector.store.answers.dead_letters import DeadLetter, dead_letters, insert_letters
from rt4chart_collector.store.engine.open_database import open_database

BUSY_ADVICE = (
    "An embedded database has one owner: stop the service, run this command, and start the service "
    "again; it then retries them"
)


def execute(options: argparse.Namespace) -> int:
    """Make the dead letters due, and print their number."""
    dsn, now = load(ServiceSettings, {"dsn": options.dsn}).dsn, time.time_ns()
    with open_database(dsn, needs="rt4chart_dead_letters", otherwise=BUSY_ADVICE) as client:
        found = dead_letters(
            client,
            since_ns=now - options.since * SECOND,
            route=options.route,
            reason=options.reason,
        )
        if not options.dry_run:
            insert_letters(client, [revived_letter(letter, now) for letter in found])
    sys.stdout.write("".join(f"{line}\n" for line in summary_lines(found, is_dry=options.dry_run)))
    return 0


def summary_lines(letters: Sequence[DeadLetter], *, is_dry: bool) -> Iterator[str]:
    """The number of letters by judge, route and reason."""
    if not letters:
        yield "no dead letters in that time"
        return
    counts = Counter((letter.verifier, letter.route, letter.reason) for letter in letters)
    for (verifier, route, reason), count in counts.most_common():
        yield f"{count} × {reason}, route {printable(route) or '-'}, judge {printable(verifier)}"
    many = f"{len(letters)} dead letter{'s' * (len(letters) != 1)}"
    if is_dry:
        yield f"{many}; without --dry-run they go back to the queue"
        return
    yield f"{many} back in the queue: a service with this judge retries them within seconds"
