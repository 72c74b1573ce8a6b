-- The verdicts of custom criteria: one row for each answer, criterion and version of the criterion, which identifies
-- its definition and the model that decides. Read it with FINAL. SampleRate is the probability with which the answer
-- was judged by the criterion: that of its verification times the criterion's own rate. Reason is what a rule found or
-- what a model says; Quote are words of the answer, the question or a passage that a model named and that stand there.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_criteria (
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Route LowCardinality(String) CODEC(ZSTD(1)),
    VerifierId LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    Model LowCardinality(String) CODEC(ZSTD(1)),
    Release LowCardinality(String) CODEC(ZSTD(1)),
    Criterion LowCardinality(String) CODEC(ZSTD(1)),
    CriterionVersion LowCardinality(String) CODEC(ZSTD(1)),
    Kind LowCardinality(String) CODEC(ZSTD(1)),
    Judge LowCardinality(String) CODEC(ZSTD(1)),
    Outcome Enum8('pass' = 1, 'fail' = 2, 'not_applicable' = 3, 'undecided' = 4),
    SampleRate Float64 CODEC(ZSTD(1)),
    Reason String CODEC(ZSTD(3)),
    Quote String CODEC(ZSTD(3)),
    Version UInt64 CODEC(ZSTD(1)),
    IsDeleted UInt8,
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1
) ENGINE = ReplacingMergeTree(Version, IsDeleted)
PARTITION BY toDate(Timestamp)
PRIMARY KEY (ServiceName, Route, toStartOfFiveMinutes(Timestamp))
ORDER BY (ServiceName, Route, toStartOfFiveMinutes(Timestamp), TraceId, SpanId, Criterion, CriterionVersion)
TTL toDate(Timestamp) + toIntervalDay({ttl_days})
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;
