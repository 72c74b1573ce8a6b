"""The subcommands that need the verification core alone."""
