-- The runs that group failures into issues: one row for each, written when it has ended. Cause is interval,
-- failures (enough new ones came) or command. Error is empty for a run that completed, whose counts the other
-- columns have: Failures were described for the first time, Grouped were assigned to an issue, Waiting are in
-- none, no rule explains Unexplained; Created issues are new, Grown have more failures, Regressed were
-- resolved, and Proposed merges and splits wait for a person.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_grouping_runs (
    StartedAt DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    EndedAt DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    RunId String CODEC(ZSTD(1)),
    Cause LowCardinality(String),
    Error String CODEC(ZSTD(1)),
    Failures UInt64 CODEC(ZSTD(1)),
    Grouped UInt64 CODEC(ZSTD(1)),
    Waiting UInt64 CODEC(ZSTD(1)),
    Unexplained UInt64 CODEC(ZSTD(1)),
    Created UInt64 CODEC(ZSTD(1)),
    Grown UInt64 CODEC(ZSTD(1)),
    Regressed UInt64 CODEC(ZSTD(1)),
    Proposed UInt64 CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
ORDER BY (StartedAt, RunId)
TTL toDate(StartedAt) + toIntervalDay({ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;
