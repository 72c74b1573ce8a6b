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

-- What the monitor knows of a route, so that a start does not read weeks again: the state of its detectors as JSON.
-- Fit names the settings and the code that it is for: another one is not used. Read it with FINAL.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_monitor_states (
    VerifierId LowCardinality(String),
    ServiceName LowCardinality(String),
    Route LowCardinality(String),
    Fit LowCardinality(String),
    Updated DateTime('UTC') CODEC(Delta, ZSTD(1)),
    State String CODEC(ZSTD(1)),
    Version UInt64 CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(Version)
ORDER BY (VerifierId, ServiceName, Route)
TTL Updated + toIntervalWeek(5)
SETTINGS non_replicated_deduplication_window = 1000;

-- The sums of the past hours of each route that the monitor's baselines are made of, as JSON. Read it with FINAL.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_monitor_hours (
    VerifierId LowCardinality(String),
    ServiceName LowCardinality(String),
    Route LowCardinality(String),
    Measure LowCardinality(String),
    Hour DateTime('UTC') CODEC(Delta, ZSTD(1)),
    Sums String CODEC(ZSTD(1)),
    Version UInt64 CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(Version)
ORDER BY (VerifierId, ServiceName, Route, Measure, Hour)
TTL Hour + toIntervalWeek(5)
SETTINGS non_replicated_deduplication_window = 1000;
