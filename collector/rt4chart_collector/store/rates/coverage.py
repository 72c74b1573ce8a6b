"""How much of a route's traffic has a verdict, and why the rest has none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from otel_rt4chart.spans.model.verdict import Decision
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.filters import OF_SCOPE, scope
from rt4chart_collector.store.engine.rows import read

# Excluded by sampling; not verifiable as it came; and failures of this service.
SAMPLED_OUT = (Decision.NOT_SAMPLED, Decision.THROTTLED, Decision.OVER_BUDGET)
UNREADABLE = (Decision.NO_CONTENT, Decision.REDACTED, Decision.TRUNCATED, Decision.NO_CONTEXT)
FAILED = (Decision.QUEUE_FULL, Decision.ERROR)
COVERAGE = f"""
SELECT ServiceName AS service, Route AS route, Decision AS decision, sum(Answers) AS answers,
    sum(Answers * Decided) AS claims, sum(Undecided) AS undecided
FROM rt4chart_route_5m
WHERE VerifierId = {{verifier:String}}
  AND Tick >= fromUnixTimestamp64Nano({{since:Int64}})
  AND Tick < fromUnixTimestamp64Nano({{until:Int64}})
  AND {OF_SCOPE}
GROUP BY ServiceName, Route, Decision HAVING answers > 0
ORDER BY ServiceName, Route, answers DESC, Decision
"""  # noqa: S608 - our own names

JUDGED = """
SELECT VerifierId AS verifier, sumIf(Answers, Decision IN {failed:Array(String)}) AS failed,
    sumIf(Answers, Decision = 'verified') AS verified
FROM rt4chart_route_5m
WHERE Tick >= fromUnixTimestamp64Nano({since:Int64})
  AND Tick < fromUnixTimestamp64Nano({until:Int64})
GROUP BY VerifierId HAVING failed > 0 OR verified > 0 ORDER BY VerifierId
"""


@dataclass(frozen=True, slots=True)
class Judged:
    """A verifier's answers: those it failed on or had no room for, and those with a verdict."""

    verifier: str
    failed: int
    verified: int

    @property
    def failed_share(self) -> float:
        """The share that failed; 0 where there is no answer."""
        answers = self.failed + self.verified
        return self.failed / answers if answers else 0.0


@dataclass(frozen=True, slots=True)
class Coverage:
    """A route's answers by what was decided, most first; `claims` are decided, `undecided` not."""

    decisions: Mapping[str, int]
    claims: int
    undecided: int

    @property
    def answers(self) -> int:
        """All answers that were found."""
        return sum(self.decisions.values())

    @property
    def verified(self) -> int:
        """Those with a verdict."""
        return self.decisions.get(Decision.VERIFIED, 0)

    @property
    def sampled_out(self) -> int:
        """Those that the sampling left out, by its rates, limits or budgets."""
        return self._count(SAMPLED_OUT)

    @property
    def unreadable(self) -> int:
        """Those that came without text or passages, or with a part of them."""
        return self._count(UNREADABLE)

    @property
    def failed(self) -> int:
        """Those that the judge failed on, or that there was no room for."""
        return self._count(FAILED)

    @property
    def verified_share(self) -> float | None:
        """The share of answers with a verdict; None where there is no answer."""
        return self.verified / self.answers if self.answers else None

    @property
    def undecided_share(self) -> float | None:
        """The share of claims that the judge could not decide; None where there is no claim."""
        claims = self.claims + self.undecided
        return self.undecided / claims if claims else None

    def _count(self, decisions: tuple[Decision, ...]) -> int:
        return sum(self.decisions.get(one, 0) for one in decisions)


@dataclass(frozen=True, slots=True)
class _DecisionCount:
    service: str
    route: str
    decision: str
    answers: int
    claims: int
    undecided: int


def coverage(
    client: Client,
    *,
    since_ns: int,
    until_ns: int,
    verifier: str,
    service: str | None = None,
    route: str | None = None,
) -> dict[tuple[str, str], Coverage]:
    """By (service, route), of the ticks that start in [since, until).

    Without a service or a route, of all of them. Counts are of what was seen, without weights.
    """
    given = {"since": since_ns, "until": until_ns, "verifier": verifier}
    found: defaultdict[tuple[str, str], list[_DecisionCount]] = defaultdict(list)
    for row in read(client, _DecisionCount, COVERAGE, {**given, **scope(service, route)}):
        found[row.service, row.route].append(row)
    return {key: _coverage(counts) for key, counts in found.items()}


def judged(client: Client, *, since_ns: int, until_ns: int) -> list[Judged]:
    """What every verifier did in the ticks that start in [since, until), without weights."""
    given = {"since": since_ns, "until": until_ns, "failed": [str(one) for one in FAILED]}
    return read(client, Judged, JUDGED, given)


def _coverage(rows: list[_DecisionCount]) -> Coverage:
    return Coverage(
        decisions={row.decision: row.answers for row in rows},
        claims=sum(row.claims for row in rows),
        undecided=sum(row.undecided for row in rows),
    )
