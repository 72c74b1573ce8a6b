"""OTLP in: bytes to spans, and the HTTP endpoint that takes them."""
