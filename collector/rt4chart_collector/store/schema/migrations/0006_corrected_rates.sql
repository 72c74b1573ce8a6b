-- The rates that labels correct: one row for each route, judge and day, written by the monitor and replaced
-- while the day lasts. A row is of the answers that began in [Since, Until). Raw is the flagged share of the
-- claims that the judge decided, Rate the share of all claims that are wrong, with Low and High (95%). Rate
-- is NULL until there are MoreLabels more labels. Covered is the share of the period's claims from which
-- labels were drawn. Precision and Recall are those of the judge, NULL where no label tells.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_corrected_rates (
    ServiceName LowCardinality(String),
    Route LowCardinality(String),
    VerifierId LowCardinality(String),
    Day DateTime('UTC') CODEC(Delta, ZSTD(1)),
    Since DateTime('UTC') CODEC(ZSTD(1)),
    Until DateTime('UTC') CODEC(ZSTD(1)),
    Raw Nullable(Float64) CODEC(ZSTD(1)),
    Rate Nullable(Float64) CODEC(ZSTD(1)),
    Low Nullable(Float64) CODEC(ZSTD(1)),
    High Nullable(Float64) CODEC(ZSTD(1)),
    Labels UInt32 CODEC(ZSTD(1)),
    MoreLabels UInt32 CODEC(ZSTD(1)),
    Covered Float64 CODEC(ZSTD(1)),
    Precision Nullable(Float64) CODEC(ZSTD(1)),
    PrecisionLow Nullable(Float64) CODEC(ZSTD(1)),
    PrecisionHigh Nullable(Float64) CODEC(ZSTD(1)),
    Recall Nullable(Float64) CODEC(ZSTD(1)),
    RecallLow Nullable(Float64) CODEC(ZSTD(1)),
    RecallHigh Nullable(Float64) CODEC(ZSTD(1)),
    Version UInt64 CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(Version)
PARTITION BY toYYYYMM(Day)
ORDER BY (ServiceName, Route, VerifierId, Day)
TTL Day + toIntervalDay({rollup_ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;
