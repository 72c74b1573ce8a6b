"""Training cases written for this project: texts with slots, and generators for values."""
