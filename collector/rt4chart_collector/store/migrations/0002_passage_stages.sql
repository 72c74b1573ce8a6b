-- Every passage that was seen on the way to the answer, those that were lost too: Stages are joined
-- by commas (retrieved, reranked, template, tool, prompt), IsContext is 1 for the final context.
-- Their texts are in the spans.
ALTER TABLE {database}.rt4chart_verifications
    ADD COLUMN IF NOT EXISTS SessionId String CODEC(ZSTD(1)) AFTER PromptVersion,
    ADD COLUMN IF NOT EXISTS Passages.Id Array(String) CODEC(ZSTD(1)) AFTER Error,
    ADD COLUMN IF NOT EXISTS Passages.Stages Array(LowCardinality(String)) CODEC(ZSTD(1)) AFTER Passages.Id,
    ADD COLUMN IF NOT EXISTS Passages.IsContext Array(UInt8) CODEC(ZSTD(1)) AFTER Passages.Stages;
