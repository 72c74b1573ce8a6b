"""Spans: the neutral record, the readers of conventions, and the exchanges found in a trace."""
