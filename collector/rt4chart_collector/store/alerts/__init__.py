"""Alert events, silences, drift states and sampling rates."""
