"""The main path of grouping: failures in, issues out."""

from __future__ import annotations

from dataclasses import dataclass

from rt4chart_clustering.description.described import Between, describe_new
from rt4chart_clustering.description.embedding import Embedder
from rt4chart_clustering.description.enrichers import NO_ENRICHERS, Enrichers
from rt4chart_clustering.grouping.assignment import place
from rt4chart_clustering.grouping.create_issues import bear
from rt4chart_clustering.grouping.proposals import propose
from rt4chart_clustering.grouping.update_issues import into_space, settle
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import EVER
from rt4chart_collector.store.issues.issue_events import aliases
from rt4chart_collector.store.issues.issues import registry
from rt4chart_collector.store.issues.match_failures import DescriptionWindow

# A pool that is larger than what is drawn from it is drawn from again, so often at most in a run.
DRAWS = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run did: failures seen for the first time, put in an issue, and left in none.

    `unexplained` of those seen have a pattern that the rules do not explain. The rest are issues:
    `new`, `known` that got failures, `regressed`, and proposals of merges and splits.
    """

    failures: int
    grouped: int
    waiting: int
    unexplained: int
    new: int
    known: int
    regressed: int
    proposed: int


def quiet(what: str, count: int) -> None:
    """Between pages, where nobody watches and nothing breaks off."""


def run(
    client: Client,
    embedder: Embedder,
    *,
    since_ns: int,
    now_ns: int,
    min_size: int,
    between: Between = quiet,
    enrichers: Enrichers = NO_ENRICHERS,
) -> Outcome:
    """Group the failures of answers since then; `now_ns` is the time of what is written.

    One at a time over a database: `locked` sees to that. What `between` raises breaks off after a
    page that was written; the next run goes on from there.
    """
    window = DescriptionWindow(embedder.id, embedder.width, since_ns, EVER)
    seen, unexplained = describe_new(client, embedder, window, between=between, enrichers=enrichers)
    into_space(client, window, now_ns=now_ns)
    grouped, gained, new = 0, set[int](), set[int]()
    for draw in range(DRAWS + 1):
        known = registry(client)
        placed = place(
            client, window, aliases(client), seed=len(known), min_size=min_size, between=between
        )
        grouped += placed.failures
        gained |= placed.issues
        if draw == DRAWS:
            break
        made = bear(
            client,
            window,
            placed.pool,
            known,
            seed=len(known),
            min_size=min_size,
            now_ns=now_ns,
            between=between,
        )
        grouped += sum(len(one.members) for one in made)
        gained |= {one.issue.id for one in made}
        new |= {one.issue.id for one in made if one.is_new}
        if not made:
            break
    settled = settle(
        client, embedder, window, gained, now_ns=now_ns, between=between, enrichers=enrichers
    )
    proposed = propose(client, window, settled, min_size=min_size, now_ns=now_ns, between=between)
    return Outcome(
        failures=seen,
        grouped=grouped,
        waiting=len(placed.pool),
        unexplained=unexplained,
        new=len(new),
        known=len(gained - new),
        regressed=len(settled.regressed),
        proposed=proposed,
    )
