-- The spans with what became of them, in the columns of otel_traces. An answer's span carries its
-- label, rate and claims; a span that retrieves carries, of each document, whether a claim rests on
-- it, which claims it supports and contradicts, and how far it came. Of an answer that several
-- verifiers judged, the verdict of the one that did so last. Claims are numbered within their answer.
CREATE VIEW IF NOT EXISTS {database}.otel_traces_verified AS
WITH
    verdicts AS (
        SELECT TraceId, SpanId,
            argMax(VerifierId, Version) AS VerifierId,
            argMax(toString(Label), Version) AS Label,
            argMax(EntailedCount, Version) AS Entailed,
            argMax(ContradictedCount + BaselessCount, Version) AS Unfaithful,
            argMax(Passages.Id, Version) AS Ids,
            argMax(Passages.Stages, Version) AS Stages
        FROM {database}.rt4chart_verifications FINAL
        WHERE IsDeleted = 0 AND Decision = 'verified'
        GROUP BY TraceId, SpanId
    ),
    claims AS (
        SELECT TraceId, SpanId, VerifierId,
            arraySort(claim -> claim.1, groupArray(CAST(
                (ClaimIndex, Claim, toString(Label), AnswerStart, AnswerEnd, Confidence, toString(Reason),
                    arrayMap(
                        (passage, start, stop, quote, relation) -> (passage, start, stop, quote, toString(relation)),
                        Evidence.DocId, Evidence.Start, Evidence.End, Evidence.Text, Evidence.Relation
                    )),
                'Tuple(id UInt16, text String, label String, start UInt32, end UInt32, confidence Float32, reason String, evidence Array(Tuple(passage String, start UInt32, end UInt32, text String, relation String)))'
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
            v.Entailed + v.Unfaithful AS Decided, v.Unfaithful AS Unfaithful, c.Claims AS Claims,
            arrayMap(
                (document, stages) -> CAST(
                    (v.SpanId, document,
                        arrayExists(rest -> rest.1 = document AND rest.2 = 'supports', c.Rests),
                        arraySort(arrayDistinct(arrayMap(rest -> rest.3, arrayFilter(rest -> rest.1 = document AND rest.2 = 'supports', c.Rests)))),
                        arraySort(arrayDistinct(arrayMap(rest -> rest.3, arrayFilter(rest -> rest.1 = document AND rest.2 = 'contradicts', c.Rests)))),
                        splitByChar(',', toString(stages))),
                    'Tuple(answer String, id String, used Bool, supports Array(UInt16), contradicts Array(UInt16), stages Array(String))'
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
    -- A span is shown the documents that it names, by an id or, as those without one are named, by
    -- their text; one whose documents cannot be told is shown all of its trace.
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
LEFT ANY JOIN traces AS d ON d.TraceId = t.TraceId
