-- The history of recalibrations of judges, never expired: one row for each that was applied or taken back.
-- Number is that of the recalibration in force from At on, 0 for none; where it was applied, Knots has its
-- curves as JSON ({"flagged": [[stated, right], ...], "entailed": [...]}, a curve may be missing), and the
-- thresholds below which a verdict is undecided, 0 for none. Before and After are Brier scores of the stated
-- and of the new confidences, on answers that they were not fitted to.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_recalibrations (
    Judge LowCardinality(String),
    At DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Actor String CODEC(ZSTD(1)),
    Note String CODEC(ZSTD(1)),
    Action Enum8('applied' = 1, 'reverted' = 2),
    Number UInt32 CODEC(ZSTD(1)),
    Method LowCardinality(String),
    Knots String CODEC(ZSTD(1)),
    FlaggedThreshold Float64 CODEC(ZSTD(1)),
    EntailedThreshold Float64 CODEC(ZSTD(1)),
    Labels UInt32 CODEC(ZSTD(1)),
    Before Nullable(Float64) CODEC(ZSTD(1)),
    After Nullable(Float64) CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
ORDER BY (Judge, At, Actor)
SETTINGS non_replicated_deduplication_window = 1000;
