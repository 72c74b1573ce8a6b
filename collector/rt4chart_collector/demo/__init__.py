"""`rt4chart demo`: real answers through the real components, and the report at the end."""
