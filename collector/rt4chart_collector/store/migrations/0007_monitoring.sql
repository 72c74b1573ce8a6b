-- Which release of the application gave the answer (service.version of its resource).
ALTER TABLE {database}.rt4chart_verifications
    ADD COLUMN IF NOT EXISTS Release LowCardinality(String) CODEC(ZSTD(1)) AFTER PromptVersion;

-- How many answers had how many unfaithful of how many decided claims, per five minutes: from this
-- rates, their intervals and the drift's evidence follow exactly. Decided claims are the entailed, the
-- contradicted and the baseless ones. Answers that were not verified are here with their decision.
-- Signed, as the sums per minute are.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_route_5m (
    ServiceName LowCardinality(String),
    Route LowCardinality(String),
    VerifierId LowCardinality(String),
    Tick DateTime('UTC') CODEC(Delta, ZSTD(1)),
    Environment LowCardinality(String),
    Model LowCardinality(String),
    PromptVersion LowCardinality(String),
    Release LowCardinality(String),
    Decision LowCardinality(String),
    SampleRate Float64 CODEC(ZSTD(1)),
    Decided UInt16,
    Unfaithful UInt16,
    Answers SimpleAggregateFunction(sum, Int64),
    Contradicted SimpleAggregateFunction(sum, Int64),
    Baseless SimpleAggregateFunction(sum, Int64),
    Undecided SimpleAggregateFunction(sum, Int64)
) ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(Tick)
ORDER BY (ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release, Decision, SampleRate, Decided, Unfaithful)
TTL Tick + toIntervalDay({rollup_ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.rt4chart_route_5m_mv
TO {database}.rt4chart_route_5m AS
WITH if(IsDeleted = 1, -1, 1) AS sign
SELECT ServiceName, Route, VerifierId, toStartOfFiveMinutes(Timestamp) AS Tick,
    Environment, Model, PromptVersion, Release, Decision, SampleRate,
    toUInt16(EntailedCount + ContradictedCount + BaselessCount) AS Decided,
    toUInt16(ContradictedCount + BaselessCount) AS Unfaithful,
    sum(toInt64(sign)) AS Answers,
    sum(toInt64(sign * ContradictedCount)) AS Contradicted,
    sum(toInt64(sign * BaselessCount)) AS Baseless,
    sum(toInt64(sign * UndecidedCount)) AS Undecided
FROM {database}.rt4chart_verifications
GROUP BY ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release, Decision, SampleRate, Decided, Unfaithful;

-- What the drift detector found at each tick: natural logarithms of its evidence without the dead band
-- (Warn) and with it (Page), and what they were measured against. Shares are of claims; Detectable is
-- the smallest rise that can be found within 90 minutes, 0 where that is not known. Read it with FINAL.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_drift (
    ServiceName LowCardinality(String),
    Route LowCardinality(String),
    VerifierId LowCardinality(String),
    Tick DateTime('UTC') CODEC(Delta, ZSTD(1)),
    State LowCardinality(String),
    Warn Float64 CODEC(ZSTD(1)),
    Page Float64 CODEC(ZSTD(1)),
    WarnAt Float64 CODEC(ZSTD(1)),
    PageAt Float64 CODEC(ZSTD(1)),
    Baseline Float64 CODEC(ZSTD(1)),
    DeadBand Float64 CODEC(ZSTD(1)),
    BaselineClaims UInt64 CODEC(ZSTD(1)),
    Detectable Float64 CODEC(ZSTD(1)),
    Version UInt64 CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(Version)
PARTITION BY toYYYYMM(Tick)
ORDER BY (ServiceName, Route, VerifierId, Tick)
TTL Tick + toIntervalDay({rollup_ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;

-- What happened to an alert: fired, updated, resolved, acknowledged, notified, failed. Its state is read
-- from here; nothing is ever replaced. Body is JSON.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_alert_events (
    AlertId String CODEC(ZSTD(1)),
    At DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    EventId String CODEC(ZSTD(1)),
    Kind LowCardinality(String),
    Rule LowCardinality(String),
    Severity LowCardinality(String),
    ServiceName LowCardinality(String),
    Route LowCardinality(String),
    IssueId UInt64,
    Title String CODEC(ZSTD(3)),
    Body String CODEC(ZSTD(3)),
    Actor String CODEC(ZSTD(1)),
    Note String CODEC(ZSTD(3))
) ENGINE = ReplacingMergeTree
ORDER BY (AlertId, At, EventId)
TTL toDate(At) + toIntervalDay({rollup_ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;

-- When nobody is told of which alerts: snoozes and maintenance windows. Matchers is JSON, a name of an
-- alert's label to its value; read it with FINAL.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_silences (
    SilenceId String CODEC(ZSTD(1)),
    Matchers String CODEC(ZSTD(1)),
    Starts DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    Ends DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    Actor String CODEC(ZSTD(1)),
    Note String CODEC(ZSTD(3)),
    Version UInt64 CODEC(ZSTD(1)),
    IsDeleted UInt8
) ENGINE = ReplacingMergeTree(Version, IsDeleted)
ORDER BY SilenceId
TTL toDate(Ends) + toIntervalDay({rollup_ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;

-- The sampling rates that the monitor asked for, until when, and why.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_sampling_rates (
    ServiceName LowCardinality(String),
    Route LowCardinality(String),
    At DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Rate Float64 CODEC(ZSTD(1)),
    Until DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    Reason LowCardinality(String)
) ENGINE = ReplacingMergeTree
ORDER BY (ServiceName, Route, At)
TTL toDate(At) + toIntervalDay({ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;

-- What people think of a verdict: of a claim, or with ClaimIndex -1 of the whole answer. Label is the
-- one that they saw, Correct the one that they would give, empty where they did not say.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_feedback (
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Route LowCardinality(String) CODEC(ZSTD(1)),
    VerifierId LowCardinality(String) CODEC(ZSTD(1)),
    ClaimIndex Int32 CODEC(T64, ZSTD(1)),
    Label LowCardinality(String),
    Opinion Enum8('agree' = 1, 'disagree' = 2),
    Correct LowCardinality(String),
    Actor String CODEC(ZSTD(1)),
    Note String CODEC(ZSTD(3)),
    At DateTime64(9, 'UTC') CODEC(ZSTD(1)),
    Version UInt64 CODEC(ZSTD(1)),
    IsDeleted UInt8
) ENGINE = ReplacingMergeTree(Version, IsDeleted)
PARTITION BY toYYYYMM(Timestamp)
ORDER BY (ServiceName, Route, TraceId, SpanId, VerifierId, ClaimIndex, Actor)
TTL toDate(Timestamp) + toIntervalDay({rollup_ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;
