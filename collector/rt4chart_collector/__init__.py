"""The service: OTLP in, trace assembly, verification workers, and the ClickHouse store."""
