"""A route's answers per five minutes, in bins of equal claims and sample rates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from otel_rt4chart.verify.core.rates import AnswerSums, Measure
from rt4chart_collector.store.engine.columns import SAMPLE_RATE
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.engine.scope import QueryScope, in_scope

TICK_NS = 300 * 10**9
# Decided and counted claims, answers, sample rate, kind of question.
_BinRow = tuple[int, int, int, float, str]
# The rows are signed: a replaced verdict is added again with its sign turned, and both cancel. The
# sum is exact without FINAL, because merges of this table add up rows with equal keys.
# The counted claims of each measure, and the condition on its answers. Misleading claims are not
# weighted here, so only answers that all checks ran on can be compared with each other.
COUNTED = {
    Measure.UNFAITHFUL: ("Unfaithful", "1"),
    Measure.MISLEADING: ("Misleading", "Checked = 'fully'"),
    Measure.EITHER: ("Unfaithful + Misleading", "Checked = 'fully'"),
}
# Several monitors divide the routes by shards of their names.
SHARDS = 64
IN_SHARDS = f"""({{any_shard:UInt8}}
    OR CRC32(concat(ServiceName, '\\0', Route)) % {SHARDS} IN {{shards:Array(UInt8)}})"""
# One statement reads all measures: the scan of the table is the cost, not the rows of the result.
TICK_BINS = f"""
SELECT ServiceName AS service, Route AS route, VerifierId AS verifier, Measure AS measure,
    toUnixTimestamp(Tick) * 1000000000 AS start_ns,
    Model AS model, PromptVersion AS prompt_version, Kept AS release,
    arraySort(groupArray((Decided, Counted, N, Rate, QuestionKind))) AS bins
FROM (
    SELECT ServiceName, Route, VerifierId, Tick, Model, PromptVersion,
        if(Release IN {{releases:Array(String)}}, toString(Release), '') AS Kept,
        Decided, QuestionKind, counted.1 AS Measure, counted.2 AS Counted,
        {SAMPLE_RATE} AS Rate, sum(Answers) AS N
    FROM rt4chart_route_5m ARRAY JOIN {{counted}} AS counted
    WHERE Decision = 'verified' AND counted.3 AND {in_scope("Tick")} AND {IN_SHARDS}
    GROUP BY ServiceName, Route, VerifierId, Tick, Model, PromptVersion, Kept,
        Decided, QuestionKind, Measure, Counted, Rate
    HAVING N > 0
)
GROUP BY ServiceName, Route, VerifierId, Measure, Tick, Model, PromptVersion, Kept
ORDER BY ServiceName, Route, Tick, Model, PromptVersion, Kept, Measure
"""  # noqa: S608 - our own names


# All answers with one value of an attribute, in bins.
VALUE_BINS = f"""
SELECT Decided AS decided, toUInt16({{counted}}) AS counted, sum(Answers) AS answers,
    {SAMPLE_RATE} AS sample_rate, '' AS kind
FROM rt4chart_route_5m
WHERE Decision = 'verified' AND {{checked}} AND {{column}} = {{value:String}} AND {in_scope("Tick")}
GROUP BY decided, counted, sample_rate HAVING answers > 0
ORDER BY decided, counted, sample_rate
"""  # noqa: S608
ATTRIBUTE_COLUMNS = {"release": "Release", "prompt_version": "PromptVersion", "model": "Model"}


@dataclass(frozen=True, slots=True)
class Bin:
    """Equal verified answers: each has `counted` of `decided` claims and this sample rate.

    Which claims are counted, the measure says. `kind` is that of the question, "" if not known.
    """

    decided: int
    counted: int
    answers: int
    sample_rate: float
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Tick:
    """Five minutes of one model, prompt version and release of a route.

    `release` is "" for all releases that were not asked for.
    """

    start_ns: int
    model: str
    prompt_version: str
    release: str
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class RouteTicks:
    """The ticks of one measure of a route, by time, model, prompt version and release."""

    service: str
    route: str
    verifier: str
    ticks: tuple[Tick, ...]
    measure: Measure = Measure.UNFAITHFUL


@dataclass(frozen=True, slots=True)
class _TickRow:
    service: str
    route: str
    verifier: str
    measure: str
    start_ns: int
    model: str
    prompt_version: str
    release: str
    bins: list[_BinRow]


def route_ticks(
    client: Client,
    scope: QueryScope,
    *measures: Measure,
    releases: Collection[str] = (),
    shards: Collection[int] | None = None,
) -> list[RouteTicks]:
    """The ticks that start in the scope, by route, verifier and measure; unfaithful by default.

    Only the `releases` have ticks of their own; all others are in those of "". Applications choose
    releases, and can have one for each answer.

    Ticks without an answer that the measure counts are left out. Only routes of these `shards` are
    read, or all.
    """
    found: defaultdict[tuple[str, str, str, str], list[Tick]] = defaultdict(list)
    # Most bins are equal to a bin of another tick: creating each once saves most of the time.
    made: dict[_BinRow, Bin] = {}
    query = TICK_BINS.replace("{counted}", _counted(measures or (Measure.UNFAITHFUL,)))
    parameters = {
        **scope.parameters,
        "releases": [*releases],
        "any_shard": int(shards is None or len(shards) == SHARDS),
        "shards": sorted(shards or ()),
    }
    for row in read(client, _TickRow, query, parameters):
        bins = tuple(
            [made.get(values) or made.setdefault(values, Bin(*values)) for values in row.bins]
        )
        tick = Tick(row.start_ns, row.model, row.prompt_version, row.release, bins)
        found[row.service, row.route, row.verifier, row.measure].append(tick)
    return [
        RouteTicks(service, route, verifier, tuple(ticks), Measure(measure))
        for (service, route, verifier, measure), ticks in found.items()
    ]


def bins_of_value(
    client: Client, scope: QueryScope, attribute: str, value: str, measure: Measure
) -> list[Bin]:
    """The scope's answers with this value of a release, a prompt version or a model."""
    counted, checked = COUNTED[measure]
    query = VALUE_BINS.replace("{column}", ATTRIBUTE_COLUMNS[attribute])
    query = query.replace("{counted}", counted).replace("{checked}", checked)
    return read(client, Bin, query, {**scope.parameters, "value": value})


def _counted(measures: Iterable[Measure]) -> str:
    """An array of each measure with its counted claims, and whether the answers are of it."""
    parts = ", ".join(
        f"('{measure}', toUInt16({counted}), {answers})"
        for measure, (counted, answers) in ((one, COUNTED[one]) for one in measures)
    )
    return f"[{parts}]"


def bins_by_kind(bins: Iterable[Bin]) -> dict[str, list[Bin]]:
    """The bins of each kind of question, the kinds in the order of their names."""
    found: dict[str, list[Bin]] = {}
    for bin_ in sorted(bins, key=lambda bin_: bin_.kind):
        found.setdefault(bin_.kind, []).append(bin_)
    return found


def answer_sums(bins: Iterable[Bin]) -> AnswerSums:
    """The exact sums over the answers in these bins.

    An answer with a sample rate of 0 is counted with weight 0.
    """
    answers = claims = 0
    wm = wx = wwm = wwxx = wwxm = wwmm = 0.0
    for group in bins:
        m, x, n = group.decided, group.counted, group.answers
        weight = 1 / group.sample_rate if group.sample_rate > 0 else 0.0
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
