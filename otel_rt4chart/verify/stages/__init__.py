"""The stages of one verification, and how their results become claims."""
