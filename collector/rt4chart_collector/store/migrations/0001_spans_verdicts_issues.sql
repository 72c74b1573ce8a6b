-- The spans as the OpenTelemetry Collector's ClickHouse exporter lays them out (columns, order and
-- encodings; opentelemetry-collector-contrib, exporter/clickhouseexporter/internal/sqltemplates),
-- so that either a collector or this service may write them.
CREATE TABLE IF NOT EXISTS {database}.otel_traces (
    Timestamp DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ParentSpanId String CODEC(ZSTD(1)),
    TraceState String CODEC(ZSTD(1)),
    SpanName LowCardinality(String) CODEC(ZSTD(1)),
    SpanKind LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion String CODEC(ZSTD(1)),
    SpanAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    Duration UInt64 CODEC(ZSTD(1)),
    StatusCode LowCardinality(String) CODEC(ZSTD(1)),
    StatusMessage String CODEC(ZSTD(1)),
    Events Nested (
        Timestamp DateTime64(9),
        Name LowCardinality(String),
        Attributes Map(LowCardinality(String), String)
    ) CODEC(ZSTD(1)),
    Links Nested (
        TraceId String,
        SpanId String,
        TraceState String,
        Attributes Map(LowCardinality(String), String)
    ) CODEC(ZSTD(1)),
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_res_attr_key mapKeys(ResourceAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_res_attr_value mapValues(ResourceAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_span_attr_key mapKeys(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_span_attr_value mapValues(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_duration Duration TYPE minmax GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY toDate(Timestamp)
ORDER BY (ServiceName, SpanName, toDateTime(Timestamp))
TTL toDate(Timestamp) + toIntervalDay({ttl_days})
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS {database}.otel_traces_trace_id_ts (
    TraceId String CODEC(ZSTD(1)),
    Start DateTime CODEC(Delta, ZSTD(1)),
    End DateTime CODEC(Delta, ZSTD(1)),
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY toDate(Start)
ORDER BY (TraceId, Start)
TTL toDate(Start) + toIntervalDay({ttl_days})
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.otel_traces_trace_id_ts_mv
TO {database}.otel_traces_trace_id_ts AS
SELECT TraceId, min(Timestamp) AS Start, max(Timestamp) AS End
FROM {database}.otel_traces WHERE TraceId != '' GROUP BY TraceId;

-- One row for each candidate answer, verifier and writing; read it with FINAL. The sort key is a
-- pure function of the answer, so a verdict that comes twice replaces itself. Timestamp is the
-- answer's start, Version the time of the decision in nanoseconds.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_verifications (
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Route LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    Model LowCardinality(String) CODEC(ZSTD(1)),
    PromptVersion LowCardinality(String) CODEC(ZSTD(1)),
    VerifierId LowCardinality(String) CODEC(ZSTD(1)),
    Decision LowCardinality(String) CODEC(ZSTD(1)),
    Label Enum8('entailed' = 1, 'contradicted' = 2, 'baseless' = 3, 'undecided' = 4, 'no_claims' = 5, 'none' = 6),
    SampleRate Float64 CODEC(ZSTD(1)),
    SampleWeight Float64 ALIAS if(SampleRate > 0, 1 / SampleRate, 0),
    ClaimCount UInt16 CODEC(T64, ZSTD(1)),
    EntailedCount UInt16 CODEC(T64, ZSTD(1)),
    ContradictedCount UInt16 CODEC(T64, ZSTD(1)),
    BaselessCount UInt16 CODEC(T64, ZSTD(1)),
    UndecidedCount UInt16 CODEC(T64, ZSTD(1)),
    VerifyDurationNs UInt64 CODEC(T64, ZSTD(1)),
    JudgeCalls UInt32 CODEC(T64, ZSTD(1)),
    InputTokens UInt32 CODEC(T64, ZSTD(1)),
    OutputTokens UInt32 CODEC(T64, ZSTD(1)),
    CacheHits UInt32 CODEC(T64, ZSTD(1)),
    Question String CODEC(ZSTD(3)),
    Answer String CODEC(ZSTD(3)),
    Findings String CODEC(ZSTD(3)),
    Error String CODEC(ZSTD(1)),
    InsertedAt DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta(8), ZSTD(1)),
    Version UInt64 CODEC(ZSTD(1)),
    IsDeleted UInt8,
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1
) ENGINE = ReplacingMergeTree(Version, IsDeleted)
PARTITION BY toDate(Timestamp)
PRIMARY KEY (ServiceName, Route, toStartOfFiveMinutes(Timestamp))
ORDER BY (ServiceName, Route, toStartOfFiveMinutes(Timestamp), TraceId, SpanId, VerifierId)
TTL toDate(Timestamp) + toIntervalDay({ttl_days})
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS {database}.rt4chart_claims (
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Route LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    Model LowCardinality(String) CODEC(ZSTD(1)),
    VerifierId LowCardinality(String) CODEC(ZSTD(1)),
    ClaimIndex UInt16 CODEC(T64, ZSTD(1)),
    Claim String CODEC(ZSTD(3)),
    Label Enum8('entailed' = 1, 'contradicted' = 2, 'baseless' = 3, 'undecided' = 4, 'not_a_claim' = 5),
    LocalLabel Enum8('entailed' = 1, 'contradicted' = 2, 'baseless' = 3, 'undecided' = 4, 'not_a_claim' = 5),
    Kind LowCardinality(String) CODEC(ZSTD(1)),
    Confidence Float32 CODEC(ZSTD(1)),
    DecidedBy LowCardinality(String) CODEC(ZSTD(1)),
    Reason LowCardinality(String) CODEC(ZSTD(1)),
    SentenceIndex UInt16 CODEC(T64, ZSTD(1)),
    AnswerStart UInt32 CODEC(T64, ZSTD(1)),
    AnswerEnd UInt32 CODEC(T64, ZSTD(1)),
    Nearest String CODEC(ZSTD(3)),
    Evidence Nested (
        DocId String,
        Start UInt32,
        End UInt32,
        Relation LowCardinality(String),
        Text String
    ) CODEC(ZSTD(3)),
    Clashes Nested (
        Slot LowCardinality(String),
        Claimed String,
        Found String
    ) CODEC(ZSTD(1)),
    Version UInt64 CODEC(ZSTD(1)),
    IsDeleted UInt8,
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_label Label TYPE set(8) GRANULARITY 1
) ENGINE = ReplacingMergeTree(Version, IsDeleted)
PARTITION BY toDate(Timestamp)
PRIMARY KEY (ServiceName, Route, toStartOfFiveMinutes(Timestamp))
ORDER BY (ServiceName, Route, toStartOfFiveMinutes(Timestamp), TraceId, SpanId, VerifierId, ClaimIndex)
TTL toDate(Timestamp) + toIntervalDay({ttl_days})
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;

-- Sums per minute for long windows. Signed, because a row that is replaced is written once more
-- with IsDeleted = 1 and taken off again: the view sees inserts only, never a replacement.
-- Columns with W are weighted by 1 / SampleRate.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_route_1m (
    ServiceName LowCardinality(String),
    Route LowCardinality(String),
    Environment LowCardinality(String),
    VerifierId LowCardinality(String),
    Minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    Answers SimpleAggregateFunction(sum, Int64),
    UnfaithfulAnswers SimpleAggregateFunction(sum, Int64),
    Claims SimpleAggregateFunction(sum, Int64),
    Entailed SimpleAggregateFunction(sum, Int64),
    Contradicted SimpleAggregateFunction(sum, Int64),
    Baseless SimpleAggregateFunction(sum, Int64),
    Undecided SimpleAggregateFunction(sum, Int64),
    WAnswers SimpleAggregateFunction(sum, Float64),
    WUnfaithfulAnswers SimpleAggregateFunction(sum, Float64),
    WClaims SimpleAggregateFunction(sum, Float64),
    WEntailed SimpleAggregateFunction(sum, Float64),
    WContradicted SimpleAggregateFunction(sum, Float64),
    WBaseless SimpleAggregateFunction(sum, Float64)
) ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(Minute)
ORDER BY (ServiceName, Route, Environment, VerifierId, Minute)
TTL Minute + toIntervalDay({rollup_ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.rt4chart_route_1m_mv
TO {database}.rt4chart_route_1m AS
WITH
    if(IsDeleted = 1, -1, 1) AS sign,
    sign / SampleRate AS weight,
    Label IN ('contradicted', 'baseless') AS unfaithful
SELECT ServiceName, Route, Environment, VerifierId, toStartOfMinute(Timestamp) AS Minute,
    sum(toInt64(sign)) AS Answers,
    sum(toInt64(sign * unfaithful)) AS UnfaithfulAnswers,
    sum(toInt64(sign * ClaimCount)) AS Claims,
    sum(toInt64(sign * EntailedCount)) AS Entailed,
    sum(toInt64(sign * ContradictedCount)) AS Contradicted,
    sum(toInt64(sign * BaselessCount)) AS Baseless,
    sum(toInt64(sign * UndecidedCount)) AS Undecided,
    sum(weight) AS WAnswers,
    sum(weight * unfaithful) AS WUnfaithfulAnswers,
    sum(weight * ClaimCount) AS WClaims,
    sum(weight * EntailedCount) AS WEntailed,
    sum(weight * ContradictedCount) AS WContradicted,
    sum(weight * BaselessCount) AS WBaseless
FROM {database}.rt4chart_verifications
WHERE Decision = 'verified' AND SampleRate > 0
GROUP BY ServiceName, Route, Environment, VerifierId, Minute;

CREATE TABLE IF NOT EXISTS {database}.rt4chart_failure_embeddings (
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ClaimIndex Int32,
    EmbeddingModel LowCardinality(String),
    Text String CODEC(ZSTD(3)),
    Embedding Array(Float32) COMMENT '{embedding_width} numbers' CODEC(ZSTD(1)),
    Version UInt64
) ENGINE = ReplacingMergeTree(Version)
PARTITION BY toYYYYMM(Timestamp)
ORDER BY (EmbeddingModel, TraceId, SpanId, ClaimIndex)
TTL toDate(Timestamp) + toIntervalDay({ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS {database}.rt4chart_issues (
    IssueId UInt64,
    Title String,
    Summary String CODEC(ZSTD(3)),
    FailureType LowCardinality(String),
    Fingerprint LowCardinality(String),
    Service LowCardinality(String),
    Route LowCardinality(String),
    Status Enum8('open' = 1, 'ack' = 2, 'resolved' = 3, 'ignored' = 4, 'regressed' = 5),
    FirstSeen DateTime64(3, 'UTC'),
    LastSeen DateTime64(3, 'UTC'),
    Occurrences UInt64,
    Routes Array(LowCardinality(String)),
    Centroid Array(Float32) CODEC(ZSTD(1)),
    ExampleTraceIds Array(String),
    RunId String,
    Version UInt64,
    IsDeleted UInt8
) ENGINE = ReplacingMergeTree(Version, IsDeleted)
ORDER BY IssueId
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS {database}.rt4chart_issue_members (
    IssueId UInt64,
    RunId String,
    TraceId String,
    SpanId String,
    ClaimIndex Int32,
    Distance Float32,
    Timestamp DateTime64(9, 'UTC'),
    Version UInt64
) ENGINE = ReplacingMergeTree(Version)
PARTITION BY toYYYYMM(Timestamp)
ORDER BY (IssueId, TraceId, SpanId, ClaimIndex)
SETTINGS non_replicated_deduplication_window = 1000;
