"""The RT4CHART verification core: pure, without OpenTelemetry, database, environment or clock."""
