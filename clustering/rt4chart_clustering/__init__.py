"""The batch side: what a failure looks like, which failures belong together, and their issues."""
