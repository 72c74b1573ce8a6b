"""The figures of issues, derived from the assignments and the verdicts in force.

The weight of a failure is 1 / the sample rate of its answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.issues.assignments import ALL, LIVE, ONE

STANDS_FOR = "transform(IssueId, {merged:Array(UInt64)}, {into:Array(UInt64)}, IssueId)"
FIGURES = f"""
SELECT {STANDS_FOR} AS issue, count() AS claims, sum(Weight) AS weighted,
    uniqExact(TraceId, SpanId) AS answers,
    toUnixTimestamp64Nano(min(Timestamp)) AS first_ns,
    toUnixTimestamp64Nano(max(Timestamp)) AS last_ns
FROM ({LIVE.format(only=ONE)})
GROUP BY issue
"""  # noqa: S608 - our own names
FIGURES_OF_ALL = FIGURES.replace(ONE, ALL)
# Each figure of one issue, the largest first.
PROFILE = f"""
WITH live AS ({LIVE.format(only=ONE)})
SELECT part.1 AS kind, part.2 AS name, count() AS claims, sum(Weight) AS weighted
FROM live
ARRAY JOIN arrayConcat(
    [('route', toString(Route)), ('model', toString(Model)),
     ('prompt', toString(PromptVersion)), ('day', toString(toDate(Timestamp, 'UTC')))],
    arrayMap(id -> ('evidence', id), arrayDistinct(DocIds)),
    arrayMap(id -> ('context', id), arrayDistinct(Context))
) AS part
GROUP BY kind, name
ORDER BY kind, claims DESC, name
LIMIT {{limit:UInt32}} BY kind
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class IssueFigures:
    """An issue's failures: their number, what they stand for, their answers, their time."""

    claims: int = 0
    weighted: float = 0.0
    answers: int = 0
    first_ns: int = 0
    last_ns: int = 0


@dataclass(frozen=True, slots=True)
class FigurePart:
    """How many of an issue's failures have this; `weighted` is what they stand for."""

    name: str
    claims: int
    weighted: float


@dataclass(frozen=True, slots=True)
class IssueProfile:
    """Where an issue's failures are, the most common first; `trend` has one part a day, in order.

    `evidence` are the passages that the judge named, `context` those that the answers had.
    """

    routes: tuple[FigurePart, ...] = ()
    models: tuple[FigurePart, ...] = ()
    prompts: tuple[FigurePart, ...] = ()
    trend: tuple[FigurePart, ...] = ()
    evidence: tuple[FigurePart, ...] = ()
    context: tuple[FigurePart, ...] = ()


@dataclass(frozen=True, slots=True)
class _IssueFigures(IssueFigures):
    issue: int = 0


@dataclass(frozen=True, slots=True)
class _KindPart(FigurePart):
    kind: str


def figures(
    client: Client, aliases: Mapping[int, int], issues: Sequence[int] | None = None
) -> dict[int, IssueFigures]:
    """The figures of every issue that has failures; those of aliases are in what stands for them.

    They reach as far back as the assignments are kept. `issues` (given with their aliases) are all
    that is read where they are named: all of them are as much to read as there are failures.
    """
    given: dict[str, object] = {
        "merged": list(aliases) or [0],
        "into": list(aliases.values()) or [0],
        "ids": list(issues or ()),
    }
    query = FIGURES_OF_ALL if issues is None else FIGURES
    return {
        one.issue: IssueFigures(one.claims, one.weighted, one.answers, one.first_ns, one.last_ns)
        for one in read(client, _IssueFigures, query, given)
    }


def profile_of(client: Client, issues: Sequence[int], *, limit: int = 400) -> IssueProfile:
    """Where the failures of an issue (given with its aliases) are; `limit` bounds each list."""
    kinds: dict[str, list[FigurePart]] = {}
    given = {"ids": list(issues), "limit": limit}
    for one in read(client, _KindPart, PROFILE, given):
        kinds.setdefault(one.kind, []).append(FigurePart(one.name, one.claims, one.weighted))
    return IssueProfile(
        routes=tuple(kinds.get("route", ())),
        models=tuple(kinds.get("model", ())),
        prompts=tuple(kinds.get("prompt", ())),
        trend=tuple(sorted(kinds.get("day", ()), key=lambda part: part.name)),
        evidence=tuple(kinds.get("evidence", ())),
        context=tuple(kinds.get("context", ())),
    )
