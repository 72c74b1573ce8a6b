"""The page where people label claims."""
