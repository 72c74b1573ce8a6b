"""Two versions of an application: which they are, how they differ, and how to say it."""
