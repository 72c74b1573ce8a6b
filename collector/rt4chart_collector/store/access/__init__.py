"""ClickHouse's HTTP protocol over the embedded engine, for the processes that do not own it."""
