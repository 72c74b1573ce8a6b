"""`rt4chart demo`: real answers through the real components, with a report."""
