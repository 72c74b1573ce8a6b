"""The main path of grouping: failures in, issues out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rt4chart_clustering.describe import describe
from rt4chart_clustering.difference import POOL, difference
from rt4chart_clustering.embed import Embedder
from rt4chart_clustering.examples import examples
from rt4chart_clustering.group import Described, group
from rt4chart_clustering.identity import Identified, identify
from rt4chart_clustering.name import title
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.failures import Failure, failures
from rt4chart_collector.store.issues import (
    Embedded,
    Issue,
    Member,
    insert_embeddings,
    insert_issues,
    insert_members,
    list_issues,
)

EXAMPLES = 4


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run found; `unexplained` failures have a pattern that the rules do not explain."""

    failures: int
    grouped: int
    unexplained: int
    new: int
    known: int


def run(
    client: Client, embedder: Embedder, *, since_ns: int, now_ns: int, min_size: int
) -> Outcome:
    """Group the failures since then; `now_ns` is the version of what is written."""
    found = failures(client, since_ns=since_ns)
    described = [described_from(failure) for failure in found]
    vectors = embedder.embed([one.text for one in described])
    groups = group(described, vectors, min_size=min_size)
    identified = identify(groups, list_issues(client))
    run_id = str(now_ns)
    issues = [issue_of(one, run_id, examples_of(one, embedder)) for one in identified]
    insert_embeddings(
        client,
        [
            Embedded(one.failure.key, one.failure.time_ns, one.text, tuple(vector.tolist()))
            for one, vector in zip(described, vectors, strict=True)
        ],
        model=embedder.id,
        version=now_ns,
    )
    # Members first: an issue points to the run whose members are its own.
    insert_members(client, members_of(identified), run=run_id, version=now_ns)
    insert_issues(client, issues, version=now_ns)
    return Outcome(
        failures=len(found),
        grouped=sum(len(one.group.members) for one in identified),
        unexplained=sum(one.difference.op in POOL for one in described),
        new=sum(one.known is None for one in identified),
        known=sum(one.known is not None for one in identified),
    )


def described_from(failure: Failure) -> Described:
    """A failure beside its evidence, or beside the nearest sentence where it has none."""
    beside = [evidence.text for evidence in failure.evidence] or [failure.nearest]
    apart = difference(failure.claim, beside, question=failure.question, clashes=failure.clashes)
    return Described(failure, apart, describe(failure.claim, failure.label, apart))


def examples_of(one: Identified, embedder: Embedder) -> tuple[str, ...]:
    """The traces to show for an issue: one typical claim, and a few unlike it."""
    failures_of = one.group.failures
    chosen = examples(embedder.embed([f.claim for f in failures_of]), number=EXAMPLES)
    return tuple(dict.fromkeys(failures_of[at].trace_id for at in chosen))


def issue_of(one: Identified, run_id: str, example_traces: tuple[str, ...]) -> Issue:
    """The issue as it is now: counts from its members, status as a person left it."""
    members = one.group.members
    times = [member.failure.time_ns for member in members]
    changes = [member.difference.primary for member in members]
    return Issue(
        id=one.id,
        title=title(one.group.fingerprint, one.group.route, changes, len(members)),
        fingerprint=one.group.fingerprint,
        service=one.group.service,
        route=one.group.route,
        first_ns=min([*times, one.known.first_ns] if one.known else times),
        last_ns=max(times),
        claims=len(members),
        centroid=one.group.centroid,
        run=run_id,
        state=one.known.state if one.known else "open",
        example_traces=example_traces,
    )


def members_of(identified: Sequence[Identified]) -> list[Member]:
    """Each failure of each issue, with its distance from the issue's middle."""
    return [
        Member(one.id, member.failure.key, member.failure.time_ns, distance)
        for one in identified
        for member, distance in zip(one.group.members, one.group.distances, strict=True)
    ]
