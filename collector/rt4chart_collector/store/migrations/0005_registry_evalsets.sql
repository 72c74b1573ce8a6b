-- Which issue a failure belongs to: one row a failure, written when it is found to belong there. What
-- an issue counts is derived from here, never added up. AssignedBy is match, birth, merge or split.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_issue_assignments (
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ClaimIndex Int32 CODEC(T64, ZSTD(1)),
    IssueId UInt64 CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Route LowCardinality(String) CODEC(ZSTD(1)),
    Fingerprint LowCardinality(String) CODEC(ZSTD(1)),
    Distance Float32 CODEC(ZSTD(1)),
    AssignedBy LowCardinality(String) CODEC(ZSTD(1)),
    Version UInt64 CODEC(ZSTD(1)),
    IsDeleted UInt8,
    INDEX idx_issue IssueId TYPE bloom_filter(0.001) GRANULARITY 1
) ENGINE = ReplacingMergeTree(Version, IsDeleted)
PARTITION BY toDate(Timestamp)
ORDER BY (ServiceName, Route, TraceId, SpanId, ClaimIndex)
TTL toDate(Timestamp) + toIntervalDay({ttl_days})
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;

-- What happened to an issue, and who did it: its audit trail, and where its state, owner, title,
-- aliases (kind merged, the other id as Value) and tickets are read from. Nothing is ever replaced.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_issue_events (
    IssueId UInt64,
    At DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    EventId String CODEC(ZSTD(1)),
    Actor String CODEC(ZSTD(1)),
    Kind LowCardinality(String),
    Value String CODEC(ZSTD(3)),
    Note String CODEC(ZSTD(3))
) ENGINE = ReplacingMergeTree
ORDER BY (IssueId, At, EventId)
SETTINGS non_replicated_deduplication_window = 1000;

-- The cases of eval sets as they are now. Body is the case as JSON.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_eval_cases (
    EvalSet String CODEC(ZSTD(1)),
    CaseId String CODEC(ZSTD(1)),
    State Enum8('pending' = 1, 'approved' = 2, 'rejected' = 3),
    IssueId UInt64,
    Body String CODEC(ZSTD(3)),
    Actor String CODEC(ZSTD(1)),
    Note String CODEC(ZSTD(3)),
    Version UInt64,
    IsDeleted UInt8
) ENGINE = ReplacingMergeTree(Version, IsDeleted)
ORDER BY (EvalSet, CaseId)
SETTINGS non_replicated_deduplication_window = 1000;

-- What a release of an eval set holds; a release is written once. Checksum is over all its cases.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_eval_releases (
    EvalSet String CODEC(ZSTD(1)),
    Release UInt32,
    CaseId String CODEC(ZSTD(1)),
    IssueId UInt64,
    Body String CODEC(ZSTD(3)),
    Checksum String CODEC(ZSTD(1)),
    Actor String CODEC(ZSTD(1)),
    ReleasedAt DateTime64(3, 'UTC')
) ENGINE = ReplacingMergeTree
ORDER BY (EvalSet, Release, CaseId)
SETTINGS non_replicated_deduplication_window = 1000;
