-- Statuses: what is wrong with a claim beyond its label. An entailed claim whose status is not supported
-- misleads. Rows of earlier versions get the status that follows from their label alone.
ALTER TABLE {database}.rt4chart_claims
    ADD COLUMN IF NOT EXISTS Status LowCardinality(String) DEFAULT multiIf(Label = 'entailed', 'supported', Label != 'baseless', toString(Label), Reason = 'unlinked', 'unlinked', 'unsupported') AFTER Label,
    ADD COLUMN IF NOT EXISTS CheckRate Float32 DEFAULT 1 AFTER Status,
    ADD INDEX IF NOT EXISTS idx_status Status TYPE set(16) GRANULARITY 1;

-- Checked says whether the answer was checked for misleading claims: by no check ('no': it was verified by
-- an earlier version), by those that were drawn for it ('partly'), or by all. A claim that a check found
-- counts in MisleadingWeight as 1 / the rate with which the check was drawn; Checks has these rates.
-- Statuses has the number of claims by status, weighted in the same way. Citations are counted on all
-- answers, verified or not. Edits is JSON.
ALTER TABLE {database}.rt4chart_verifications
    ADD COLUMN IF NOT EXISTS MisleadingCount UInt16 AFTER UndecidedCount,
    ADD COLUMN IF NOT EXISTS MisleadingWeight Float64 AFTER MisleadingCount,
    ADD COLUMN IF NOT EXISTS Checked Enum8('no' = 0, 'partly' = 1, 'fully' = 2) AFTER MisleadingWeight,
    ADD COLUMN IF NOT EXISTS Checks Map(String, Float32) AFTER Checked,
    ADD COLUMN IF NOT EXISTS Statuses Map(String, Float64) AFTER Checks,
    ADD COLUMN IF NOT EXISTS Citations UInt16 AFTER Statuses,
    ADD COLUMN IF NOT EXISTS CitationErrors UInt16 AFTER Citations,
    ADD COLUMN IF NOT EXISTS Action LowCardinality(String) AFTER CitationErrors,
    ADD COLUMN IF NOT EXISTS ActionReason String CODEC(ZSTD(1)) AFTER Action,
    ADD COLUMN IF NOT EXISTS Edits String CODEC(ZSTD(3)) AFTER ActionReason;

DROP VIEW IF EXISTS {database}.rt4chart_route_1m_mv;

ALTER TABLE {database}.rt4chart_route_1m
    ADD COLUMN IF NOT EXISTS Misleading SimpleAggregateFunction(sum, Int64),
    ADD COLUMN IF NOT EXISTS WMisleading SimpleAggregateFunction(sum, Float64),
    ADD COLUMN IF NOT EXISTS WChecked SimpleAggregateFunction(sum, Float64);

-- As in 0001, with the misleading claims; WChecked are the decided claims of answers that were checked.
CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.rt4chart_route_1m_mv
TO {database}.rt4chart_route_1m AS
WITH
    if(IsDeleted = 1, -1, 1) AS sign,
    sign / SampleRate AS weight,
    Label IN ('contradicted', 'baseless') AS unfaithful
SELECT ServiceName, Route, Environment, VerifierId, toStartOfMinute(Timestamp) AS Minute,
    sum(toInt64(sign)) AS Answers,
    sum(toInt64(sign * unfaithful)) AS UnfaithfulAnswers,
    sum(toInt64(sign * ClaimCount)) AS Claims,
    sum(toInt64(sign * EntailedCount)) AS Entailed,
    sum(toInt64(sign * ContradictedCount)) AS Contradicted,
    sum(toInt64(sign * BaselessCount)) AS Baseless,
    sum(toInt64(sign * UndecidedCount)) AS Undecided,
    sum(weight) AS WAnswers,
    sum(weight * unfaithful) AS WUnfaithfulAnswers,
    sum(weight * ClaimCount) AS WClaims,
    sum(weight * EntailedCount) AS WEntailed,
    sum(weight * ContradictedCount) AS WContradicted,
    sum(weight * BaselessCount) AS WBaseless,
    sum(toInt64(sign * MisleadingCount)) AS Misleading,
    sum(weight * MisleadingWeight) AS WMisleading,
    sum(weight * (Checked != 'no') * (EntailedCount + ContradictedCount + BaselessCount)) AS WChecked
FROM {database}.rt4chart_verifications
WHERE Decision = 'verified' AND SampleRate > 0
GROUP BY ServiceName, Route, Environment, VerifierId, Minute;

DROP VIEW IF EXISTS {database}.rt4chart_route_5m_mv;

-- The answers are counted by their misleading claims too. CitingAnswers have a citation, MiscitingAnswers
-- one that is wrong.
ALTER TABLE {database}.rt4chart_route_5m
    ADD COLUMN IF NOT EXISTS Misleading UInt16 AFTER Unfaithful,
    ADD COLUMN IF NOT EXISTS MisleadingWeight Float64 AFTER Misleading,
    ADD COLUMN IF NOT EXISTS Checked Enum8('no' = 0, 'partly' = 1, 'fully' = 2) AFTER MisleadingWeight,
    ADD COLUMN IF NOT EXISTS Statuses SimpleAggregateFunction(sumMap, Map(String, Float64)),
    ADD COLUMN IF NOT EXISTS CitingAnswers SimpleAggregateFunction(sum, Int64),
    ADD COLUMN IF NOT EXISTS MiscitingAnswers SimpleAggregateFunction(sum, Int64),
    MODIFY ORDER BY (ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release, Decision, SampleRate, Decided, Unfaithful, Misleading, MisleadingWeight, Checked);

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.rt4chart_route_5m_mv
TO {database}.rt4chart_route_5m AS
WITH if(IsDeleted = 1, -1, 1) AS sign
SELECT ServiceName, Route, VerifierId, toStartOfFiveMinutes(Timestamp) AS Tick,
    Environment, Model, PromptVersion, Release, Decision, SampleRate,
    toUInt16(EntailedCount + ContradictedCount + BaselessCount) AS Decided,
    toUInt16(ContradictedCount + BaselessCount) AS Unfaithful,
    MisleadingCount AS Misleading, MisleadingWeight, Checked,
    sum(toInt64(sign)) AS Answers,
    sum(toInt64(sign * ContradictedCount)) AS Contradicted,
    sum(toInt64(sign * BaselessCount)) AS Baseless,
    sum(toInt64(sign * UndecidedCount)) AS Undecided,
    sumMap(mapApply((status, claims) -> (status, sign * claims), v.Statuses)) AS Statuses,
    sum(toInt64(sign * (Citations > 0))) AS CitingAnswers,
    sum(toInt64(sign * (CitationErrors > 0))) AS MiscitingAnswers
FROM {database}.rt4chart_verifications AS v
GROUP BY ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release, Decision, SampleRate, Decided, Unfaithful, Misleading, MisleadingWeight, Checked;

DROP VIEW IF EXISTS {database}.otel_traces_verified;

-- As in 0001. An answer's span also carries its misleading rate, the counts of its labels and of its
-- statuses, its findings and its action; a document also the claims that it limits. Of an answer that several
-- verifiers judged, the last verdict counts. Claims are numbered within their answer.
CREATE VIEW IF NOT EXISTS {database}.otel_traces_verified AS
WITH
    verdicts AS (
        SELECT TraceId, SpanId,
            argMax(VerifierId, Version) AS VerifierId,
            argMax(toString(Label), Version) AS Label,
            argMax(EntailedCount, Version) AS Entailed,
            argMax(ContradictedCount, Version) AS Contradicted,
            argMax(BaselessCount, Version) AS Baseless,
            argMax(UndecidedCount, Version) AS Undecided,
            argMax(MisleadingCount, Version) AS Misleading,
            argMax(toString(Checked), Version) AS Checked,
            argMax(Statuses, Version) AS Statuses,
            argMax(Findings, Version) AS Findings,
            argMax(Action, Version) AS Action,
            argMax(Passages.Id, Version) AS Ids,
            argMax(Passages.Stages, Version) AS Stages
        FROM {database}.rt4chart_verifications FINAL
        WHERE IsDeleted = 0 AND Decision = 'verified'
        GROUP BY TraceId, SpanId
    ),
    claims AS (
        SELECT TraceId, SpanId, VerifierId,
            arraySort(claim -> claim.1, groupArray(CAST(
                (ClaimIndex, Claim, toString(Label), toString(Status), AnswerStart, AnswerEnd, Confidence, toString(Reason),
                    arrayMap(
                        (passage, start, stop, quote, relation) -> (passage, start, stop, quote, toString(relation)),
                        Evidence.DocId, Evidence.Start, Evidence.End, Evidence.Text, Evidence.Relation
                    )),
                'Tuple(id UInt16, text String, label String, status String, start UInt32, end UInt32, confidence Float32, reason String, evidence Array(Tuple(passage String, start UInt32, end UInt32, text String, relation String)))'
            ))) AS Claims,
            groupArrayArray(arrayMap(
                (passage, relation) -> (passage, toString(relation), ClaimIndex), Evidence.DocId, Evidence.Relation
            )) AS Rests
        FROM {database}.rt4chart_claims FINAL
        WHERE IsDeleted = 0
        GROUP BY TraceId, SpanId, VerifierId
    ),
    answers AS (
        SELECT v.TraceId AS TraceId, v.SpanId AS SpanId, v.Label AS Label,
            map('entailed', v.Entailed, 'contradicted', v.Contradicted, 'baseless', v.Baseless, 'undecided', v.Undecided) AS Counts,
            v.Contradicted + v.Baseless AS Unfaithful, v.Entailed + v.Contradicted + v.Baseless AS Decided, c.Claims AS Claims,
            v.Misleading AS Misleading, v.Checked AS Checked, v.Statuses AS Statuses, v.Findings AS Findings, v.Action AS Action,
            arrayMap(
                (document, stages) -> CAST(
                    (v.SpanId, document,
                        arrayExists(rest -> rest.1 = document AND rest.2 = 'supports', c.Rests),
                        arraySort(arrayDistinct(arrayMap(rest -> rest.3, arrayFilter(rest -> rest.1 = document AND rest.2 = 'supports', c.Rests)))),
                        arraySort(arrayDistinct(arrayMap(rest -> rest.3, arrayFilter(rest -> rest.1 = document AND rest.2 = 'contradicts', c.Rests)))),
                        arraySort(arrayDistinct(arrayMap(rest -> rest.3, arrayFilter(rest -> rest.1 = document AND rest.2 = 'limits', c.Rests)))),
                        splitByChar(',', toString(stages))),
                    'Tuple(answer String, id String, used Bool, supports Array(UInt16), contradicts Array(UInt16), limits Array(UInt16), stages Array(String))'
                ),
                v.Ids, v.Stages
            ) AS Documents
        FROM verdicts AS v
        LEFT JOIN claims AS c ON c.TraceId = v.TraceId AND c.SpanId = v.SpanId AND c.VerifierId = v.VerifierId
    ),
    traces AS (
        SELECT TraceId, groupArrayArray(Documents) AS Documents FROM answers GROUP BY TraceId
    ),
    hasAny(
        arrayMap(key -> lower(trim(BOTH '" ' FROM t.SpanAttributes[key])), [
            'openinference.span.kind', 'gen_ai.span.kind', 'fi.span.kind', 'langfuse.observation.type',
            'ai.operationId', 'ai.observability.span_type', 'langsmith.span.kind', 'mlflow.spanType',
            'gen_ai.operation.name', 'llm.request.type'
        ]),
        [
            'retriever', 'reranker', 'vector_db', 'retrieval', 'reranking', 'search_memory',
            'vector_db_retrieve', 'ai.rerank', 'ai.rerank.dorerank', 'rerank'
        ]
    ) OR arrayExists(
        key -> match(key, '^(retrieval[.]documents|reranker|gen_ai[.]retrieval|gen_ai[.]reranker|ai[.]observability[.](retrieval|reranking)|db[.]vector|db[.](query|search)[.]result)([.]|$)'),
        arrayConcat(mapKeys(t.SpanAttributes), t.Events.Name)
    ) AS Retrieves,
    -- A span carries the documents that it names by an id or, where they have none, by their text. A
    -- span whose documents cannot be identified carries all documents of its trace.
    arrayConcat(
        arrayZip(mapKeys(t.SpanAttributes), mapValues(t.SpanAttributes)),
        arrayFlatten(arrayMap(one -> arrayZip(mapKeys(one), mapValues(one)), t.Events.Attributes))
    ) AS Said,
    arrayMap(one -> one.2, arrayFilter(one -> match(one.1, '(?i)id'), Said)) AS Names,
    arrayMap(value -> concat('sha256:', substring(lower(hex(SHA256(value))), 1, 12)), arrayMap(one -> one.2, Said)) AS Digests,
    arrayFilter(
        document -> has(Names, replaceRegexpOne(document.2, '~[0-9]+$', '')) OR has(Digests, document.2)
            OR arrayExists(value -> position(value, concat('"', replaceRegexpOne(document.2, '~[0-9]+$', ''), '"')) > 0, arrayMap(one -> one.2, Said)),
        d.Documents
    ) AS Named,
    if(Retrieves, if(empty(Named), d.Documents, Named), []) AS Shown
SELECT
    t.Timestamp AS Timestamp, t.TraceId AS TraceId, t.SpanId AS SpanId,
    t.ParentSpanId AS ParentSpanId, t.TraceState AS TraceState, t.SpanName AS SpanName,
    t.SpanKind AS SpanKind, t.ServiceName AS ServiceName,
    t.ResourceAttributes AS ResourceAttributes, t.ScopeName AS ScopeName,
    t.ScopeVersion AS ScopeVersion,
    CAST(mapUpdate(
        CAST(t.SpanAttributes, 'Map(String, String)'),
        mapFilter((key, value) -> value != '', map(
            'rt4chart.label', a.Label,
            'rt4chart.hallucination_rate', if(a.Decided > 0, toString(a.Unfaithful / a.Decided), ''),
            'rt4chart.misleading_rate', if(a.Decided > 0 AND a.Checked = 'fully', toString(a.Misleading / a.Decided), ''),
            'rt4chart.claim_counts.entailed', if(a.Label != '', toString(a.Counts['entailed']), ''),
            'rt4chart.claim_counts.contradicted', if(a.Label != '', toString(a.Counts['contradicted']), ''),
            'rt4chart.claim_counts.baseless', if(a.Label != '', toString(a.Counts['baseless']), ''),
            'rt4chart.claim_counts.undecided', if(a.Label != '', toString(a.Counts['undecided']), ''),
            'rt4chart.statuses', if(notEmpty(a.Statuses), toJSONString(a.Statuses), ''),
            'rt4chart.findings', if(a.Findings NOT IN ('', '[]'), a.Findings, ''),
            'rt4chart.action', a.Action,
            'rt4chart.claims', if(a.Label != '', toJSONString(a.Claims), ''),
            'rt4chart.documents', if(notEmpty(Shown), toJSONString(Shown), '')
        ))
    ), 'Map(LowCardinality(String), String)') AS SpanAttributes,
    t.Duration AS Duration, t.StatusCode AS StatusCode, t.StatusMessage AS StatusMessage,
    t.Events.Timestamp AS `Events.Timestamp`, t.Events.Name AS `Events.Name`,
    t.Events.Attributes AS `Events.Attributes`, t.Links.TraceId AS `Links.TraceId`,
    t.Links.SpanId AS `Links.SpanId`, t.Links.TraceState AS `Links.TraceState`,
    t.Links.Attributes AS `Links.Attributes`
FROM {database}.otel_traces AS t
LEFT ANY JOIN answers AS a ON a.TraceId = t.TraceId AND a.SpanId = t.SpanId
LEFT ANY JOIN traces AS d ON d.TraceId = t.TraceId;

DROP VIEW IF EXISTS {database}.rt4chart_rates;

-- For queries of your own. One row per measure, five minutes (Tick), route, verifier, environment, model,
-- prompt version and release: the rate of that measure with its 95 % interval. Measure is 'unfaithful'
-- (contradicted or baseless), 'misleading' (entailed, with a status other than supported) or 'either';
-- the last two are of the answers that were checked for misleading claims. Counts, W… and the moments
-- add up over rows of one measure; Rate, Low and High do not. Counted is the number of claims that the
-- measure counts, Rate its weighted share of the Decided (n) claims. With m decided and x counted claims
-- and the weight w = 1 / SampleRate of an answer, WM is the sum of w·m, WWXX that of w²·x², and so on:
-- what the interval is made of (docs/understand/rates.md).
CREATE VIEW IF NOT EXISTS {database}.rt4chart_rates_by_measure AS
WITH
    1.959963984540054 AS z,
    least(WX / nullIf(WM, 0), 1) AS p,
    p * (1 - p) * WWM / pow(WM, 2) AS binomial,
    if(Answers < 2 OR binomial <= 0,
        1 + 0.2 * (greatest(Decided / greatest(Answers, 1), 1) - 1),
        greatest(1, Answers / (Answers - 1) * greatest(WWXX - 2 * p * WWXM + p * p * WWMM, 0) / pow(WM, 2) / binomial)
    ) AS effect,
    pow(WM, 2) / nullIf(WWM, 0) / effect AS size,
    z * z / size AS spread,
    z / (1 + spread) * sqrt(p * (1 - p) / size + spread / (4 * size)) AS half,
    (p + spread / 2) / (1 + spread) AS centre
SELECT Measure, ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release,
    Answers, FailedAnswers, Decided, Counted, WM, WX, WWM, WWXX, WWXM, WWMM,
    p AS Rate, if(WM > 0, greatest(centre - half, 0), NULL) AS Low,
    if(WM > 0, least(centre + half, 1), NULL) AS High
FROM (
    SELECT Measure, ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release,
        sum(N) AS Answers, sumIf(N, x > 0) AS FailedAnswers,
        toInt64(sum(N * m)) AS Decided, toInt64(sum(N * claims)) AS Counted,
        sum(N * w * m) AS WM, sum(N * w * x) AS WX,
        sum(N * w * w * m) AS WWM, sum(N * w * w * x * x) AS WWXX, sum(N * w * w * x * m) AS WWXM,
        sum(N * w * w * m * m) AS WWMM
    FROM (
        SELECT ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release,
            if(SampleRate > 0, 1 / SampleRate, 0) AS w,
            toFloat64(rt4chart_route_5m.Decided) AS m, measure.1 AS Measure,
            measure.2 AS claims, measure.3 AS x, sum(rt4chart_route_5m.Answers) AS N
        FROM {database}.rt4chart_route_5m
        ARRAY JOIN arrayFilter(one -> one.1 = 'unfaithful' OR Checked != 'no', [
            ('unfaithful', toUInt32(Unfaithful), toFloat64(Unfaithful)),
            ('misleading', toUInt32(Misleading), MisleadingWeight),
            ('either', toUInt32(Unfaithful + Misleading), Unfaithful + MisleadingWeight)
        ]) AS measure
        WHERE Decision = 'verified'
        GROUP BY ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release,
            w, m, measure
        HAVING N > 0
    )
    GROUP BY Measure, ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release
);

-- As in 0001, the unfaithful claims, with the number of the misleading ones beside them.
CREATE VIEW IF NOT EXISTS {database}.rt4chart_rates AS
WITH
    1.959963984540054 AS z,
    WX / nullIf(WM, 0) AS p,
    p * (1 - p) * WWM / pow(WM, 2) AS binomial,
    if(Answers < 2 OR binomial <= 0,
        1 + 0.2 * (greatest(Decided / greatest(Answers, 1), 1) - 1),
        greatest(1, Answers / (Answers - 1) * greatest(WWXX - 2 * p * WWXM + p * p * WWMM, 0) / pow(WM, 2) / binomial)
    ) AS effect,
    pow(WM, 2) / nullIf(WWM, 0) / effect AS size,
    z * z / size AS spread,
    z / (1 + spread) * sqrt(p * (1 - p) / size + spread / (4 * size)) AS half,
    (p + spread / 2) / (1 + spread) AS centre
SELECT ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release,
    Answers, UnfaithfulAnswers, Decided, Entailed, Contradicted, Baseless, Undecided, Misleading,
    WEntailed, WContradicted, WBaseless, WUndecided, WM, WX, WWM, WWXX, WWXM, WWMM,
    p AS Rate, if(WM > 0, greatest(centre - half, 0), NULL) AS Low,
    if(WM > 0, least(centre + half, 1), NULL) AS High
FROM (
    SELECT ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release,
        sum(N) AS Answers, sumIf(N, x > 0) AS UnfaithfulAnswers,
        toInt64(sum(N * m)) AS Decided, toInt64(sum(N * (m - x))) AS Entailed,
        sum(C) AS Contradicted, sum(B) AS Baseless, sum(U) AS Undecided, sum(Y) AS Misleading,
        sum(N * w * (m - x)) AS WEntailed, sum(w * C) AS WContradicted, sum(w * B) AS WBaseless,
        sum(w * U) AS WUndecided, sum(N * w * m) AS WM, sum(N * w * x) AS WX,
        sum(N * w * w * m) AS WWM, sum(N * w * w * x * x) AS WWXX, sum(N * w * w * x * m) AS WWXM,
        sum(N * w * w * m * m) AS WWMM
    FROM (
        SELECT ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release,
            if(SampleRate > 0, 1 / SampleRate, 0) AS w,
            toFloat64(rt4chart_route_5m.Decided) AS m, toFloat64(Unfaithful) AS x,
            sum(rt4chart_route_5m.Answers) AS N, sum(rt4chart_route_5m.Contradicted) AS C,
            sum(rt4chart_route_5m.Baseless) AS B, sum(rt4chart_route_5m.Undecided) AS U,
            toInt64(sum(rt4chart_route_5m.Answers * rt4chart_route_5m.Misleading)) AS Y
        FROM {database}.rt4chart_route_5m
        WHERE Decision = 'verified'
        GROUP BY ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release,
            w, m, x
        HAVING N > 0
    )
    GROUP BY ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release
);

DROP VIEW IF EXISTS {database}.rt4chart_unfaithful_claims;

-- The unfaithful and the misleading claims, each with its question, answer and evidence, and with its
-- issue by the id that rt4chart issues prints: the issue into which its own was merged, or empty where it
-- has none. Relations has one of supports, contradicts and limits for each piece of Evidence. AnswerStart
-- and AnswerEnd are characters of the answer.
CREATE VIEW IF NOT EXISTS {database}.rt4chart_failures AS
WITH (
    SELECT CAST((groupArray(IssueId), groupArray(Other)), 'Map(UInt64, UInt64)')
    FROM (
        SELECT IssueId, argMax(Value, (At, EventId)) AS Last,
            reinterpretAsUInt64(reverse(unhex(leftPad(Last, 16, '0')))) AS Other
        FROM {database}.rt4chart_issue_events
        WHERE Kind = 'merged'
        GROUP BY IssueId
        HAVING Last != ''
    )
) AS merged
SELECT c.Timestamp AS Timestamp, c.ServiceName AS ServiceName, c.Route AS Route,
    c.VerifierId AS VerifierId, c.Environment AS Environment, c.Model AS Model,
    v.PromptVersion AS PromptVersion, v.Release AS Release,
    c.TraceId AS TraceId, c.SpanId AS SpanId, c.ClaimIndex AS ClaimIndex,
    v.Question AS Question, c.Claim AS Claim, toString(c.Label) AS Label, c.Status AS Status, c.CheckRate AS CheckRate, c.Reason AS Reason,
    c.Confidence AS Confidence, c.DecidedBy AS DecidedBy, c.Documents AS Documents,
    c.Evidence AS Evidence, c.Relations AS Relations, c.Nearest AS Nearest, c.AnswerStart AS AnswerStart,
    c.AnswerEnd AS AnswerEnd, v.Answer AS Answer, v.SampleRate AS SampleRate,
    if(a.IssueId = 0, '', leftPad(lower(hex(a.IssueId)), 16, '0')) AS Issue, i.Title AS IssueTitle
FROM (
    SELECT Timestamp, ServiceName, Route, VerifierId, Environment, Model, TraceId, SpanId, ClaimIndex,
        Claim, Label, Status, CheckRate, Reason, Confidence, DecidedBy, Evidence.DocId AS Documents,
        Evidence.Text AS Evidence, Evidence.Relation AS Relations, Nearest, AnswerStart, AnswerEnd
    FROM {database}.rt4chart_claims FINAL
    WHERE IsDeleted = 0 AND (Label IN ('contradicted', 'baseless') OR Label = 'entailed' AND Status NOT IN ('supported', 'undecided'))
) AS c
INNER JOIN (
    SELECT Timestamp, ServiceName, Route, VerifierId, TraceId, SpanId, PromptVersion, Release,
        SampleRate, Question, Answer
    FROM {database}.rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified'
) AS v ON v.Timestamp = c.Timestamp AND v.ServiceName = c.ServiceName AND v.Route = c.Route
    AND v.VerifierId = c.VerifierId AND v.TraceId = c.TraceId AND v.SpanId = c.SpanId
LEFT JOIN (
    SELECT Timestamp, ServiceName, Route, TraceId, SpanId, toUInt16(ClaimIndex) AS ClaimIndex,
        arrayFold((issue, step) -> if(mapContains(merged, issue), merged[issue], issue), range(9), IssueId) AS IssueId
    FROM {database}.rt4chart_issue_assignments FINAL
    WHERE IsDeleted = 0 AND rt4chart_issue_assignments.ClaimIndex >= 0
) AS a ON a.Timestamp = c.Timestamp AND a.ServiceName = c.ServiceName AND a.Route = c.Route
    AND a.TraceId = c.TraceId AND a.SpanId = c.SpanId AND a.ClaimIndex = c.ClaimIndex
LEFT JOIN (
    SELECT IssueId, Title FROM {database}.rt4chart_issues FINAL WHERE IsDeleted = 0
) AS i ON i.IssueId = a.IssueId;

-- The contradicted and baseless ones of these.
CREATE VIEW IF NOT EXISTS {database}.rt4chart_unfaithful_claims AS
SELECT * FROM {database}.rt4chart_failures WHERE Label IN ('contradicted', 'baseless');
