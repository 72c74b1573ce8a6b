"""The decision on a trace, written on copies of its spans on their way to the exporter."""
