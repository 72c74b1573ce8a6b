"""Commands on rates of claims."""
