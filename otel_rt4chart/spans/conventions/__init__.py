"""Span conventions, one table a file: which attribute of a span holds what.

To add a convention, add a file with one `Convention` (laminar.py is a short example), add it to
`CONVENTIONS` in registry.py, and run `python -m otel_rt4chart.spans.conventions` for the tables of
docs/reference/conventions.md. Readers, sampling, redaction and queries over stored spans use the
registry: nothing else needs a change.
"""
