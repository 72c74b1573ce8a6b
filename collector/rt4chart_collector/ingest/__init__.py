"""Ways in: OTLP over HTTP and gRPC, Kafka, and the writer to the store."""
