-- Joint is the vector that places a failure among those of all patterns and routes of its service: what went
-- wrong, how it is said, what it is about, and where. JointVersion says how it was made; vectors of two
-- versions or embedding models must not be compared. Rows of earlier versions have none.
ALTER TABLE {database}.rt4chart_failure_embeddings
    ADD COLUMN IF NOT EXISTS JointVersion LowCardinality(String) AFTER Embedding,
    ADD COLUMN IF NOT EXISTS Joint Array(Float32) CODEC(ZSTD(1)) AFTER JointVersion;

-- How much a failure belongs to each issue of its service, by soft clustering of the joint vectors: one row for
-- each of the newest failures. Shares are those of Issues, the largest first; the rest up to 1 belongs to no
-- issue. Outlier goes from 0 to 1. A row counts if DescriptionVersion is that of the failure's description.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_issue_memberships (
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ClaimIndex Int32,
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Issues Array(UInt64) CODEC(ZSTD(1)),
    Shares Array(Float32) CODEC(ZSTD(1)),
    Outlier Float32,
    DescriptionVersion UInt64,
    Version UInt64
) ENGINE = ReplacingMergeTree(Version)
PARTITION BY toYYYYMM(Timestamp)
ORDER BY (TraceId, SpanId, ClaimIndex)
TTL toDate(Timestamp) + toIntervalDay({ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;
