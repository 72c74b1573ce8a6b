"""A route's answers per five minutes, counted by what their claims were found to be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from otel_rt4chart.verify.core.rates import AnswerSums
from rt4chart_collector.store.engine.columns import IN_SCOPE, scope_parameters
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read

TICK_NS = 300 * 10**9
# The sums are signed: what was replaced is added once more with its sign turned, and cancels.
TICK_BINS = f"""
SELECT ServiceName AS service, Route AS route, VerifierId AS verifier,
    toUnixTimestamp(Tick) * 1000000000 AS start_ns,
    Model AS model, PromptVersion AS prompt_version, Release AS release,
    arraySort(groupArray((Decided, Unfaithful, N, SampleRate))) AS bins
FROM (
    SELECT ServiceName, Route, VerifierId, Tick, Model, PromptVersion, Release,
        Decided, Unfaithful, SampleRate, sum(Answers) AS N
    FROM rt4chart_route_5m
    WHERE Decision = 'verified' AND VerifierId = {{verifier:String}}
      AND Tick >= fromUnixTimestamp64Nano({{since:Int64}})
      AND Tick < fromUnixTimestamp64Nano({{until:Int64}})
      AND {IN_SCOPE}
    GROUP BY ServiceName, Route, VerifierId, Tick, Model, PromptVersion, Release,
        Decided, Unfaithful, SampleRate
    HAVING N > 0
)
GROUP BY ServiceName, Route, VerifierId, Tick, Model, PromptVersion, Release
ORDER BY ServiceName, Route, Tick, Model, PromptVersion, Release
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class Bin:
    """Verified answers that look alike: each has `unfaithful` of `decided` claims.

    `sample_rate` is the probability with which each was in the sample.
    """

    decided: int
    unfaithful: int
    answers: int
    sample_rate: float


@dataclass(frozen=True, slots=True)
class Tick:
    """Five minutes of one model, prompt version and release of a route."""

    start_ns: int
    model: str
    prompt_version: str
    release: str
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class RouteTicks:
    """A route's ticks by time, those of one time by model, prompt version and release."""

    service: str
    route: str
    verifier: str
    ticks: tuple[Tick, ...]


@dataclass(frozen=True, slots=True)
class _TickRow:
    service: str
    route: str
    verifier: str
    start_ns: int
    model: str
    prompt_version: str
    release: str
    bins: list[tuple[int, int, int, float]]


def route_ticks(
    client: Client,
    *,
    since_ns: int,
    until_ns: int,
    verifier: str,
    service: str | None = None,
    route: str | None = None,
) -> list[RouteTicks]:
    """What this verifier found, by route, in the ticks that start in [since, until).

    Without a service or a route, of all of them. Ticks without a verified answer are left out.
    """
    given = {
        "since": since_ns,
        "until": until_ns,
        "verifier": verifier,
        **scope_parameters(service, route),
    }
    found: defaultdict[tuple[str, str, str], list[Tick]] = defaultdict(list)
    # Most bins are equal to one of another tick. Making each once saves most of the time here.
    made: dict[tuple[int, int, int, float], Bin] = {}
    for row in read(client, _TickRow, TICK_BINS, given):
        bins = tuple([made.get(one) or made.setdefault(one, Bin(*one)) for one in row.bins])
        tick = Tick(row.start_ns, row.model, row.prompt_version, row.release, bins)
        found[row.service, row.route, row.verifier].append(tick)
    return [RouteTicks(*key, tuple(ticks)) for key, ticks in found.items()]


def answer_sums(bins: Iterable[Bin]) -> AnswerSums:
    """The sums over the answers that are in these bins, exactly.

    An answer with a sampling rate of 0 is counted and weighs nothing.
    """
    answers = claims = 0
    wm = wx = wwm = wwxx = wwxm = wwmm = 0.0
    for one in bins:
        m, x, n = one.decided, one.unfaithful, one.answers
        weight = 1 / one.sample_rate if one.sample_rate > 0 else 0.0
        square = n * weight * weight
        answers += n
        claims += n * m
        wm += n * weight * m
        wx += n * weight * x
        wwm += square * m
        wwxx += square * x * x
        wwxm += square * x * m
        wwmm += square * m * m
    return AnswerSums(answers, claims, wm, wx, wwm, wwxx, wwxm, wwmm)
