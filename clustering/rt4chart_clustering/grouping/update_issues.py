"""What follows from where failures are now: titles, examples, middles, and what has come back.

A title is given at birth and made anew at growth points, as an event.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rt4chart_clustering.description.described import Between, described_from, is_explained
from rt4chart_clustering.description.embedding import Embedder
from rt4chart_clustering.description.enrichers import NO_ENRICHERS, Enrichers
from rt4chart_clustering.description.naming import title
from rt4chart_clustering.grouping.examples import examples
from rt4chart_clustering.grouping.issue_state import State, grown, growth_point, matched
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import Failure
from rt4chart_collector.store.issues.issue_events import RENAMED, Event, last_events, record
from rt4chart_collector.store.issues.issue_samples import sampled_failures
from rt4chart_collector.store.issues.issues import (
    Issue,
    as_row,
    insert_issues,
    list_issues,
    registry,
)
from rt4chart_collector.store.issues.match_failures import DescriptionWindow, middles

EXAMPLES = 4
# Failures that a title and the examples are made from, and those that move a middle.
SAMPLE, MOVES = 60, 5
# Issues whose failures are read in one statement.
AT_ONCE = 100
Last = Mapping[str, Event]


@dataclass(frozen=True, slots=True)
class Settled:
    """The issues as they are now, those that reached a growth point, and those that came back."""

    issues: tuple[Issue, ...]
    grown: frozenset[int]
    regressed: frozenset[int]


def settle(
    client: Client,
    embedder: Embedder,
    window: DescriptionWindow,
    gained: Collection[int],
    *,
    now_ns: int,
    between: Between,
    enrichers: Enrichers = NO_ENRICHERS,
) -> Settled:
    """Write what follows: events, and the rows of the issues that changed.

    Nothing is written before all names are made: broken off, the next run makes them.
    """
    rows = {issue.id: issue for issue in registry(client)}
    last = last_events(client, ("titled", RENAMED, "state"))
    issues, events, larger = [], [], set[int]()
    centroids = _moved(client, window, [rows[id] for id in gained if id in rows])
    found = list_issues(client)
    due = [issue for issue in found if has_grown(issue, last.get(issue.id, {}).get("titled"))]
    shown = dict(_shown_anew(client, embedder, due, enrichers, between))
    for issue in found:
        now, said = issue, last.get(issue.id, {})
        if issue.id in shown:
            now, summary = shown[issue.id]
            larger.add(issue.id)
            events.append(Event(issue.id, now_ns + 2, "titled", now.title, str(issue.claims)))
            if summary:
                events.append(Event(issue.id, now_ns + 2, "summarised", summary))
                now = replace(now, summary=summary)
            if RENAMED in said and said[RENAMED].value:
                now = replace(now, title=issue.title)
        if has_opened(issue, said.get("titled")):
            events.append(Event(issue.id, now_ns, "state", State.OPEN))
            now = replace(now, state=State.OPEN)
        if has_come_back(issue, said):
            events.append(Event(issue.id, now_ns, "state", State.REGRESSED))
            now = replace(now, state=State.REGRESSED)
        now = replace(now, centroid=centroids.get(issue.id, issue.centroid))
        if now.id in centroids:
            now = replace(now, model=window.model)
        issues.append(now)
    record(client, events)
    _copy(client, issues, rows, now_ns)
    back = frozenset(event.issue for event in events if event.value == State.REGRESSED)
    return Settled(tuple(issues), frozenset(larger), back)


def into_space(client: Client, window: DescriptionWindow, *, now_ns: int) -> int:
    """Give clusters of another space a middle in the window's, so that new failures match them.

    It is that of their failures in the window, which are described in both; how many got one.
    """
    away = [
        issue
        for issue in registry(client)
        if issue.model not in (window.model, "") and not is_explained(issue.fingerprint)
    ]
    found = _moved(client, window, away)
    there = [
        replace(issue, centroid=found[issue.id], model=window.model)
        for issue in away
        if issue.id in found
    ]
    insert_issues(client, there, version=now_ns)
    return len(there)


def has_grown(issue: Issue, titled: Event | None) -> bool:
    """True where an issue has no title, or more claims than the growth point after its title's."""
    if titled is None:
        return issue.claims > 0
    before = int(titled.note) if titled.note.isdecimal() else 0
    return growth_point(issue.claims) > growth_point(before)


def has_opened(issue: Issue, titled: Event | None) -> bool:
    """True where a new issue has passed a growth point since its first title."""
    before = int(titled.note) if titled is not None and titled.note.isdecimal() else issue.claims
    has_more = growth_point(issue.claims) > growth_point(before)
    return has_more and grown(State(issue.state)) != issue.state


def has_come_back(issue: Issue, last: Last) -> bool:
    """True where a resolved issue has a failure of an answer later than that."""
    moves = matched(State(issue.state)) != issue.state
    return moves and "state" in last and issue.last_ns > last["state"].at_ns


def _shown_anew(
    client: Client, embedder: Embedder, due: Sequence[Issue], enrichers: Enrichers, between: Between
) -> Iterator[tuple[int, tuple[Issue, str]]]:
    """Each issue by its id: with a title and examples of some failures; and a summary or ""."""
    seen = 0
    for start in range(0, len(due), AT_ONCE):
        batch = due[start : start + AT_ONCE]
        ids = [id for issue in batch for id in issue.ids]
        drawn = sampled_failures(client, ids, each=SAMPLE)
        for issue in batch:
            # A model takes its time over a name.
            between("read for names", seen)
            sample = [failure for id in issue.ids for failure in drawn.get(id, ())]
            seen += len(sample)
            found = [described_from(failure).difference.primary for failure in sample]
            # Rules of another version may read an older failure otherwise.
            changes = [one for one in found if one.kind == issue.fingerprint.rpartition(":")[2]]
            template = title(issue.fingerprint, issue.route, changes, len(sample))
            named = enrichers.name(template, issue.route, sample)
            traces = example_traces(sample, embedder)
            yield (
                issue.id,
                (
                    replace(issue, title=named.title, example_traces=traces),
                    named.summary,
                ),
            )


def example_traces(failures: Sequence[Failure], embedder: Embedder) -> tuple[str, ...]:
    """The traces to show: one typical claim, and a few unlike it."""
    chosen = examples(embedder.embed([one.claim for one in failures]), number=EXAMPLES)
    return tuple(dict.fromkeys(failures[at].trace_id for at in chosen))


def _moved(
    client: Client, window: DescriptionWindow, gained: Sequence[Issue]
) -> dict[int, tuple[float, ...]]:
    """Middles of the issues that gained failures: those of the window, as patterns drift slowly.

    A whole pattern needs none: all of it is described in the same words.
    """
    ids = [issue.id for issue in gained if not is_explained(issue.fingerprint)]
    if not ids:
        return {}
    found: dict[int, tuple[float, ...]] = {}
    for issue, (mean, count) in middles(client, window, ids).items():
        length = float(np.linalg.norm(mean))
        if count >= MOVES and length:
            unit = np.array(mean, dtype=np.float64) / length
            found[issue] = tuple(unit.astype(np.float32).tolist())
    return found


def _copy(client: Client, issues: Sequence[Issue], rows: Mapping[int, Issue], now_ns: int) -> None:
    """Bring the rows of the issues that changed up to date."""
    changed = [issue for issue in issues if as_row(issue) != rows[issue.id]]
    insert_issues(client, changed, version=now_ns)
