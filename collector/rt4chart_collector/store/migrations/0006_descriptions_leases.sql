-- What a failure was described as stands with its vector, so that it is described once and grouped
-- where it lies. Version is the claim's plus one: a verdict made anew is described anew.
ALTER TABLE {database}.rt4chart_failure_embeddings
    ADD COLUMN IF NOT EXISTS ServiceName LowCardinality(String) CODEC(ZSTD(1)) AFTER ClaimIndex,
    ADD COLUMN IF NOT EXISTS Route LowCardinality(String) CODEC(ZSTD(1)) AFTER ServiceName,
    ADD COLUMN IF NOT EXISTS Fingerprint LowCardinality(String) CODEC(ZSTD(1)) AFTER Route;

-- The space of an issue's centroid; empty in rows of earlier versions.
ALTER TABLE {database}.rt4chart_issues
    ADD COLUMN IF NOT EXISTS EmbeddingModel LowCardinality(String) AFTER Centroid;

-- Who does what only one may do at a time, and until when. Read it with FINAL.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_leases (
    Name LowCardinality(String),
    Holder String CODEC(ZSTD(1)),
    Until DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    Version UInt64 CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(Version)
ORDER BY (Name, Holder)
TTL toDate(Until) + toIntervalDay({ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;
