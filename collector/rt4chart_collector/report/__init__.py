"""A report on a span of time, as one file that needs nothing else."""
