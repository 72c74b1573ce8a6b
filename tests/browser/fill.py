"""A store for a test: `python -m tests.browser.fill DSN nothing|world|hostile|rows NOW_NS`."""

from __future__ import annotations

import subprocess
import sys

from rt4chart_collector.store.engine.connect import connect
from rt4chart_collector.store.schema.migrate import migrate
from tests.browser.hostile import IMAGE, SCRIPT, WORDS, fill_hostile
from tests.browser.labels import fill_labels
from tests.browser.misleading import fill_misleading
from tests.browser.rows import fill_rows
from tests.browser.sets import fill_set
from tests.browser.world import World


def main(dsn: str, what: str, now_ns: int) -> None:
    """The engine allows a process one path: the service that is tested has its own."""
    with connect(dsn) as client:
        migrate(client)
        if what == "world":
            World(now_ns).fill(client)
            fill_misleading(client, now_ns)
            fill_set(client, "")
            fill_labels(client, now_ns)
        elif what == "hostile":
            fill_hostile(client, now_ns)
            fill_set(client, WORDS)
            fill_labels(client, now_ns, (SCRIPT, IMAGE))
        elif what == "rows":
            fill_rows(client, now_ns)
    if what in ("world", "hostile"):
        command = [sys.executable, "-m", "otel_rt4chart", "cluster", "--dsn", dsn, "--json"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
