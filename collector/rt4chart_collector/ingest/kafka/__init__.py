"""Kafka in: messages, offsets, and messages that cannot be read."""
