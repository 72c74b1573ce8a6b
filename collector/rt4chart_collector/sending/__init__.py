"""Sending to services of others: one request, texts that nobody trusts, signatures."""
