"""Claims drawn for labelling, and people who labelled some of them."""

from __future__ import annotations

from rt4chart_collector.labelling.tasks import Rater, label_row
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.draws import DrawRequest, draw_claims
from rt4chart_collector.store.labels.trusted_labels import GivenLabel, record_labels
from tests.browser.world import VERIFIER

LABELLED = 25
ANSWERS = (GivenLabel.ENTAILED, GivenLabel.ENTAILED, GivenLabel.BASELESS, GivenLabel.CANNOT_TELL)


def fill_labels(
    client: Client,
    now_ns: int,
    names: tuple[str, str] = ("ann", "bob"),
    service: str | None = None,
) -> None:
    """A draw of all routes; one person labelled part of each, another one at random some of it."""
    scope = QueryScope(0, now_ns, VERIFIER, service)
    draw = draw_claims(client, DrawRequest(scope, 40, names[0]), now_ns=now_ns)
    first = [row for route in draw.routes for row in draw.part(*route.key).queue[:LABELLED]]
    for step, name in enumerate(names):
        rows = first if step == 0 else first[::3]
        record_labels(
            client,
            [
                label_row(row, Rater(name), ANSWERS[(at * (step + 1)) % 4], at_ns=now_ns + at)
                for at, row in enumerate(rows)
            ],
        )
