"""Judges behind an endpoint that speaks the OpenAI protocol: pure tasks, one file that sends."""
