"""The services that alerts are sent to, one a file."""
