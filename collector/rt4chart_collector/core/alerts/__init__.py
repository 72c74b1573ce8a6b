"""Alerts: their facts, state, life cycle and silences; pure."""
