"""Rates corrected for the judge's errors by labels that were drawn by chance."""
