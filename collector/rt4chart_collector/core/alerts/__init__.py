"""What an alert is, its state, its life cycle and its silences; pure."""
