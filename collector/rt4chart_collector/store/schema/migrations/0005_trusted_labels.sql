-- Trusted labels on claims, by people or by judges that are named as trusted: one row for each version of
-- a rater's label on a claim. No row is ever replaced: of one rater and claim the highest Version counts,
-- and a label that was taken back has IsDeleted = 1 there. Label 'skipped' is no label: it says that the
-- rater has seen the claim. ClaimHash is a hash of the claim's text, which expires earlier. JudgeLabel,
-- Score, Weight and Stratum are what the judge said when the claim was drawn, or labelled. DrawId is empty
-- for a label on a claim that was not drawn by chance.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_labels (
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Route LowCardinality(String) CODEC(ZSTD(1)),
    VerifierId LowCardinality(String) CODEC(ZSTD(1)),
    ClaimIndex UInt16 CODEC(T64, ZSTD(1)),
    ClaimHash String CODEC(ZSTD(1)),
    JudgeLabel LowCardinality(String),
    Confidence Float32 CODEC(ZSTD(1)),
    Weight Float64 CODEC(ZSTD(1)),
    DrawId String CODEC(ZSTD(1)),
    Stratum LowCardinality(String),
    Rank Float64 CODEC(ZSTD(1)),
    Rate Float64 CODEC(ZSTD(1)),
    Probability Float64 CODEC(ZSTD(1)),
    Rater String CODEC(ZSTD(1)),
    RaterKind Enum8('person' = 1, 'judge' = 2),
    Source LowCardinality(String),
    Label Enum8('entailed' = 1, 'contradicted' = 2, 'baseless' = 3, 'cannot_tell' = 4, 'skipped' = 5),
    Status LowCardinality(String),
    IsBlind UInt8,
    Note String CODEC(ZSTD(3)),
    At DateTime64(9, 'UTC') CODEC(ZSTD(1)),
    Version UInt64 CODEC(ZSTD(1)),
    IsDeleted UInt8
) ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(At)
ORDER BY (ServiceName, Route, TraceId, SpanId, VerifierId, ClaimIndex, Rater, Version)
TTL toDate(At) + toIntervalDay({rollup_ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;

-- The draws of claims for labelling: one row for each draw and route. The claims are those that VerifierId
-- judged of answers that began in [Since, Until). Totals and Squares are the sums over the answers that an
-- estimate needs (otel_rt4chart/verify/rates/population.py), row by row, so that the rate of a draw
-- outlives its claims.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_label_draws (
    DrawId String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Route LowCardinality(String) CODEC(ZSTD(1)),
    VerifierId LowCardinality(String) CODEC(ZSTD(1)),
    Seed String CODEC(ZSTD(1)),
    Size UInt32,
    DoubleShare Float64,
    Since DateTime64(9, 'UTC'),
    Until DateTime64(9, 'UTC'),
    Strata Array(LowCardinality(String)),
    Answers UInt64,
    Claims UInt64,
    Totals Array(Float64),
    Squares Array(Float64),
    Actor String CODEC(ZSTD(1)),
    At DateTime64(9, 'UTC') CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
ORDER BY (DrawId, ServiceName, Route)
TTL toDate(At) + toIntervalDay({rollup_ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;

-- The claims of each draw, in the order of Rank within a route (otel_rt4chart/verify/rates/label_queue.py).
-- Weight is 1 / the answer's sampling rate, Raters is how many people should label the claim.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_label_queue (
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Route LowCardinality(String) CODEC(ZSTD(1)),
    VerifierId LowCardinality(String) CODEC(ZSTD(1)),
    ClaimIndex UInt16 CODEC(T64, ZSTD(1)),
    ClaimHash String CODEC(ZSTD(1)),
    JudgeLabel LowCardinality(String),
    Confidence Float32 CODEC(ZSTD(1)),
    Weight Float64 CODEC(ZSTD(1)),
    DrawId String CODEC(ZSTD(1)),
    Stratum LowCardinality(String),
    Rank Float64 CODEC(ZSTD(1)),
    Rate Float64 CODEC(ZSTD(1)),
    Probability Float64 CODEC(ZSTD(1)),
    Raters UInt8,
    At DateTime64(9, 'UTC') CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
ORDER BY (DrawId, ServiceName, Route, TraceId, SpanId, ClaimIndex)
TTL toDate(At) + toIntervalDay({rollup_ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;
