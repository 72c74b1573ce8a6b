"""OTLP in: bytes to spans, and the endpoints that take them."""
