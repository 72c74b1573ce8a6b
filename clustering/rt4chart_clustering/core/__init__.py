"""Settings and helpers of the clustering side."""
