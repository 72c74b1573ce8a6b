"""Commands on answers and rates of claims."""
