"""Updates issues after failures were assigned: titles, examples, centroids and states.

A title is made when an issue is created and again at its growth points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.findings.classify import MeaningChange
from otel_rt4chart.verify.findings.failure_kinds import pattern_of_fingerprint
from rt4chart_clustering.description.describe import OnProgress, describe_failure, is_explained
from rt4chart_clustering.description.embedding import TextEmbedder
from rt4chart_clustering.description.enrichers import NO_ENRICHERS, Enrichers
from rt4chart_clustering.description.pattern_names import pattern_title
from rt4chart_clustering.description.subject_terms import subject_of
from rt4chart_clustering.description.text_templates import template_title
from rt4chart_clustering.grouping.algorithm import choose_examples
from rt4chart_clustering.grouping.ignore_until import IGNORED_UNTIL, ignored_until
from rt4chart_clustering.grouping.issue_state import (
    RESOLVED_IN,
    IssueState,
    growth_point,
    state_after_growth,
    state_after_match,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failure_samples import sampled_failures, supported_claims
from rt4chart_collector.store.issues.failures import Failure
from rt4chart_collector.store.issues.issue_events import (
    RENAMED,
    IssueEvent,
    event_with_state,
    last_events,
    record_events,
)
from rt4chart_collector.store.issues.issue_figures import failures_by_day
from rt4chart_collector.store.issues.issues import (
    Issue,
    as_stored,
    insert_issues,
    list_issues,
    stored_issues,
)
from rt4chart_collector.store.issues.match_failures import DescriptionWindow, mean_vectors
from rt4chart_collector.store.issues.release_failures import failures_of_release

EXAMPLE_COUNT = 4
# Failures that a title and the examples are made from.
SAMPLE_SIZE = 60
# Supported claims of a route that its issues' claims are compared with, to say what they are about.
MAX_OTHER_CLAIMS = 400
# Fewer vectors in the window than this do not move a centroid.
MIN_VECTORS = 5
# Issues whose failures are read in one statement.
ISSUES_PER_READ = 100
LastEvents = Mapping[str, IssueEvent]


@dataclass(frozen=True, slots=True)
class UpdatedIssues:
    """All issues as they are now, and the ids of those that have grown or have regressed."""

    issues: tuple[Issue, ...]
    grown: frozenset[int]
    regressed: frozenset[int]


def update_issues(
    client: Client,
    embedder: TextEmbedder,
    window: DescriptionWindow,
    gained: Collection[int],
    *,
    now_ns: int,
    on_progress: OnProgress,
    enrichers: Enrichers = NO_ENRICHERS,
) -> UpdatedIssues:
    """Write the events and the changed rows that follow from the failures' assignments.

    Nothing is written before all titles are made: if the run is interrupted, the next one makes
    them.
    """
    rows = {issue.id: issue for issue in stored_issues(client)}
    last = last_events(client, ("titled", RENAMED, "state", IGNORED_UNTIL, RESOLVED_IN))
    centroids = _new_centroids(client, window, [rows[id] for id in gained if id in rows])
    found = list_issues(client)
    due = [
        issue
        for issue, titled in ((issue, last.get(issue.id, {}).get("titled")) for issue in found)
        if needs_title(issue, titled)
        or (issue.id in gained and enrichers.writer is None and has_former_name(issue, titled))
    ]
    named = dict(_name_issues(client, embedder, due, enrichers, on_progress))
    issues: list[Issue] = []
    events = end_ignoring(client, found, last, now_ns=now_ns)
    opened = {event.issue for event in events}
    former = fails_in_former_releases(client, found, last)
    for before in found:
        issue, recorded = before, last.get(before.id, {})
        if issue.id in named:
            issue, summary = named[issue.id]
            events.append(
                IssueEvent(issue.id, now_ns + 2, "titled", issue.title, str(issue.claims))
            )
            if summary:
                events.append(IssueEvent(issue.id, now_ns + 2, "summarised", summary))
                issue = replace(issue, summary=summary)
            # A person's title is shown; the generated one is recorded all the same.
            if RENAMED in recorded and recorded[RENAMED].value:
                issue = replace(issue, title=before.title)
        if is_opened(before, recorded.get("titled")):
            events.append(IssueEvent(issue.id, now_ns, "state", IssueState.OPEN))
            issue = replace(issue, state=IssueState.OPEN)
        if has_regressed(before, recorded) and before.id not in former:
            events.append(IssueEvent(issue.id, now_ns, "state", IssueState.REGRESSED))
            issue = replace(issue, state=IssueState.REGRESSED)
        if before.id in opened:
            issue = replace(issue, state=IssueState.OPEN)
        if issue.id in centroids:
            issue = replace(issue, centroid=centroids[issue.id], model=window.model)
        issues.append(issue)
    record_events(client, events)
    changed = [issue for issue in issues if as_stored(issue) != rows[issue.id]]
    insert_issues(client, changed, version=now_ns)
    regressed = frozenset(event.issue for event in events if event.value == IssueState.REGRESSED)
    return UpdatedIssues(tuple(issues), frozenset(named), regressed)


def move_centroids(client: Client, window: DescriptionWindow, *, now_ns: int) -> int:
    """Give issues of another embedding model a centroid in the window's model; how many got one.

    The window's failures are described with both models, so new failures can match these issues.
    """
    other_model = [
        issue
        for issue in stored_issues(client)
        if issue.model not in (window.model, "") and not is_explained(issue.fingerprint)
    ]
    found = _new_centroids(client, window, other_model)
    moved = [
        replace(issue, centroid=found[issue.id], model=window.model)
        for issue in other_model
        if issue.id in found
    ]
    insert_issues(client, moved, version=now_ns)
    return len(moved)


def needs_title(issue: Issue, titled: IssueEvent | None) -> bool:
    """True if the issue has no title, or has passed a growth point since it got one."""
    if titled is None:
        return issue.claims > 0
    before = int(titled.note) if titled.note.isdecimal() else 0
    return growth_point(issue.claims) > growth_point(before)


def has_former_name(issue: Issue, titled: IssueEvent | None) -> bool:
    """True if the name of an earlier version may be wrong for the issue's next failures.

    Up to version 5 of the fingerprint an issue had failures of one label, and the name told which.
    """
    is_of_one_label = not issue.fingerprint.endswith(
        f":{pattern_of_fingerprint(issue.fingerprint)}"
    )
    has_name = titled is not None and titled.value.startswith(pattern_title(issue.fingerprint))
    return is_of_one_label and not has_name


def is_opened(issue: Issue, titled: IssueEvent | None) -> bool:
    """True if a new issue has passed a growth point since its first title."""
    before = int(titled.note) if titled is not None and titled.note.isdecimal() else issue.claims
    has_more = growth_point(issue.claims) > growth_point(before)
    return has_more and state_after_growth(IssueState(issue.state)) != issue.state


def end_ignoring(
    client: Client,
    found: Sequence[Issue],
    last: Mapping[int, LastEvents],
    *,
    now_ns: int,
) -> list[IssueEvent]:
    """The events that open the issues that were ignored until something that has come."""
    waiting = {issue.id: ignored_until(issue, last.get(issue.id, {})) for issue in found}
    if not any(waiting.values()):
        return []
    today: Counter[int] = Counter()
    for day in failures_by_day(client, now_ns=now_ns, days=1):
        today[day.issue] += day.seen
    return [
        IssueEvent(issue.id, now_ns, "state", IssueState.OPEN, f"was ignored until {until}")
        for issue in found
        if (until := waiting[issue.id])
        and until.is_over(
            now_ns=now_ns, claims=issue.claims, today=sum(today[id] for id in issue.ids)
        )
    ]


def has_regressed(issue: Issue, last: LastEvents) -> bool:
    """True if a resolved issue has a failure of an answer that was given after that."""
    moves = state_after_match(IssueState(issue.state)) != issue.state
    return moves and "state" in last and issue.last_ns > last["state"].at_ns


def fails_in_former_releases(
    client: Client, found: Sequence[Issue], last: Mapping[int, LastEvents]
) -> frozenset[int]:
    """The issues that are resolved in a release, and fail since then in earlier ones alone."""
    former = set()
    for issue in found:
        recorded = last.get(issue.id, {})
        release = event_with_state(recorded, RESOLVED_IN)
        if release is None or not has_regressed(issue, recorded):
            continue
        if not failures_of_release(client, issue.ids, release.value, since_ns=release.at_ns):
            former.add(issue.id)
    return frozenset(former)


def _name_issues(
    client: Client,
    embedder: TextEmbedder,
    due: Sequence[Issue],
    enrichers: Enrichers,
    on_progress: OnProgress,
) -> Iterator[tuple[int, tuple[Issue, str]]]:
    """Each issue by its id, with a new title and new examples, and a summary or ""."""
    seen = 0
    for start in range(0, len(due), ISSUES_PER_READ):
        batch = due[start : start + ISSUES_PER_READ]
        ids = [id for issue in batch for id in issue.ids]
        drawn = sampled_failures(client, ids, each=SAMPLE_SIZE)
        for issue in batch:
            # For each issue, because a model may need seconds for a title.
            on_progress("read for titles", seen)
            sample = [failure for id in issue.ids for failure in drawn.get(id, ())]
            seen += len(sample)
            found = [_named_change(failure) for failure in sample]
            # Rules of another version may see another kind of change in an older failure.
            kind = issue.fingerprint.rpartition(":")[2]
            changes = [change for change in found if change.kind == kind]
            subject = subject_of(
                [failure.claim for failure in sample],
                supported_claims(client, issue.service, issue.route, limit=MAX_OTHER_CLAIMS),
                issue.route,
            )
            template = template_title(issue.fingerprint, issue.route, changes, len(sample), subject)
            named = enrichers.name(template, issue.route, sample)
            traces = pick_example_traces(sample, embedder)
            updated = replace(issue, title=named.title, example_traces=traces)
            yield issue.id, (updated, named.summary)


def _named_change(failure: Failure) -> MeaningChange:
    """The change that a title may name: where no sentence is against it, the claim's part alone."""
    change = describe_failure(failure).difference.primary
    is_against = failure.label is Label.CONTRADICTED or not change.claimed
    return change if is_against else replace(change, found="")


def pick_example_traces(failures: Sequence[Failure], embedder: TextEmbedder) -> tuple[str, ...]:
    """The traces to show: of the most typical claim, and of a few that differ from it."""
    chosen = choose_examples(embedder.embed([one.claim for one in failures]), number=EXAMPLE_COUNT)
    return tuple(dict.fromkeys(failures[at].trace_id for at in chosen))


def _new_centroids(
    client: Client, window: DescriptionWindow, gained: Sequence[Issue]
) -> dict[int, tuple[float, ...]]:
    """New centroids of these issues, from the window's failures alone, because patterns drift.

    An explained pattern needs none: all its failures have the same description.
    """
    ids = [issue.id for issue in gained if not is_explained(issue.fingerprint)]
    if not ids:
        return {}
    found: dict[int, tuple[float, ...]] = {}
    for issue, (mean, count) in mean_vectors(client, window, ids).items():
        length = float(np.linalg.norm(mean))
        if count >= MIN_VECTORS and length:
            unit = np.array(mean, dtype=np.float64) / length
            found[issue] = tuple(unit.astype(np.float32).tolist())
    return found
