"""The verifiers of a store: which one is the main one, and how far they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.verify import AnswerLabel
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.grains import TIMES, Grain, sums_in
from rt4chart_collector.store.engine.rows import read, read_by

SECOND_NS = 1_000_000_000
HOUR_S = 3600
DAY_S = 24 * HOUR_S
RECENT_S = 7 * DAY_S
# A verifier is replaced after an hour without answers if others judged this many since, and after a
# day in any case.
REPLACING_ANSWERS = 12
# Two verifiers of the same answers have similar numbers of verdicts: above this ratio they are
# equal.
SIMILAR_RATIO = 0.8
VERIFIER_HOURS = """
SELECT VerifierId AS verifier, intDiv(toUnixTimestamp(Tick), 3600) * 3600 AS hour_s,
    sum(Answers) AS answers, toUnixTimestamp(min(FirstTick)) AS first_s,
    toUnixTimestamp(max(LastTick)) AS last_s
FROM {sums}
GROUP BY VerifierId, hour_s HAVING answers > 0 ORDER BY VerifierId, hour_s
"""


@dataclass(frozen=True, slots=True)
class _VerifierHour:
    """A verifier's answers in an hour, with the first and last tick, in epoch seconds."""

    hour_s: int
    answers: int
    first_s: int
    last_s: int


def main_verifier(client: Client, now_ns: int) -> str:
    """The verifier whose verdicts count; "" without a verdict in the last seven days.

    Of the active verifiers, the one with the most verdicts on the last whole day in UTC; of similar
    numbers, the first by name. Without a verdict on that day, the verifier that started first. The
    choice must be stable, because the monitor restarts its detectors when it changes.
    """
    now_s = now_ns // SECOND_NS
    sums = sums_in(
        client,
        (now_s - RECENT_S) * SECOND_NS,
        (now_s + 1) * SECOND_NS,
        ("VerifierId", "Tick", "Answers", *TIMES),
        coarsest=Grain.HOUR,
        where="Decision = 'verified'",
    )
    found: dict[str, list[_VerifierHour]]
    found = read_by(client, "verifier", _VerifierHour, VERIFIER_HOURS.replace("{sums}", sums))
    active = {name: hours for name, hours in found.items() if not _is_replaced(name, found)}
    if not active:
        return ""
    today_s = now_s // DAY_S * DAY_S
    counted = {
        name: _answers_between(hours, today_s - DAY_S, today_s) for name, hours in active.items()
    }
    most = max(counted.values())
    if not most:
        return min(active, key=lambda name: (active[name][0].first_s, name))
    return min(name for name, answers in counted.items() if answers >= SIMILAR_RATIO * most)


def _is_replaced(name: str, found: Mapping[str, Sequence[_VerifierHour]]) -> bool:
    last = found[name][-1]
    passed_s = max(hours[-1].last_s for hours in found.values()) - last.last_s
    others = [hours for other, hours in found.items() if other != name]
    start_s, end_s = last.hour_s + HOUR_S, last.hour_s + RECENT_S + DAY_S
    since = sum(_answers_between(hours, start_s, end_s) for hours in others)
    return passed_s >= DAY_S or (passed_s >= HOUR_S and since >= REPLACING_ANSWERS)


def _answers_between(hours: Sequence[_VerifierHour], since_s: int, until_s: int) -> int:
    return sum(hour.answers for hour in hours if since_s <= hour.hour_s < until_s)


# Cohen's kappa: the agreement beyond chance, as a share of the most that is possible beyond chance
# (Cohen 1960, A coefficient of agreement for nominal scales).
CHANCE_AGREEMENT = " + ".join(
    f"countIf(a.Label = '{label}') / answers * countIf(b.Label = '{label}') / answers"
    for label in AnswerLabel
)


def _pairs_query(columns: str = "") -> str:
    """The query for every pair of judges, also grouped by these columns."""
    return f"""
WITH verified AS (
    SELECT TraceId, SpanId, VerifierId, ServiceName, Route, Label
    FROM rt4chart_verifications FINAL
    WHERE Decision = 'verified' AND IsDeleted = 0
      AND Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
)
SELECT a.VerifierId AS first, b.VerifierId AS second, {columns}
    count() AS answers, countIf(a.Label = b.Label) AS equal, {CHANCE_AGREEMENT} AS chance,
    if(chance < 1, (equal / answers - chance) / (1 - chance), NULL) AS kappa
FROM verified AS a INNER JOIN verified AS b ON a.TraceId = b.TraceId AND a.SpanId = b.SpanId
WHERE a.VerifierId < b.VerifierId
GROUP BY first, second{", service, route" if columns else ""}
"""  # noqa: S608 - our own names alone, values are parameters


JUDGE_PAIRS = f"{_pairs_query()} ORDER BY answers DESC, first, second"
JUDGE_PAIRS_BY_ROUTE = f"""
{_pairs_query("a.ServiceName AS service, a.Route AS route,")}
HAVING equal < answers
ORDER BY first, second, answers - equal DESC, service, route LIMIT {{limit:UInt32}} BY first, second
"""


@dataclass(frozen=True, slots=True)
class RouteAgreement:
    """A route's answers that both judged; `equal` of them have the same label."""

    service: str
    route: str
    answers: int
    equal: int
    kappa: float | None


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """Two judges' labels on the answers that both verified; `routes` have the most differences.

    `kappa` is None if both judges gave all answers one label.
    """

    first: str
    second: str
    answers: int
    equal: int
    kappa: float | None
    routes: tuple[RouteAgreement, ...] = ()

    @property
    def share(self) -> float:
        """The share of answers with the same label."""
        return self.equal / self.answers


def judge_agreements(client: Client, *, since_ns: int, routes: int = 3) -> list[JudgeAgreement]:
    """Every pair of judges with common answers since then, the most answers first."""
    parameters = {"since": since_ns, "limit": routes}
    by_pair = read_by(client, ("first", "second"), RouteAgreement, JUDGE_PAIRS_BY_ROUTE, parameters)
    return [
        replace(row, routes=tuple(by_pair.get((row.first, row.second), ())))
        for row in read(client, JudgeAgreement, JUDGE_PAIRS, {"since": since_ns})
    ]
