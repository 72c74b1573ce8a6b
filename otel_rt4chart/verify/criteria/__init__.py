"""Custom criteria: further judgements of an answer, by rules or by a model at an endpoint."""
