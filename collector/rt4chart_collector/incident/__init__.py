"""An alert on a risen rate with all that the store knows of it: for its page and its command."""
