"""Which context sentences a claim may rest on, and the windows in which they are read."""
