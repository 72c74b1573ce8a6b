-- What each process has leased of a budget of the judge in an hour or a day: of a holder's rows the highest version
-- counts. Read it with FINAL.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_budget_leases (
    Scope String CODEC(ZSTD(1)),
    Unit LowCardinality(String),
    Period LowCardinality(String),
    Starts DateTime('UTC') CODEC(Delta, ZSTD(1)),
    Holder String CODEC(ZSTD(1)),
    Budget Float64 CODEC(ZSTD(1)),
    Leased Float64 CODEC(ZSTD(1)),
    Version UInt64 CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(Version)
ORDER BY (Starts, Period, Unit, Scope, Holder)
TTL toDate(Starts) + toIntervalDay({ttl_days})
SETTINGS non_replicated_deduplication_window = 1000;
