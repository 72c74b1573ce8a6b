"""Models in this process: the embedded judge and encoder, and a classifier of the user's own."""
