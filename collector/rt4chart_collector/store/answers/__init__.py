"""Spans, answers, verdicts and claims."""
