-- Views of the console that people saved: a name for the address of a page with its filters, of the person
-- Owner, or of everybody if Owner is empty. Read it with FINAL.
CREATE TABLE IF NOT EXISTS {database}.rt4chart_saved_views (
    Owner String CODEC(ZSTD(1)),
    Name String CODEC(ZSTD(1)),
    Address String CODEC(ZSTD(1)),
    Actor String CODEC(ZSTD(1)),
    Version UInt64 CODEC(ZSTD(1)),
    IsDeleted UInt8
) ENGINE = ReplacingMergeTree(Version, IsDeleted)
ORDER BY (Owner, Name)
SETTINGS non_replicated_deduplication_window = 1000;
