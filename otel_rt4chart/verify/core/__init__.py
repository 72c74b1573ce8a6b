"""The values of verification, the judge protocol, budgets, evidence and rates."""
