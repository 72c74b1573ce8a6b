-- Searches for words: which answers have three characters beside each other. Text as it is typed has any case, so the
-- index knows letters of the English alphabet as small ones.
ALTER TABLE {database}.rt4chart_verifications
    ADD INDEX IF NOT EXISTS idx_text lower(concat(Question, ' ', Answer)) TYPE text(tokenizer = ngrams(3));

-- The answers with a failed claim in the order of the number of these, for lists that begin with the worst: one row for
-- each measure that counts a claim of theirs. A row for each version that a verification had stays here: which is in
-- force, rt4chart_verifications says. The columns are those by which lists choose.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_failed_answers (
    Measure Enum8('unfaithful' = 1, 'misleading' = 2, 'either' = 3),
    Failures UInt32 CODEC(T64, ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    VerifierId LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Route LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    Model LowCardinality(String) CODEC(ZSTD(1)),
    PromptVersion LowCardinality(String) CODEC(ZSTD(1)),
    Release LowCardinality(String) CODEC(ZSTD(1)),
    Decision LowCardinality(String) CODEC(ZSTD(1)),
    Label Enum8('entailed' = 1, 'contradicted' = 2, 'baseless' = 3, 'undecided' = 4, 'no_claims' = 5, 'none' = 6),
    EntailedCount UInt16 CODEC(T64, ZSTD(1)),
    ContradictedCount UInt16 CODEC(T64, ZSTD(1)),
    BaselessCount UInt16 CODEC(T64, ZSTD(1)),
    MisleadingCount UInt16 CODEC(T64, ZSTD(1)),
    Statuses Map(String, Float64) CODEC(ZSTD(1)),
    Version UInt64 CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(Version)
PARTITION BY toDate(Timestamp)
ORDER BY (Measure, Failures, Timestamp, TraceId, SpanId, VerifierId)
TTL toDate(Timestamp) + toIntervalDay({ttl_days})
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.rt4chart_failed_answers_mv
TO {database}.rt4chart_failed_answers AS
SELECT counted.1 AS Measure, counted.2 AS Failures, Timestamp, TraceId, SpanId, VerifierId, ServiceName, Route,
    Environment, Model, PromptVersion, Release, Decision, Label, EntailedCount, ContradictedCount, BaselessCount,
    MisleadingCount, Statuses, Version
FROM {database}.rt4chart_verifications
ARRAY JOIN [
    ('unfaithful', toUInt32(ContradictedCount) + BaselessCount),
    ('misleading', toUInt32(MisleadingCount)),
    ('either', toUInt32(ContradictedCount) + BaselessCount + MisleadingCount)
] AS counted
WHERE IsDeleted = 0 AND ContradictedCount + BaselessCount + MisleadingCount > 0 AND counted.2 > 0;

-- Those from before this migration; a day is a partition.
INSERT INTO {database}.rt4chart_failed_answers (Measure, Failures, Timestamp, TraceId, SpanId, VerifierId, ServiceName,
    Route, Environment, Model, PromptVersion, Release, Decision, Label, EntailedCount, ContradictedCount,
    BaselessCount, MisleadingCount, Statuses, Version)
SELECT counted.1, counted.2, Timestamp, TraceId, SpanId, VerifierId, ServiceName, Route,
    Environment, Model, PromptVersion, Release, Decision, Label, EntailedCount, ContradictedCount, BaselessCount,
    MisleadingCount, Statuses, Version
FROM {database}.rt4chart_verifications
ARRAY JOIN [
    ('unfaithful', toUInt32(ContradictedCount) + BaselessCount),
    ('misleading', toUInt32(MisleadingCount)),
    ('either', toUInt32(ContradictedCount) + BaselessCount + MisleadingCount)
] AS counted
WHERE IsDeleted = 0 AND ContradictedCount + BaselessCount + MisleadingCount > 0 AND counted.2 > 0
SETTINGS max_partitions_per_insert_block = 0;
