"""The pages on settings and on the pipeline's health."""
