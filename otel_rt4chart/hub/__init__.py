"""Open models from a model hub: what is known of each, and how it gets onto this machine."""
