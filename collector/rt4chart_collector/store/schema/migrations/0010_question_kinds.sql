-- The kind of question: its form, its language and whether it is long. Rates of kinds differ, so the drift
-- detector compares each answer with others of its kind. Earlier answers, and those without a verdict, have none.
ALTER TABLE {database}.rt4chart_verifications
    ADD COLUMN IF NOT EXISTS QuestionKind LowCardinality(String) AFTER Question;

DROP VIEW IF EXISTS {database}.rt4chart_route_5m_mv;

ALTER TABLE {database}.rt4chart_route_5m
    ADD COLUMN IF NOT EXISTS QuestionKind LowCardinality(String) AFTER Checked,
    MODIFY ORDER BY (ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release, Decision, SampleRate, Decided, Unfaithful, Misleading, MisleadingWeight, Checked, QuestionKind);

-- As in 0003, by kind of question too.
CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.rt4chart_route_5m_mv
TO {database}.rt4chart_route_5m AS
WITH if(IsDeleted = 1, -1, 1) AS sign
SELECT ServiceName, Route, VerifierId, toStartOfFiveMinutes(Timestamp) AS Tick,
    Environment, Model, PromptVersion, Release, Decision, SampleRate,
    toUInt16(EntailedCount + ContradictedCount + BaselessCount) AS Decided,
    toUInt16(ContradictedCount + BaselessCount) AS Unfaithful,
    MisleadingCount AS Misleading, MisleadingWeight, Checked, QuestionKind,
    sum(toInt64(sign)) AS Answers,
    sum(toInt64(sign * ContradictedCount)) AS Contradicted,
    sum(toInt64(sign * BaselessCount)) AS Baseless,
    sum(toInt64(sign * UndecidedCount)) AS Undecided,
    sumMap(mapApply((status, claims) -> (status, sign * claims), v.Statuses)) AS Statuses,
    sum(toInt64(sign * (Citations > 0))) AS CitingAnswers,
    sum(toInt64(sign * (CitationErrors > 0))) AS MiscitingAnswers
FROM {database}.rt4chart_verifications AS v
GROUP BY ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release, Decision, SampleRate, Decided, Unfaithful, Misleading, MisleadingWeight, Checked, QuestionKind;
