DROP VIEW IF EXISTS {database}.otel_traces_verified;

-- As in 0003. An answer's span also names the stage in which most of its failed claims entered: of several the
-- first.
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
    blames AS (
        SELECT TraceId, SpanId, VerifierId,
            arrayMap(one -> one.2, arraySort(groupArray((ClaimIndex, Stage)))) AS Stages,
            arraySort(one -> (-countEqual(Stages, one), indexOf(Stages, one)), arrayDistinct(Stages))[1] AS Blamed
        FROM {database}.rt4chart_trails FINAL
        WHERE IsDeleted = 0 AND Stage != ''
        GROUP BY TraceId, SpanId, VerifierId
    ),
    answers AS (
        SELECT v.TraceId AS TraceId, v.SpanId AS SpanId, v.Label AS Label,
            map('entailed', v.Entailed, 'contradicted', v.Contradicted, 'baseless', v.Baseless, 'undecided', v.Undecided) AS Counts,
            v.Contradicted + v.Baseless AS Unfaithful, v.Entailed + v.Contradicted + v.Baseless AS Decided, c.Claims AS Claims,
            v.Misleading AS Misleading, v.Checked AS Checked, v.Statuses AS Statuses, v.Findings AS Findings, v.Action AS Action,
            b.Blamed AS Blamed,
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
        LEFT JOIN blames AS b ON b.TraceId = v.TraceId AND b.SpanId = v.SpanId AND b.VerifierId = v.VerifierId
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
            'rt4chart.blame.stage', a.Blamed,
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

DROP VIEW IF EXISTS {database}.rt4chart_unfaithful_claims;

DROP VIEW IF EXISTS {database}.rt4chart_failures;

-- As in 0003, with the Stage and the Step in which the claim entered, and Retrieval, as in rt4chart_trails; empty
-- where they are not known, or the claim was not traced.
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
    if(a.IssueId = 0, '', leftPad(lower(hex(a.IssueId)), 16, '0')) AS Issue, i.Title AS IssueTitle,
    t.Stage AS Stage, t.StepName AS Step, t.Retrieval AS Retrieval
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
) AS i ON i.IssueId = a.IssueId
LEFT JOIN (
    SELECT Timestamp, ServiceName, Route, VerifierId, TraceId, SpanId, ClaimIndex, Stage, StepName, Retrieval
    FROM {database}.rt4chart_trails FINAL WHERE IsDeleted = 0
) AS t ON t.Timestamp = c.Timestamp AND t.ServiceName = c.ServiceName AND t.Route = c.Route
    AND t.VerifierId = c.VerifierId AND t.TraceId = c.TraceId AND t.SpanId = c.SpanId AND t.ClaimIndex = c.ClaimIndex;

-- The contradicted and baseless ones of these.
CREATE VIEW IF NOT EXISTS {database}.rt4chart_unfaithful_claims AS
SELECT * FROM {database}.rt4chart_failures WHERE Label IN ('contradicted', 'baseless');
