"""OTLP in: bytes to spans, and the endpoints that take them."""

from rt4chart_collector.core.environment import silence_grpc

# Here, because gRPC reads its settings when it is imported.
silence_grpc()
