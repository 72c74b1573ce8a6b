"""What a failure is described as: its fingerprint, its words, its vector, and an issue's title."""
