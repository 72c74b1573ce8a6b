"""The judges in this process without a model, and what every local judge compares."""
