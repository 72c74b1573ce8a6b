-- As in 0001, and Unreadable includes answers without text: their decision, no_answer, is new.
DROP VIEW IF EXISTS {database}.rt4chart_coverage;

CREATE VIEW IF NOT EXISTS {database}.rt4chart_coverage AS
SELECT ServiceName, Route, VerifierId, Tick, Answers, Verified, SampledOut, Unreadable, Failed,
    Decided, Undecided, Verified / Answers AS VerifiedShare,
    Undecided / nullIf(Decided + Undecided, 0) AS UndecidedShare
FROM (
    SELECT ServiceName, Route, VerifierId, Tick, sum(a.Answers) AS Answers,
        sumIf(a.Answers, Decision = 'verified') AS Verified,
        sumIf(a.Answers, Decision IN ('not_sampled', 'throttled', 'over_budget')) AS SampledOut,
        sumIf(a.Answers, Decision IN ('no_content', 'no_answer', 'redacted', 'truncated', 'no_context'))
            AS Unreadable,
        sumIf(a.Answers, Decision IN ('queue_full', 'error')) AS Failed,
        toInt64(sum(a.Answers * a.Decided)) AS Decided, sum(a.Undecided) AS Undecided
    FROM {database}.rt4chart_route_5m AS a
    GROUP BY ServiceName, Route, VerifierId, Tick
    HAVING Answers > 0
);
