-- For those who ask the database themselves. One row per five minutes (Tick), route, verifier,
-- environment, model, prompt version and release: what the verified answers' claims were found to be,
-- and their rate with its 95 % interval. Counts, W… and the moments add up over rows, Rate, Low and
-- High do not. Decided (n) are the claims that Rate is a share of. With m decided and x unfaithful
-- claims and the weight w = 1 / SampleRate of an answer, WM is the sum of w·m, WWXX that of w²·x²,
-- and so on: what the interval is made of (docs/rates.md).
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
    Answers, UnfaithfulAnswers, Decided, Entailed, Contradicted, Baseless, Undecided,
    WEntailed, WContradicted, WBaseless, WUndecided, WM, WX, WWM, WWXX, WWXM, WWMM,
    p AS Rate, if(WM > 0, greatest(centre - half, 0), NULL) AS Low,
    if(WM > 0, least(centre + half, 1), NULL) AS High
FROM (
    SELECT ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release,
        sum(N) AS Answers, sumIf(N, x > 0) AS UnfaithfulAnswers,
        toInt64(sum(N * m)) AS Decided, toInt64(sum(N * (m - x))) AS Entailed,
        sum(C) AS Contradicted, sum(B) AS Baseless, sum(U) AS Undecided,
        sum(N * w * (m - x)) AS WEntailed, sum(w * C) AS WContradicted, sum(w * B) AS WBaseless,
        sum(w * U) AS WUndecided, sum(N * w * m) AS WM, sum(N * w * x) AS WX,
        sum(N * w * w * m) AS WWM, sum(N * w * w * x * x) AS WWXX, sum(N * w * w * x * m) AS WWXM,
        sum(N * w * w * m * m) AS WWMM
    FROM (
        SELECT ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release,
            if(SampleRate > 0, 1 / SampleRate, 0) AS w,
            toFloat64(rt4chart_route_5m.Decided) AS m, toFloat64(Unfaithful) AS x,
            sum(rt4chart_route_5m.Answers) AS N, sum(rt4chart_route_5m.Contradicted) AS C,
            sum(rt4chart_route_5m.Baseless) AS B, sum(rt4chart_route_5m.Undecided) AS U
        FROM {database}.rt4chart_route_5m
        WHERE Decision = 'verified'
        GROUP BY ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release,
            w, m, x
        HAVING N > 0
    )
    GROUP BY ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release
);

-- How much of the traffic has a verdict: all answers that were found, by what became of them. SampledOut
-- were left out by rates, limits or budgets, Unreadable came without text or passages or with a part of
-- them, Failed met a judge that failed or a queue that was full. All columns but the shares add up.
CREATE VIEW IF NOT EXISTS {database}.rt4chart_coverage AS
SELECT ServiceName, Route, VerifierId, Tick, Answers, Verified, SampledOut, Unreadable, Failed,
    Decided, Undecided, Verified / Answers AS VerifiedShare,
    Undecided / nullIf(Decided + Undecided, 0) AS UndecidedShare
FROM (
    SELECT ServiceName, Route, VerifierId, Tick, sum(a.Answers) AS Answers,
        sumIf(a.Answers, Decision = 'verified') AS Verified,
        sumIf(a.Answers, Decision IN ('not_sampled', 'throttled', 'over_budget')) AS SampledOut,
        sumIf(a.Answers, Decision IN ('no_content', 'redacted', 'truncated', 'no_context')) AS Unreadable,
        sumIf(a.Answers, Decision IN ('queue_full', 'error')) AS Failed,
        toInt64(sum(a.Answers * a.Decided)) AS Decided, sum(a.Undecided) AS Undecided
    FROM {database}.rt4chart_route_5m AS a
    GROUP BY ServiceName, Route, VerifierId, Tick
    HAVING Answers > 0
);

-- The claims that are contradicted or baseless, each with its question and answer, the evidence, and
-- the issue that it belongs to, by the id that rt4chart issues prints: of a merged one the issue that
-- it was merged into, and empty where it belongs to none. AnswerStart and AnswerEnd are characters.
CREATE VIEW IF NOT EXISTS {database}.rt4chart_unfaithful_claims AS
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
    v.Question AS Question, c.Claim AS Claim, toString(c.Label) AS Label, c.Reason AS Reason,
    c.Confidence AS Confidence, c.DecidedBy AS DecidedBy, c.Documents AS Documents,
    c.Evidence AS Evidence, c.Nearest AS Nearest, c.AnswerStart AS AnswerStart,
    c.AnswerEnd AS AnswerEnd, v.Answer AS Answer, v.SampleRate AS SampleRate,
    if(a.IssueId = 0, '', leftPad(lower(hex(a.IssueId)), 16, '0')) AS Issue, i.Title AS IssueTitle
FROM (
    SELECT Timestamp, ServiceName, Route, VerifierId, Environment, Model, TraceId, SpanId, ClaimIndex,
        Claim, Label, Reason, Confidence, DecidedBy, Evidence.DocId AS Documents,
        Evidence.Text AS Evidence, Nearest, AnswerStart, AnswerEnd
    FROM {database}.rt4chart_claims FINAL
    WHERE IsDeleted = 0 AND Label IN ('contradicted', 'baseless')
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
