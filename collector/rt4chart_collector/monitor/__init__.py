"""The loop that watches the routes: ticks, drift, alerts, sampling; one process at a time."""
