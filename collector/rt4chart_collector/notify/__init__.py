"""Who is notified of an alert, when, with which words, over which channel."""
