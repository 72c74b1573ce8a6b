-- Answers that the judge failed on: those that are tried again (State 'waiting', at NextAttempt) and
-- those that are not ('dead'). Reason is a kind of failure, never the text of anybody. Read it with
-- FINAL; an answer that was verified after all is written once more with IsDeleted = 1.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_dead_letters (
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Route LowCardinality(String) CODEC(ZSTD(1)),
    VerifierId LowCardinality(String) CODEC(ZSTD(1)),
    State Enum8('waiting' = 1, 'dead' = 2),
    Reason LowCardinality(String) CODEC(ZSTD(1)),
    ErrorType LowCardinality(String) CODEC(ZSTD(1)),
    Attempts UInt16 CODEC(ZSTD(1)),
    FirstFailed DateTime64(9, 'UTC') CODEC(ZSTD(1)),
    LastFailed DateTime64(9, 'UTC') CODEC(ZSTD(1)),
    NextAttempt DateTime64(9, 'UTC') CODEC(ZSTD(1)),
    Version UInt64 CODEC(ZSTD(1)),
    IsDeleted UInt8
) ENGINE = ReplacingMergeTree(Version, IsDeleted)
PARTITION BY toDate(Timestamp)
ORDER BY (VerifierId, TraceId, SpanId)
TTL toDate(Timestamp) + toIntervalDay({ttl_days})
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;
