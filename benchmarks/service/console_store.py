"""A store of many claims for the console, made by the engine itself."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rt4chart_collector.core.alerts.alert import Alert, Rule, Severity
from rt4chart_collector.core.alerts.facts import (
    AttributeValue,
    DriftEvidence,
    DriftFacts,
    MeasuredRate,
)
from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind
from rt4chart_collector.store.alerts.alert_events import record_alert_events
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.draws import DrawRequest, draw_claims
from rt4chart_collector.store.rates.rollup import complete_from

PAGES = Path(__file__).parents[2] / "docs"
CHUNK, ISSUES, VERIFIER = 100_000, 43, "local/1"
DAYS_NS = 7 * 24 * 3600 * 10**9
LONG = ("f" * 32, "f" * 16)
LONG_CLAIMS = 10_000
# The answer's span is the second of the trace, the rest are searches below the first.
DEEP = ("e" * 32, "e" * 16)
DEEP_SPANS = 10_000
LAST = 3600 * 10**9
KEY = """
    fromUnixTimestamp64Nano(toInt64({start:Int64} + n * {step:Int64})) AS Timestamp,
    lower(hex(sipHash128(n))) AS TraceId, lower(hex(sipHash64(n))) AS SpanId
"""
ANSWER = f"""{KEY},
    'shop' AS ServiceName, concat('route-', toString(n % {{routes:UInt64}})) AS Route,
    'local/1' AS VerifierId, 'prod' AS Environment,
    if(n % 3 = 0, 'model-a', 'model-b') AS Model
"""
# The words of our own pages by how often they stand there, then pairs of them: the one of rank k is
# as frequent as 1 / k, of 131,072.
RANK = "toUInt32(exp2((cityHash64(n, at, i) % 1000003) / 1000003 * 17))"
WORD = """concat({words:Array(String)}[k % length({words:Array(String)}) + 1],
    {words:Array(String)}[intDiv(k, length({words:Array(String)}))])"""
WORDS = f"""arrayStringConcat(arrayMap(k -> {WORD},
    arrayMap(i -> {RANK}, range(LENGTH))), ' ')"""
# A claim has 80 characters: nine words, of which none need be whole at the end, and a number.
WIDTH = 80
SAID = f"""rightPad(concat('Plan ', toString(cityHash64(n, at) % 9999991), ' lasts 14 days ',
    {WORDS.replace("LENGTH", "9")}), {WIDTH}, '.')"""
ASKED = f"""concat('How long does ',
    {WORDS.replace("LENGTH", "5").replace("n, at", "n, 99")}, ' last?')"""
WHOLE = f"""arrayStringConcat(arrayMap(at -> {SAID}, range({{each:UInt64}})), ' ')"""
# n of the numbers from `first` on.
NUMBERS = "SELECT number + {first:UInt64} AS n FROM numbers({count:UInt64})"
EACH_CLAIM = """
SELECT intDiv(number, {each:UInt64}) + {first:UInt64} AS n, number % {each:UInt64} AS at
FROM numbers({count:UInt64} * {each:UInt64})
"""
# Of every thirteenth answer a third of the claims is contradicted, a third baseless.
CONTRADICTED = "(n % 13 = 0 AND cityHash64(n, at) % 3 = 0)"
BASELESS = "(n % 13 = 0 AND cityHash64(n, at) % 3 = 1)"
LABEL = f"multiIf({CONTRADICTED}, 'contradicted', {BASELESS}, 'baseless', 'entailed')"
VERIFICATIONS = f"""
INSERT INTO rt4chart_verifications (Timestamp, TraceId, SpanId, ServiceName, Route, VerifierId,
    Environment, Model, PromptVersion, Release, Decision, Label, SampleRate, ClaimCount,
    EntailedCount, ContradictedCount, BaselessCount, UndecidedCount, Question, Answer,
    `Passages.Id`, `Passages.Stages`, `Passages.IsContext`, Version, IsDeleted)
SELECT * FROM (
    SELECT {ANSWER}, 'v3', if(n * 2 > {{answers:UInt64}}, '1.1', '1.0'),
        if(n % 19 = 0, 'not_sampled', 'verified') AS d,
        multiIf(d != 'verified', 'none', contradicted > 0, 'contradicted', baseless > 0, 'baseless',
            'entailed'),
        if(n % 2 = 0, 1.0, 0.5), if(d = 'verified', {{each:UInt64}}, 0),
        if(d = 'verified', {{each:UInt64}} - contradicted - baseless, 0),
        (d = 'verified') * arrayCount(at -> {CONTRADICTED}, range({{each:UInt64}})) AS contradicted,
        (d = 'verified') * arrayCount(at -> {BASELESS}, range({{each:UInt64}})) AS baseless, 0,
        {ASKED}, {WHOLE},
        ['terms', 'faq'], ['retrieved,prompt', 'retrieved'], [1, 0], 1, 0
    FROM ({NUMBERS})
)
"""  # noqa: S608 - our own names alone
CLAIMS = f"""
INSERT INTO rt4chart_claims (Timestamp, TraceId, SpanId, ServiceName, Route, VerifierId,
    Environment, Model, ClaimIndex, Claim, Label, LocalLabel, Kind, Confidence, DecidedBy,
    AnswerStart, AnswerEnd, `Evidence.DocId`, `Evidence.Start`, `Evidence.End`,
    `Evidence.Relation`, `Evidence.Text`, Version, IsDeleted)
SELECT * FROM (
    SELECT {ANSWER}, at, {SAID} AS said, {LABEL} AS label, label, 'plain', 0.9, 'local',
        at * {WIDTH + 1}, at * {WIDTH + 1} + {WIDTH},
        if(label = 'baseless', [], ['terms']), if(label = 'baseless', [], [0]),
        if(label = 'baseless', [], [26]),
        if(label = 'baseless', [], [if(label = 'entailed', 'supports', 'contradicts')]),
        if(label = 'baseless', [], ['The trial lasts 14 days.']), 1, 0
    FROM ({EACH_CLAIM}) WHERE n % 19 != 0
)
"""  # noqa: S608 - our own names alone
ASSIGNED = f"""
INSERT INTO rt4chart_issue_assignments (Timestamp, TraceId, SpanId, ClaimIndex, IssueId,
    ServiceName, Route, Fingerprint, Distance, AssignedBy, Version, IsDeleted)
SELECT Timestamp, TraceId, SpanId, ClaimIndex, 1 + cityHash64(Route, Label) % {ISSUES}, ServiceName,
    Route, 'fp2:contradicted:number', 0.1, 'birth', 3, 0
FROM rt4chart_claims WHERE Label IN ('contradicted', 'baseless')
"""  # noqa: S608 - our own names alone
DESCRIBED = """
INSERT INTO rt4chart_failure_embeddings (Timestamp, TraceId, SpanId, ClaimIndex, ServiceName, Route,
    Fingerprint, EmbeddingModel, Text, Embedding, Version)
SELECT Timestamp, TraceId, SpanId, ClaimIndex, ServiceName, Route, 'fp2:contradicted:number',
    'meaning/1', 'a number differs',
    arrayMap(i -> toFloat32(sin(i * (cityHash64(Route) % 89)) + (cityHash64(TraceId, i) % 99) / 99),
        range(256)), 2
FROM rt4chart_claims WHERE Label IN ('contradicted', 'baseless')
"""
TRACED = """
INSERT INTO rt4chart_trails (Timestamp, TraceId, SpanId, ServiceName, Route, Environment, Model,
    VerifierId, ClaimIndex, Label, SampleRate, StepName, StepKind, Stage, ReachesSources, Version)
SELECT Timestamp, TraceId, SpanId, ServiceName, Route, Environment, Model, VerifierId, ClaimIndex,
    Label, 1.0, 'answer', 'llm', 'answer', 1, 1
FROM rt4chart_claims WHERE Label IN ('contradicted', 'baseless')
"""
KNOWN = f"""
INSERT INTO rt4chart_issues (IssueId, Title, FailureType, Fingerprint, Service, Route, Status,
    FirstSeen, LastSeen, Occurrences, Centroid, EmbeddingModel, RunId, Version, IsDeleted)
SELECT 1 + cityHash64(Route, Label) % {ISSUES} AS id, concat('Number differs · ', any(Route)),
    'contradicted', 'fp2:contradicted:number', any(ServiceName), any(Route), 'open', min(Timestamp),
    max(Timestamp), count(), range(256), 'meaning/1', 'r', 1, 0
FROM rt4chart_claims WHERE Label IN ('contradicted', 'baseless') GROUP BY id
"""  # noqa: S608 - our own names alone
SPANS = f"""
INSERT INTO otel_traces (Timestamp, TraceId, SpanId, ParentSpanId, SpanName, SpanKind, ServiceName,
    SpanAttributes, Duration, StatusCode)
SELECT * FROM (
    SELECT Timestamp, TraceId, if(part = 2, SpanId, lower(hex(sipHash64(n, part)))),
        if(part = 0, '', lower(hex(sipHash64(n, 0)))), ['ask', 'search', 'answer'][part + 1],
        'Internal', 'shop',
        multiIf(
            part = 1, map('openinference.span.kind', 'RETRIEVER',
                'retrieval.documents.0.document.id', 'terms',
                'retrieval.documents.0.document.content', 'The trial lasts 14 days.',
                'retrieval.documents.1.document.id', 'faq',
                'retrieval.documents.1.document.content', 'Refunds take 5 days.'),
            part = 2, map('openinference.span.kind', 'LLM',
                'input.value', {ASKED}, 'output.value', {WHOLE}),
            map('openinference.span.kind', 'CHAIN', 'input.value', {ASKED})
        ), 5000000, 'Ok'
    FROM (SELECT {KEY}, n, part FROM (
        SELECT intDiv(number, 3) + {{first:UInt64}} AS n, number % 3 AS part
        FROM numbers({{count:UInt64}} * 3)))
)
"""  # noqa: S608 - our own names alone
LONG_ANSWER = f"""
INSERT INTO rt4chart_verifications (Timestamp, TraceId, SpanId, ServiceName, Route, VerifierId,
    Decision, Label, SampleRate, ClaimCount, EntailedCount, ContradictedCount, Question, Answer,
    Version)
SELECT fromUnixTimestamp64Nano({{at:Int64}}), '{LONG[0]}', '{LONG[1]}', 'shop', 'route-0',
    'local/1', 'verified', 'contradicted', 1, {LONG_CLAIMS}, {LONG_CLAIMS // 2}, {LONG_CLAIMS // 2},
    'Tell me all.',
    arrayStringConcat(arrayMap(i -> 'The trial lasts 14 days. ', range({LONG_CLAIMS}))), 1
"""
LONG_SAID = f"""
INSERT INTO rt4chart_claims (Timestamp, TraceId, SpanId, ServiceName, Route, VerifierId, ClaimIndex,
    Claim, Label, LocalLabel, Confidence, DecidedBy, AnswerStart, AnswerEnd, Version)
SELECT fromUnixTimestamp64Nano({{at:Int64}}), '{LONG[0]}', '{LONG[1]}', 'shop', 'route-0',
    'local/1', number, 'The trial lasts 14 days.',
    if(number % 2, 'contradicted', 'entailed') AS l, l, 0.9, 'local', number * 25, number * 25 + 24,
    1
FROM numbers({LONG_CLAIMS})
"""  # noqa: S608 - our own names alone
DEEP_ANSWER = f"""
INSERT INTO rt4chart_verifications (Timestamp, TraceId, SpanId, ServiceName, Route, VerifierId,
    Decision, Label, SampleRate, ClaimCount, Question, Answer, `Passages.Id`, `Passages.Stages`,
    `Passages.IsContext`, Version)
SELECT fromUnixTimestamp64Nano({{at:Int64}}), '{DEEP[0]}', '{DEEP[1]}', 'shop', 'route-0',
    'local/1', 'verified', 'entailed', 1, 1, 'How long?', 'The trial lasts 14 days.',
    arrayMap(i -> concat('terms-', toString(i)), range(2, {DEEP_SPANS})),
    arrayMap(i -> 'retrieved', range(2, {DEEP_SPANS})), arrayMap(i -> 1, range(2, {DEEP_SPANS})), 1
"""
DEEP_SAID = f"""
INSERT INTO rt4chart_claims (Timestamp, TraceId, SpanId, ServiceName, Route, VerifierId, ClaimIndex,
    Claim, Label, LocalLabel, Confidence, DecidedBy, AnswerStart, AnswerEnd, Version)
SELECT fromUnixTimestamp64Nano({{at:Int64}}), '{DEEP[0]}', '{DEEP[1]}', 'shop', 'route-0',
    'local/1', 0, 'The trial lasts 14 days.', 'entailed', 'entailed', 0.9, 'local', 0, 24, 1
"""
DEEP_TRACE = f"""
INSERT INTO otel_traces (Timestamp, TraceId, SpanId, ParentSpanId, SpanName, SpanKind, ServiceName,
    SpanAttributes, Duration, StatusCode)
SELECT fromUnixTimestamp64Nano({{at:Int64}} + number), '{DEEP[0]}',
    if(number = 1, '{DEEP[1]}', leftPad(toString(number), 16, '0')),
    if(number = 0, '', repeat('0', 16)), ['ask', 'answer', 'search'][least(number, 2) + 1],
    'Internal', 'shop',
    multiIf(
        number = 0, map('openinference.span.kind', 'CHAIN', 'input.value', 'How long?'),
        number = 1, map('openinference.span.kind', 'LLM', 'input.value', 'How long?',
            'output.value', 'The trial lasts 14 days.'),
        map('openinference.span.kind', 'RETRIEVER',
            'retrieval.documents.0.document.id', concat('terms-', toString(number)),
            'retrieval.documents.0.document.content',
            concat('The trial of plan ', toString(number), ' lasts 14 days.'))
    ), 5000000, 'Ok'
FROM numbers({DEEP_SPANS})
"""  # noqa: S608 - our own names alone
LATER = (ASSIGNED, DESCRIBED, TRACED, KNOWN)


@dataclass(frozen=True, slots=True)
class Made:
    """What is in the store: a faulty answer, an issue, a word of one claim, an alert."""

    answers: int
    word: str
    failures: int
    trace_id: str
    span_id: str
    issue: int
    rare: str
    alert: str


@dataclass(frozen=True, slots=True)
class Size:
    """How many claims there are, of an answer too, and on how many routes."""

    claims: int
    each: int
    routes: int

    @property
    def answers(self) -> int:
        """The number of answers."""
        return self.claims // self.each


def vocabulary() -> list[str]:
    """The words of the pages of this project, the most frequent first."""
    text = " ".join(page.read_text() for page in sorted(PAGES.rglob("*.md"))).lower()
    return [word for word, _ in Counter(re.findall("[a-z]{2,}", text)).most_common()]


def fill(client: Client, size: Size, now_ns: int) -> Made:
    """Make the rows of seven days, the newest of them an hour old or less."""
    start = now_ns - DAYS_NS
    given: dict[str, object] = {"start": start, "step": DAYS_NS // size.answers}
    given |= {"answers": size.answers, "each": size.each, "routes": size.routes}
    given["words"] = vocabulary()
    # A store that began with this version has the sums per hour and day of all its answers.
    complete_from(client, 0)
    for first in range(0, size.answers, CHUNK):
        part = {**given, "first": first, "count": min(CHUNK, size.answers - first)}
        for statement in (SPANS, CLAIMS, VERIFICATIONS):
            client.command(f"{statement} SETTINGS max_partitions_per_insert_block = 0", part)
    for statement in LATER:
        client.command(f"{statement} SETTINGS max_partitions_per_insert_block = 0")
    for statement in (LONG_SAID, LONG_ANSWER, DEEP_TRACE, DEEP_SAID, DEEP_ANSWER):
        client.command(statement, {"at": now_ns - LAST // 2})
    scope = QueryScope(now_ns - LAST * 24, now_ns, VERIFIER, "shop", "route-0")
    draw_claims(client, DrawRequest(scope, 100, "benchmark"), now_ns=now_ns)
    return _made(client, size, _alert(client, now_ns))


def _alert(client: Client, now_ns: int) -> str:
    """An alert on one route, open for ten hours; its release did not change."""
    since_ns = now_ns - 10 * LAST
    facts = DriftFacts(
        since_ns=since_ns,
        before=MeasuredRate(rate=0.002, low=0.001, high=0.003, claims=40_000, answers=8_000),
        after=MeasuredRate(rate=0.02, low=0.01, high=0.03, claims=3_000, answers=600),
        changed=(
            AttributeValue("release", "1.1", 0.1, 1.0, since_ns),
            AttributeValue("release", "1.0", 0.9, 0.0, since_ns),
        ),
        evidence=DriftEvidence(20.0, 9.0),
        verifier=VERIFIER,
    )
    alert = Alert(
        *(Rule.ROUTE_DRIFT, Severity.CRITICAL, "shop", "route-0", 0),
        title="Drift detected on route-0",
        facts=facts,
        starts_ns=since_ns,
    )
    record_alert_events(client, [AlertEvent(alert, since_ns + LAST, AlertEventKind.FIRED)])
    return alert.id


def _made(client: Client, size: Size, alert: str) -> Made:
    ((failures, trace, span, issue),) = client.query(
        "SELECT count(), argMax(TraceId, Timestamp), argMax(SpanId, Timestamp), any(IssueId) "
        "FROM rt4chart_issue_assignments"
    ).result_rows
    ((claim,),) = client.query(
        "SELECT Claim FROM rt4chart_claims WHERE TraceId = {trace:String} LIMIT 1", {"trace": trace}
    ).result_rows
    uncommon = vocabulary()[-1]
    return Made(size.answers, uncommon, failures, trace, span, issue, claim.split()[1], alert)
