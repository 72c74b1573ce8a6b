-- The corrected share of all claims that mislead, with Low and High (95%), beside that of wrong ones. It is
-- NULL until enough labels say whether a claim misleads, of which there are MisleadingLabels.
ALTER TABLE {database}.rt4chart_corrected_rates
    ADD COLUMN IF NOT EXISTS MisleadingRate Nullable(Float64) CODEC(ZSTD(1)) AFTER RecallHigh,
    ADD COLUMN IF NOT EXISTS MisleadingLow Nullable(Float64) CODEC(ZSTD(1)) AFTER MisleadingRate,
    ADD COLUMN IF NOT EXISTS MisleadingHigh Nullable(Float64) CODEC(ZSTD(1)) AFTER MisleadingLow,
    ADD COLUMN IF NOT EXISTS MisleadingLabels UInt32 CODEC(ZSTD(1)) AFTER MisleadingHigh;
