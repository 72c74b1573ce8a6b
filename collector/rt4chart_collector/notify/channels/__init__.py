"""The services that messages are sent to, one service a file."""
