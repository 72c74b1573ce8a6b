"""The gate: new answers to an eval set's questions, verified and checked against limits."""
