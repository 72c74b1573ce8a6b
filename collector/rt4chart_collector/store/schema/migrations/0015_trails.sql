-- In which step of the chain each failed claim of an answer entered: one row for each claim that was traced, with
-- the keys of rt4chart_claims. Read it with FINAL. StepSpanId, StepName and StepKind are empty where no single step
-- is known, Stage where the steps do not share one; Problem says why. Retrieval says where the passage got lost that
-- would have prevented the claim: never_retrieved, dropped_by_reranker, cut_from_prompt, ignored_by_generator, or
-- empty. Way is JSON: the steps that may be at fault, the interim verdicts from the answer towards the sources, and
-- what lost passages say. Calls are the questions to the judge for all claims of the answer.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_trails (
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Route LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    Model LowCardinality(String) CODEC(ZSTD(1)),
    VerifierId LowCardinality(String) CODEC(ZSTD(1)),
    ClaimIndex UInt16 CODEC(T64, ZSTD(1)),
    Label Enum8('entailed' = 1, 'contradicted' = 2, 'baseless' = 3, 'undecided' = 4, 'not_a_claim' = 5),
    SampleRate Float64 CODEC(ZSTD(1)),
    StepSpanId String CODEC(ZSTD(1)),
    StepName String CODEC(ZSTD(1)),
    StepKind LowCardinality(String) CODEC(ZSTD(1)),
    Stage String CODEC(ZSTD(1)),
    Retrieval LowCardinality(String) CODEC(ZSTD(1)),
    ReachesSources UInt8,
    Calls UInt32 CODEC(T64, ZSTD(1)),
    Problem String CODEC(ZSTD(1)),
    Way String CODEC(ZSTD(3)),
    Version UInt64 CODEC(ZSTD(1)),
    IsDeleted UInt8,
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1
) ENGINE = ReplacingMergeTree(Version, IsDeleted)
PARTITION BY toDate(Timestamp)
PRIMARY KEY (ServiceName, Route, toStartOfFiveMinutes(Timestamp))
ORDER BY (ServiceName, Route, toStartOfFiveMinutes(Timestamp), TraceId, SpanId, VerifierId, ClaimIndex)
TTL toDate(Timestamp) + toIntervalDay({ttl_days})
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;
