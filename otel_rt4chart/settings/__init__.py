"""The application side's settings, read once from the environment."""
