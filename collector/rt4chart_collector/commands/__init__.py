"""The subcommands of the service."""
