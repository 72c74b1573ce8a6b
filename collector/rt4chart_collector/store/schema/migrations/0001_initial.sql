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

-- One row for each candidate answer, verifier and writing. Read it with FINAL. The sorting key is a
-- pure function of the answer, so a verdict that is written twice replaces itself. Timestamp is the
-- start of the answer, Version the time of the decision in nanoseconds, Release the version of the
-- application (service.version of its resource). Passages are all that were seen on the way to the
-- answer: Stages are joined by commas (retrieved, reranked, template, tool, prompt), IsContext is 1
-- for the final context. Their texts are in the spans.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_verifications (
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Route LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    Model LowCardinality(String) CODEC(ZSTD(1)),
    PromptVersion LowCardinality(String) CODEC(ZSTD(1)),
    Release LowCardinality(String) CODEC(ZSTD(1)),
    SessionId String CODEC(ZSTD(1)),
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
    Passages Nested (
        Id String,
        Stages LowCardinality(String),
        IsContext UInt8
    ) CODEC(ZSTD(1)),
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

-- One row for each claim of a verification. Read it with FINAL. AnswerStart and AnswerEnd are
-- characters of the answer, the Start and End of evidence characters of the passage.
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

-- Sums per minute for long windows. They are signed: a row that is replaced is written once more with
-- IsDeleted = 1 and subtracted, because the view sees inserts only and never a replacement.
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

-- The description of a failure and its vector, so that it is described once and grouped where it is
-- stored. Version is the claim's plus one: a new verdict gets a new description.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_failure_embeddings (
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ClaimIndex Int32,
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Route LowCardinality(String) CODEC(ZSTD(1)),
    Fingerprint LowCardinality(String) CODEC(ZSTD(1)),
    EmbeddingModel LowCardinality(String),
    Text String CODEC(ZSTD(3)),
    Embedding Array(Float32) COMMENT '{embedding_width} numbers' CODEC(ZSTD(1)),
    Version UInt64
) ENGINE = ReplacingMergeTree(Version)
PARTITION BY toYYYYMM(Timestamp)
ORDER BY (EmbeddingModel, TraceId, SpanId, ClaimIndex)
TTL toDate(Timestamp) + toIntervalDay({ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;

-- One row for each issue. Read it with FINAL. Title, Status and the counts are a copy as of the run that
-- wrote the row; the events and the assignments say what they are now. EmbeddingModel is the space of
-- the centroid.
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
    EmbeddingModel LowCardinality(String),
    ExampleTraceIds Array(String),
    RunId String,
    Version UInt64,
    IsDeleted UInt8
) ENGINE = ReplacingMergeTree(Version, IsDeleted)
ORDER BY IssueId
SETTINGS non_replicated_deduplication_window = 1000;

-- Answers that the judge failed on: those that are tried again (State 'waiting', at NextAttempt) and
-- those that are not ('dead'). Reason is a kind of failure and never a text of a user. Read it with
-- FINAL; an answer that was verified later is written once more with IsDeleted = 1.
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

-- The issue that a failure belongs to: one row a failure. The counts of an issue are derived from these
-- rows and never added up. AssignedBy is match, birth, merge or split.
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

-- What happened to an issue, and who did it. Its state, owner, title, aliases (kind merged, the other id
-- as Value) and tickets are read from here. No row is ever replaced.
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

-- The cases of a release of an eval set. A release is written once. Checksum is over all its cases.
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

-- Which process does a job that one process at a time may do, and until when. Read it with FINAL.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_leases (
    Name LowCardinality(String),
    Holder String CODEC(ZSTD(1)),
    Until DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    Version UInt64 CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(Version)
ORDER BY (Name, Holder)
TTL toDate(Until) + toIntervalDay({ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;

-- Answers per five minutes, by their numbers of decided and of unfaithful claims. Rates, their intervals
-- and the evidence of drift follow from these rows exactly. Decided claims are the entailed, the
-- contradicted and the baseless ones. Answers that were not verified are counted with their decision.
-- The sums are signed, like those per minute.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_route_5m (
    ServiceName LowCardinality(String),
    Route LowCardinality(String),
    VerifierId LowCardinality(String),
    Tick DateTime('UTC') CODEC(Delta, ZSTD(1)),
    Environment LowCardinality(String),
    Model LowCardinality(String),
    PromptVersion LowCardinality(String),
    Release LowCardinality(String),
    Decision LowCardinality(String),
    SampleRate Float64 CODEC(ZSTD(1)),
    Decided UInt16,
    Unfaithful UInt16,
    Answers SimpleAggregateFunction(sum, Int64),
    Contradicted SimpleAggregateFunction(sum, Int64),
    Baseless SimpleAggregateFunction(sum, Int64),
    Undecided SimpleAggregateFunction(sum, Int64)
) ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(Tick)
ORDER BY (ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release, Decision, SampleRate, Decided, Unfaithful)
TTL Tick + toIntervalDay({rollup_ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.rt4chart_route_5m_mv
TO {database}.rt4chart_route_5m AS
WITH if(IsDeleted = 1, -1, 1) AS sign
SELECT ServiceName, Route, VerifierId, toStartOfFiveMinutes(Timestamp) AS Tick,
    Environment, Model, PromptVersion, Release, Decision, SampleRate,
    toUInt16(EntailedCount + ContradictedCount + BaselessCount) AS Decided,
    toUInt16(ContradictedCount + BaselessCount) AS Unfaithful,
    sum(toInt64(sign)) AS Answers,
    sum(toInt64(sign * ContradictedCount)) AS Contradicted,
    sum(toInt64(sign * BaselessCount)) AS Baseless,
    sum(toInt64(sign * UndecidedCount)) AS Undecided
FROM {database}.rt4chart_verifications
GROUP BY ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release, Decision, SampleRate, Decided, Unfaithful;

-- The state of the drift detector at each tick: natural logarithms of its evidence without the dead band
-- (Warn) and with it (Page), and their thresholds. Shares are of claims; Detectable is the smallest rise
-- that can be found within 90 minutes, 0 where it is not known. Read it with FINAL.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_drift (
    ServiceName LowCardinality(String),
    Route LowCardinality(String),
    VerifierId LowCardinality(String),
    Tick DateTime('UTC') CODEC(Delta, ZSTD(1)),
    State LowCardinality(String),
    Warn Float64 CODEC(ZSTD(1)),
    Page Float64 CODEC(ZSTD(1)),
    WarnAt Float64 CODEC(ZSTD(1)),
    PageAt Float64 CODEC(ZSTD(1)),
    Baseline Float64 CODEC(ZSTD(1)),
    DeadBand Float64 CODEC(ZSTD(1)),
    BaselineClaims UInt64 CODEC(ZSTD(1)),
    Detectable Float64 CODEC(ZSTD(1)),
    Version UInt64 CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(Version)
PARTITION BY toYYYYMM(Tick)
ORDER BY (ServiceName, Route, VerifierId, Tick)
TTL Tick + toIntervalDay({rollup_ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;

-- What happened to an alert: fired, updated, resolved, acknowledged, notified, failed. Its state is read
-- from here. No row is ever replaced. Body is JSON.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_alert_events (
    AlertId String CODEC(ZSTD(1)),
    At DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    EventId String CODEC(ZSTD(1)),
    Kind LowCardinality(String),
    Rule LowCardinality(String),
    Severity LowCardinality(String),
    ServiceName LowCardinality(String),
    Route LowCardinality(String),
    IssueId UInt64,
    Title String CODEC(ZSTD(3)),
    Body String CODEC(ZSTD(3)),
    Actor String CODEC(ZSTD(1)),
    Note String CODEC(ZSTD(3))
) ENGINE = ReplacingMergeTree
ORDER BY (AlertId, At, EventId)
TTL toDate(At) + toIntervalDay({rollup_ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;

-- Snoozes and maintenance windows: no notifications for the alerts that match. Matchers is JSON, from
-- the name of an alert's label to its value. Read it with FINAL.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_silences (
    SilenceId String CODEC(ZSTD(1)),
    Matchers String CODEC(ZSTD(1)),
    Starts DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    Ends DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    Actor String CODEC(ZSTD(1)),
    Note String CODEC(ZSTD(3)),
    Version UInt64 CODEC(ZSTD(1)),
    IsDeleted UInt8
) ENGINE = ReplacingMergeTree(Version, IsDeleted)
ORDER BY SilenceId
TTL toDate(Ends) + toIntervalDay({rollup_ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;

-- The sampling rates that the monitor asked for, until when, and why.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_sampling_rates (
    ServiceName LowCardinality(String),
    Route LowCardinality(String),
    At DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Rate Float64 CODEC(ZSTD(1)),
    Until DateTime64(3, 'UTC') CODEC(ZSTD(1)),
    Reason LowCardinality(String)
) ENGINE = ReplacingMergeTree
ORDER BY (ServiceName, Route, At)
TTL toDate(At) + toIntervalDay({ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;

-- People's opinions on a verdict: on a claim, or with ClaimIndex -1 on the whole answer. Label is the
-- label that they saw, Correct the one that they would give, empty where they gave none.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_feedback (
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Route LowCardinality(String) CODEC(ZSTD(1)),
    VerifierId LowCardinality(String) CODEC(ZSTD(1)),
    ClaimIndex Int32 CODEC(T64, ZSTD(1)),
    Label LowCardinality(String),
    Opinion Enum8('agree' = 1, 'disagree' = 2),
    Correct LowCardinality(String),
    Actor String CODEC(ZSTD(1)),
    Note String CODEC(ZSTD(3)),
    At DateTime64(9, 'UTC') CODEC(ZSTD(1)),
    Version UInt64 CODEC(ZSTD(1)),
    IsDeleted UInt8
) ENGINE = ReplacingMergeTree(Version, IsDeleted)
PARTITION BY toYYYYMM(Timestamp)
ORDER BY (ServiceName, Route, TraceId, SpanId, VerifierId, ClaimIndex, Actor)
TTL toDate(Timestamp) + toIntervalDay({rollup_ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;

-- The spans with their verdicts, in the columns of otel_traces. An answer's span carries its label, rate
-- and claims. A span that retrieves carries, for each document, whether a claim rests on it, which
-- claims it supports and contradicts, and the stages that it reached. Of an answer that several
-- verifiers judged, the last verdict counts. Claims are numbered within their answer.
CREATE VIEW IF NOT EXISTS {database}.otel_traces_verified AS
WITH
    verdicts AS (
        SELECT TraceId, SpanId,
            argMax(VerifierId, Version) AS VerifierId,
            argMax(toString(Label), Version) AS Label,
            argMax(EntailedCount, Version) AS Entailed,
            argMax(ContradictedCount + BaselessCount, Version) AS Unfaithful,
            argMax(Passages.Id, Version) AS Ids,
            argMax(Passages.Stages, Version) AS Stages
        FROM {database}.rt4chart_verifications FINAL
        WHERE IsDeleted = 0 AND Decision = 'verified'
        GROUP BY TraceId, SpanId
    ),
    claims AS (
        SELECT TraceId, SpanId, VerifierId,
            arraySort(claim -> claim.1, groupArray(CAST(
                (ClaimIndex, Claim, toString(Label), AnswerStart, AnswerEnd, Confidence, toString(Reason),
                    arrayMap(
                        (passage, start, stop, quote, relation) -> (passage, start, stop, quote, toString(relation)),
                        Evidence.DocId, Evidence.Start, Evidence.End, Evidence.Text, Evidence.Relation
                    )),
                'Tuple(id UInt16, text String, label String, start UInt32, end UInt32, confidence Float32, reason String, evidence Array(Tuple(passage String, start UInt32, end UInt32, text String, relation String)))'
            ))) AS Claims,
            groupArrayArray(arrayMap(
                (passage, relation) -> (passage, toString(relation), ClaimIndex), Evidence.DocId, Evidence.Relation
            )) AS Rests
        FROM {database}.rt4chart_claims FINAL
        WHERE IsDeleted = 0
        GROUP BY TraceId, SpanId, VerifierId
    ),
    answers AS (
        SELECT v.TraceId AS TraceId, v.SpanId AS SpanId, v.Label AS Label,
            v.Entailed + v.Unfaithful AS Decided, v.Unfaithful AS Unfaithful, c.Claims AS Claims,
            arrayMap(
                (document, stages) -> CAST(
                    (v.SpanId, document,
                        arrayExists(rest -> rest.1 = document AND rest.2 = 'supports', c.Rests),
                        arraySort(arrayDistinct(arrayMap(rest -> rest.3, arrayFilter(rest -> rest.1 = document AND rest.2 = 'supports', c.Rests)))),
                        arraySort(arrayDistinct(arrayMap(rest -> rest.3, arrayFilter(rest -> rest.1 = document AND rest.2 = 'contradicts', c.Rests)))),
                        splitByChar(',', toString(stages))),
                    'Tuple(answer String, id String, used Bool, supports Array(UInt16), contradicts Array(UInt16), stages Array(String))'
                ),
                v.Ids, v.Stages
            ) AS Documents
        FROM verdicts AS v
        LEFT JOIN claims AS c ON c.TraceId = v.TraceId AND c.SpanId = v.SpanId AND c.VerifierId = v.VerifierId
    ),
    traces AS (
        SELECT TraceId, groupArrayArray(Documents) AS Documents FROM answers GROUP BY TraceId
    ),
    hasAny(
        arrayMap(key -> lower(trim(BOTH '" ' FROM t.SpanAttributes[key])), [
            'openinference.span.kind', 'gen_ai.span.kind', 'fi.span.kind', 'langfuse.observation.type',
            'ai.operationId', 'ai.observability.span_type', 'langsmith.span.kind', 'mlflow.spanType',
            'gen_ai.operation.name', 'llm.request.type'
        ]),
        [
            'retriever', 'reranker', 'vector_db', 'retrieval', 'reranking', 'search_memory',
            'vector_db_retrieve', 'ai.rerank', 'ai.rerank.dorerank', 'rerank'
        ]
    ) OR arrayExists(
        key -> match(key, '^(retrieval[.]documents|reranker|gen_ai[.]retrieval|gen_ai[.]reranker|ai[.]observability[.](retrieval|reranking)|db[.]vector|db[.](query|search)[.]result)([.]|$)'),
        arrayConcat(mapKeys(t.SpanAttributes), t.Events.Name)
    ) AS Retrieves,
    -- A span carries the documents that it names by an id or, where they have none, by their text. A
    -- span whose documents cannot be identified carries all documents of its trace.
    arrayConcat(
        arrayZip(mapKeys(t.SpanAttributes), mapValues(t.SpanAttributes)),
        arrayFlatten(arrayMap(one -> arrayZip(mapKeys(one), mapValues(one)), t.Events.Attributes))
    ) AS Said,
    arrayMap(one -> one.2, arrayFilter(one -> match(one.1, '(?i)id'), Said)) AS Names,
    arrayMap(value -> concat('sha256:', substring(lower(hex(SHA256(value))), 1, 12)), arrayMap(one -> one.2, Said)) AS Digests,
    arrayFilter(
        document -> has(Names, replaceRegexpOne(document.2, '~[0-9]+$', '')) OR has(Digests, document.2)
            OR arrayExists(value -> position(value, concat('"', replaceRegexpOne(document.2, '~[0-9]+$', ''), '"')) > 0, arrayMap(one -> one.2, Said)),
        d.Documents
    ) AS Named,
    if(Retrieves, if(empty(Named), d.Documents, Named), []) AS Shown
SELECT
    t.Timestamp AS Timestamp, t.TraceId AS TraceId, t.SpanId AS SpanId,
    t.ParentSpanId AS ParentSpanId, t.TraceState AS TraceState, t.SpanName AS SpanName,
    t.SpanKind AS SpanKind, t.ServiceName AS ServiceName,
    t.ResourceAttributes AS ResourceAttributes, t.ScopeName AS ScopeName,
    t.ScopeVersion AS ScopeVersion,
    CAST(mapUpdate(
        CAST(t.SpanAttributes, 'Map(String, String)'),
        mapFilter((key, value) -> value != '', map(
            'rt4chart.label', a.Label,
            'rt4chart.hallucination_rate', if(a.Decided > 0, toString(a.Unfaithful / a.Decided), ''),
            'rt4chart.claims', if(a.Label != '', toJSONString(a.Claims), ''),
            'rt4chart.documents', if(notEmpty(Shown), toJSONString(Shown), '')
        ))
    ), 'Map(LowCardinality(String), String)') AS SpanAttributes,
    t.Duration AS Duration, t.StatusCode AS StatusCode, t.StatusMessage AS StatusMessage,
    t.Events.Timestamp AS `Events.Timestamp`, t.Events.Name AS `Events.Name`,
    t.Events.Attributes AS `Events.Attributes`, t.Links.TraceId AS `Links.TraceId`,
    t.Links.SpanId AS `Links.SpanId`, t.Links.TraceState AS `Links.TraceState`,
    t.Links.Attributes AS `Links.Attributes`
FROM {database}.otel_traces AS t
LEFT ANY JOIN answers AS a ON a.TraceId = t.TraceId AND a.SpanId = t.SpanId
LEFT ANY JOIN traces AS d ON d.TraceId = t.TraceId;

-- For queries of your own. One row per five minutes (Tick), route, verifier, environment, model, prompt
-- version and release: the labels of the verified answers' claims, and their rate with its 95 %
-- interval. Counts, W… and the moments add up over rows; Rate, Low and High do not. Rate is a share of
-- the Decided (n) claims. With m decided and x unfaithful
-- claims and the weight w = 1 / SampleRate of an answer, WM is the sum of w·m, WWXX that of w²·x²,
-- and so on: what the interval is made of (docs/understand/rates.md).
CREATE VIEW IF NOT EXISTS {database}.rt4chart_rates AS
WITH
    1.959963984540054 AS z,
    WX / nullIf(WM, 0) AS p,
    p * (1 - p) * WWM / pow(WM, 2) AS binomial,
    if(Answers < 2 OR binomial <= 0,
        1 + 0.2 * (greatest(Decided / greatest(Answers, 1), 1) - 1),
        greatest(1, Answers / (Answers - 1) * greatest(WWXX - 2 * p * WWXM + p * p * WWMM, 0) / pow(WM, 2) / binomial)
    ) AS effect,
    pow(WM, 2) / nullIf(WWM, 0) / effect AS size,
    z * z / size AS spread,
    z / (1 + spread) * sqrt(p * (1 - p) / size + spread / (4 * size)) AS half,
    (p + spread / 2) / (1 + spread) AS centre
SELECT ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release,
    Answers, UnfaithfulAnswers, Decided, Entailed, Contradicted, Baseless, Undecided,
    WEntailed, WContradicted, WBaseless, WUndecided, WM, WX, WWM, WWXX, WWXM, WWMM,
    p AS Rate, if(WM > 0, greatest(centre - half, 0), NULL) AS Low,
    if(WM > 0, least(centre + half, 1), NULL) AS High
FROM (
    SELECT ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release,
        sum(N) AS Answers, sumIf(N, x > 0) AS UnfaithfulAnswers,
        toInt64(sum(N * m)) AS Decided, toInt64(sum(N * (m - x))) AS Entailed,
        sum(C) AS Contradicted, sum(B) AS Baseless, sum(U) AS Undecided,
        sum(N * w * (m - x)) AS WEntailed, sum(w * C) AS WContradicted, sum(w * B) AS WBaseless,
        sum(w * U) AS WUndecided, sum(N * w * m) AS WM, sum(N * w * x) AS WX,
        sum(N * w * w * m) AS WWM, sum(N * w * w * x * x) AS WWXX, sum(N * w * w * x * m) AS WWXM,
        sum(N * w * w * m * m) AS WWMM
    FROM (
        SELECT ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release,
            if(SampleRate > 0, 1 / SampleRate, 0) AS w,
            toFloat64(rt4chart_route_5m.Decided) AS m, toFloat64(Unfaithful) AS x,
            sum(rt4chart_route_5m.Answers) AS N, sum(rt4chart_route_5m.Contradicted) AS C,
            sum(rt4chart_route_5m.Baseless) AS B, sum(rt4chart_route_5m.Undecided) AS U
        FROM {database}.rt4chart_route_5m
        WHERE Decision = 'verified'
        GROUP BY ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release,
            w, m, x
        HAVING N > 0
    )
    GROUP BY ServiceName, Route, VerifierId, Tick, Environment, Model, PromptVersion, Release
);

-- How much of the traffic has a verdict: all answers that were found, by their decision. SampledOut were
-- excluded by rates, limits or budgets, Unreadable came without text or passages or with a part of them,
-- Failed met a judge that failed or a full queue. All columns but the shares add up over rows.
CREATE VIEW IF NOT EXISTS {database}.rt4chart_coverage AS
SELECT ServiceName, Route, VerifierId, Tick, Answers, Verified, SampledOut, Unreadable, Failed,
    Decided, Undecided, Verified / Answers AS VerifiedShare,
    Undecided / nullIf(Decided + Undecided, 0) AS UndecidedShare
FROM (
    SELECT ServiceName, Route, VerifierId, Tick, sum(a.Answers) AS Answers,
        sumIf(a.Answers, Decision = 'verified') AS Verified,
        sumIf(a.Answers, Decision IN ('not_sampled', 'throttled', 'over_budget')) AS SampledOut,
        sumIf(a.Answers, Decision IN ('no_content', 'redacted', 'truncated', 'no_context')) AS Unreadable,
        sumIf(a.Answers, Decision IN ('queue_full', 'error')) AS Failed,
        toInt64(sum(a.Answers * a.Decided)) AS Decided, sum(a.Undecided) AS Undecided
    FROM {database}.rt4chart_route_5m AS a
    GROUP BY ServiceName, Route, VerifierId, Tick
    HAVING Answers > 0
);

-- The contradicted and baseless claims, each with its question, answer and evidence, and with its issue
-- by the id that rt4chart issues prints: the issue into which its own was merged, or empty where it has
-- none. AnswerStart and AnswerEnd are characters of the answer.
CREATE VIEW IF NOT EXISTS {database}.rt4chart_unfaithful_claims AS
WITH (
    SELECT CAST((groupArray(IssueId), groupArray(Other)), 'Map(UInt64, UInt64)')
    FROM (
        SELECT IssueId, argMax(Value, (At, EventId)) AS Last,
            reinterpretAsUInt64(reverse(unhex(leftPad(Last, 16, '0')))) AS Other
        FROM {database}.rt4chart_issue_events
        WHERE Kind = 'merged'
        GROUP BY IssueId
        HAVING Last != ''
    )
) AS merged
SELECT c.Timestamp AS Timestamp, c.ServiceName AS ServiceName, c.Route AS Route,
    c.VerifierId AS VerifierId, c.Environment AS Environment, c.Model AS Model,
    v.PromptVersion AS PromptVersion, v.Release AS Release,
    c.TraceId AS TraceId, c.SpanId AS SpanId, c.ClaimIndex AS ClaimIndex,
    v.Question AS Question, c.Claim AS Claim, toString(c.Label) AS Label, c.Reason AS Reason,
    c.Confidence AS Confidence, c.DecidedBy AS DecidedBy, c.Documents AS Documents,
    c.Evidence AS Evidence, c.Nearest AS Nearest, c.AnswerStart AS AnswerStart,
    c.AnswerEnd AS AnswerEnd, v.Answer AS Answer, v.SampleRate AS SampleRate,
    if(a.IssueId = 0, '', leftPad(lower(hex(a.IssueId)), 16, '0')) AS Issue, i.Title AS IssueTitle
FROM (
    SELECT Timestamp, ServiceName, Route, VerifierId, Environment, Model, TraceId, SpanId, ClaimIndex,
        Claim, Label, Reason, Confidence, DecidedBy, Evidence.DocId AS Documents,
        Evidence.Text AS Evidence, Nearest, AnswerStart, AnswerEnd
    FROM {database}.rt4chart_claims FINAL
    WHERE IsDeleted = 0 AND Label IN ('contradicted', 'baseless')
) AS c
INNER JOIN (
    SELECT Timestamp, ServiceName, Route, VerifierId, TraceId, SpanId, PromptVersion, Release,
        SampleRate, Question, Answer
    FROM {database}.rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified'
) AS v ON v.Timestamp = c.Timestamp AND v.ServiceName = c.ServiceName AND v.Route = c.Route
    AND v.VerifierId = c.VerifierId AND v.TraceId = c.TraceId AND v.SpanId = c.SpanId
LEFT JOIN (
    SELECT Timestamp, ServiceName, Route, TraceId, SpanId, toUInt16(ClaimIndex) AS ClaimIndex,
        arrayFold((issue, step) -> if(mapContains(merged, issue), merged[issue], issue), range(9), IssueId) AS IssueId
    FROM {database}.rt4chart_issue_assignments FINAL
    WHERE IsDeleted = 0 AND rt4chart_issue_assignments.ClaimIndex >= 0
) AS a ON a.Timestamp = c.Timestamp AND a.ServiceName = c.ServiceName AND a.Route = c.Route
    AND a.TraceId = c.TraceId AND a.SpanId = c.SpanId AND a.ClaimIndex = c.ClaimIndex
LEFT JOIN (
    SELECT IssueId, Title FROM {database}.rt4chart_issues FINAL WHERE IsDeleted = 0
) AS i ON i.IssueId = a.IssueId;
