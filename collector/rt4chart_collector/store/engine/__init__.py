"""The connection to the engine: DSN, ownership, local API, rows by column name, leases."""
