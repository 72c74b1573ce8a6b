"""Trusted labels on claims, the draws of claims to label, and the rates that they correct."""
