"""Issues in the systems where people work: one ticket an issue and system, never closed by us."""
