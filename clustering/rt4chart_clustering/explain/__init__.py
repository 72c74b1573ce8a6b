"""Why the failures of an issue happened: where the evidence was lost, and a model's reading."""
