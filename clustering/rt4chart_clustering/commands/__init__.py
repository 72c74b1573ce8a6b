"""The subcommands over failures and issues."""
